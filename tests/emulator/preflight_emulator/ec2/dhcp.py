"""DHCP options: a VPC that nobody changed has the region's own set, not one called "default"."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend
from moto.ec2.responses.dhcp_options import DHCPOptions
from moto.ec2.responses.vpcs import VPCs


class DefaultDhcpOptions(DHCPOptions, VPCs):
    def describe_dhcp_options(self) -> ActionResult:
        give_default_options(self.ec2_backend)
        return super().describe_dhcp_options()

    def describe_vpcs(self) -> ActionResult:
        give_default_options(self.ec2_backend)
        return super().describe_vpcs()


def give_default_options(backend: EC2Backend) -> None:
    known = vars(backend)
    if "preflight_dhcp_options" not in known:
        region = backend.region_name
        domain = "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"
        known["preflight_dhcp_options"] = backend.create_dhcp_options(
            domain_name_servers=["AmazonProvidedDNS"], domain_name=[domain]
        )
    options = known["preflight_dhcp_options"]
    # moto deletes a VPC's set with the VPC; this one is shared.
    backend.dhcp_options_sets[options.id] = options
    for vpc in backend.vpcs.values():
        if vpc.dhcp_options is None:
            vpc.dhcp_options = options
