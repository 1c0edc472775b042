"""IAM: service-linked roles under AWS's names; policy versions listed without documents."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.iam.responses import IamResponse

from preflight_emulator.errors import ServiceError

# moto derives a name from the service; AWS does not follow that rule for these.
ROLE_NAMES = {
    "autoscaling.amazonaws.com": "AWSServiceRoleForAutoScaling",
    "ec2fleet.amazonaws.com": "AWSServiceRoleForEC2Fleet",
    "eks-fargate.amazonaws.com": "AWSServiceRoleForAmazonEKSForFargate",
    "eks-nodegroup.amazonaws.com": "AWSServiceRoleForAmazonEKSNodegroup",
    "eks.amazonaws.com": "AWSServiceRoleForAmazonEKS",
    "elasticloadbalancing.amazonaws.com": "AWSServiceRoleForElasticLoadBalancing",
    "spot.amazonaws.com": "AWSServiceRoleForEC2Spot",
    "spotfleet.amazonaws.com": "AWSServiceRoleForEC2SpotFleet",
}


class CompleteIamResponse(IamResponse):
    def create_service_linked_role(self) -> ActionResult:
        service = self._get_param("AWSServiceName")
        name = ROLE_NAMES.get(service)
        if name is None:
            return super().create_service_linked_role()
        suffix = self._get_param("CustomSuffix")
        if suffix:
            name = f"{name}_{suffix}"
        if any(role.name == name for role in self.backend.roles.values()):
            raise ServiceError(
                "InvalidInput",
                f"Service role name {name} has been taken in this account, "
                "please try a different suffix.",
            )
        role = self.backend.create_service_linked_role(
            service, self._get_param("Description"), suffix
        )
        role.name = name
        return ActionResult({"Role": role})

    def list_policy_versions(self) -> ActionResult:
        result = super().list_policy_versions().result
        assert isinstance(result, dict)
        versions = [
            {
                "VersionId": version.version_id,
                "IsDefaultVersion": version.is_default,
                "CreateDate": version.create_date,
            }
            for version in result["Versions"]
        ]
        return ActionResult({"Versions": versions, "IsTruncated": False})
