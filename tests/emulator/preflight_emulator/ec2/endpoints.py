"""VPC endpoints: private DNS can be switched afterwards."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.responses.vpcs import VPCs


class SwitchableEndpoints(VPCs):
    def modify_vpc_endpoint(self) -> ActionResult:
        answer = super().modify_vpc_endpoint()
        private_dns = self._get_bool_param("PrivateDnsEnabled")
        if private_dns is not None:
            endpoint = self.ec2_backend.vpc_end_points[self._get_param("VpcEndpointId")]
            endpoint.private_dns_enabled = private_dns
        return answer
