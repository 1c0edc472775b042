"""Account-level settings of EC2 in one region."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models import EC2Backend

Record = dict[str, Any]


@dataclass
class RegionSettings:
    metadata_defaults: Record = field(default_factory=dict)
    """Only what was set: a member without a preference is absent."""
    metadata_managed_by: str = "account"
    metadata_exception_message: str | None = None
    ebs_default_kms_key_id: str | None = None
    """None: the AWS-managed key."""
    allowed_images_state: str = "disabled"
    allowed_images_criteria: list[Record] = field(default_factory=list)
    internet_gateway_block_mode: str = "off"
    public_access_exclusions: dict[str, Record] = field(default_factory=dict)
    managed_resources_visibility: str = "visible"


def settings_of(backend: EC2Backend) -> RegionSettings:
    """Kept on moto's backend, so that they go when moto is reset."""
    return vars(backend).setdefault("preflight_settings", RegionSettings())
