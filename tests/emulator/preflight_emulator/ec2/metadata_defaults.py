"""Instance metadata defaults of the account."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.responses._base_response import EC2BaseResponse

from preflight_emulator.ec2.settings import settings_of
from preflight_emulator.errors import ServiceError

MEMBERS = ("HttpTokens", "HttpEndpoint", "InstanceMetadataTags", "HttpTokensEnforced")
NO_PREFERENCE = "no-preference"
NO_HOP_LIMIT = -1
HOP_LIMITS = range(1, 65)


class MetadataDefaults(EC2BaseResponse):
    def get_instance_metadata_defaults(self) -> ActionResult:
        self.error_on_dryrun()
        settings = settings_of(self.ec2_backend)
        account_level = {
            **settings.metadata_defaults,
            "ManagedBy": settings.metadata_managed_by,
        }
        if settings.metadata_exception_message is not None:
            account_level["ManagedExceptionMessage"] = settings.metadata_exception_message
        return ActionResult({"AccountLevel": account_level})

    def modify_instance_metadata_defaults(self) -> ActionResult:
        self.error_on_dryrun()
        settings = settings_of(self.ec2_backend)
        if settings.metadata_managed_by != "account":
            raise ServiceError(
                "DeclarativePolicyViolation",
                "The instance metadata defaults are managed by a declarative policy. "
                + (settings.metadata_exception_message or ""),
            )
        for member in MEMBERS:
            self._set(member, self._get_param(member), NO_PREFERENCE)
        limit = self._get_int_param("HttpPutResponseHopLimit")
        if limit is not None and limit != NO_HOP_LIMIT and limit not in HOP_LIMITS:
            raise ServiceError(
                "InvalidParameterValue",
                f"The value ({limit}) of HttpPutResponseHopLimit is not between 1 and 64.",
            )
        self._set("HttpPutResponseHopLimit", limit, NO_HOP_LIMIT)
        return ActionResult({"Return": True})

    def _set(self, member: str, value: str | int | None, unset: str | int) -> None:
        defaults = settings_of(self.ec2_backend).metadata_defaults
        if value == unset:
            defaults.pop(member, None)
        elif value is not None:
            defaults[member] = value
