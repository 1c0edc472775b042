"""VPC endpoints: private DNS can be switched afterwards, and the policy be taken back."""

from __future__ import annotations

import json

from moto.core.responses import ActionResult
from moto.ec2.models.vpcs import VPCEndPoint
from moto.ec2.responses.vpcs import VPCs


class SwitchableEndpoints(VPCs):
    def modify_vpc_endpoint(self) -> ActionResult:
        answer = super().modify_vpc_endpoint()
        endpoint = self.ec2_backend.vpc_end_points[self._get_param("VpcEndpointId")]
        private_dns = self._get_bool_param("PrivateDnsEnabled")
        if private_dns is not None:
            endpoint.private_dns_enabled = private_dns
        if self._get_bool_param("ResetPolicy"):
            endpoint.policy_document = json.dumps(VPCEndPoint.DEFAULT_POLICY)
        return answer
