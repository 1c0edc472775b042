"""Allowed images, VPC block public access and the visibility of managed resources."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.responses._base_response import EC2BaseResponse

from preflight_emulator.ec2.settings import Record, settings_of


class AccountSwitches(EC2BaseResponse):
    def get_allowed_images_settings(self) -> ActionResult:
        self.error_on_dryrun()
        settings = settings_of(self.ec2_backend)
        return ActionResult(
            {
                "State": settings.allowed_images_state,
                "ImageCriteria": settings.allowed_images_criteria,
                "ManagedBy": "account",
            }
        )

    def enable_allowed_images_settings(self) -> ActionResult:
        self.error_on_dryrun()
        return self._set_allowed_images(self._get_param("AllowedImagesSettingsState"))

    def disable_allowed_images_settings(self) -> ActionResult:
        self.error_on_dryrun()
        return self._set_allowed_images("disabled")

    def replace_image_criteria_in_allowed_images_settings(self) -> ActionResult:
        self.error_on_dryrun()
        criteria = self._get_param("ImageCriteria", [])
        settings_of(self.ec2_backend).allowed_images_criteria = criteria
        return ActionResult({"ReturnValue": True})

    def describe_vpc_block_public_access_options(self) -> ActionResult:
        self.error_on_dryrun()
        return ActionResult({"VpcBlockPublicAccessOptions": self._block_options()})

    def modify_vpc_block_public_access_options(self) -> ActionResult:
        self.error_on_dryrun()
        mode = self._get_param("InternetGatewayBlockMode")
        settings_of(self.ec2_backend).internet_gateway_block_mode = mode
        return ActionResult({"VpcBlockPublicAccessOptions": self._block_options()})

    def describe_vpc_block_public_access_exclusions(self) -> ActionResult:
        self.error_on_dryrun()
        return ActionResult({"VpcBlockPublicAccessExclusions": []})

    def get_managed_resource_visibility(self) -> ActionResult:
        self.error_on_dryrun()
        visibility = settings_of(self.ec2_backend).managed_resources_visibility
        return ActionResult({"Visibility": {"DefaultVisibility": visibility}})

    def _set_allowed_images(self, state: str) -> ActionResult:
        settings_of(self.ec2_backend).allowed_images_state = state
        return ActionResult({"AllowedImagesSettingsState": state})

    def _block_options(self) -> Record:
        mode = settings_of(self.ec2_backend).internet_gateway_block_mode
        return {
            "AwsAccountId": self.current_account,
            "AwsRegion": self.region,
            "State": "default-state" if mode == "off" else "update-complete",
            "InternetGatewayBlockMode": mode,
            "LastUpdateTimestamp": utcnow(),
            "ManagedBy": "account",
            "ExclusionsAllowed": "allowed",
        }
