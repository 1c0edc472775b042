"""Allowed images, VPC block public access and the visibility of managed resources."""

from __future__ import annotations

import secrets

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.models.subnets import Subnet
from moto.ec2.responses._base_response import EC2BaseResponse

from preflight_emulator.ec2.settings import Record, settings_of


def install() -> None:
    Subnet.block_public_access_states = property(  # type: ignore[attr-defined]
        _block_public_access_states
    )


def _block_public_access_states(subnet: Subnet) -> Record:
    """What ``DescribeSubnets`` says of the region's mode."""
    mode = settings_of(subnet.ec2_backend).internet_gateway_block_mode
    return {"InternetGatewayBlockMode": mode}


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
        exclusions = settings_of(self.ec2_backend).public_access_exclusions
        return ActionResult({"VpcBlockPublicAccessExclusions": list(exclusions.values())})

    def create_vpc_block_public_access_exclusion(self) -> ActionResult:
        """Complete at once, which takes AWS some minutes."""
        self.error_on_dryrun()
        kind, resource = "subnet", self._get_param("SubnetId")
        if resource is None:
            kind, resource = "vpc", self._get_param("VpcId")
        now = utcnow()
        exclusion = {
            "ExclusionId": f"vpcbpa-exclude-{secrets.token_hex(8)}",
            "InternetGatewayExclusionMode": self._get_param("InternetGatewayExclusionMode"),
            "ResourceArn": (
                f"arn:{self.partition}:ec2:{self.region}:{self.current_account}:{kind}/{resource}"
            ),
            "State": "create-complete",
            "CreationTimestamp": now,
            "LastUpdateTimestamp": now,
        }
        exclusions = settings_of(self.ec2_backend).public_access_exclusions
        exclusions[exclusion["ExclusionId"]] = exclusion
        return ActionResult({"VpcBlockPublicAccessExclusion": exclusion})

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
