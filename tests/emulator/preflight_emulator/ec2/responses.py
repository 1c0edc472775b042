"""EC2 over HTTP: moto's class with ours before it."""

from __future__ import annotations

from moto.ec2.responses import EC2Response

from preflight_emulator.ec2.account_switches import AccountSwitches
from preflight_emulator.ec2.dhcp import DefaultDhcpOptions
from preflight_emulator.ec2.ebs_key import EbsDefaultKey
from preflight_emulator.ec2.endpoints import SwitchableEndpoints
from preflight_emulator.ec2.metadata_defaults import MetadataDefaults
from preflight_emulator.ec2.node_images import NodeImages
from preflight_emulator.ec2.reservations import Reservations


class CompleteEc2Response(
    MetadataDefaults,
    EbsDefaultKey,
    AccountSwitches,
    Reservations,
    DefaultDhcpOptions,
    NodeImages,
    SwitchableEndpoints,
    EC2Response,
):
    """Adds the operations of its parts to moto's."""
