"""IAM: service-linked roles under AWS's names; policy versions listed without documents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import moto.iam.models
from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import utcnow
from moto.iam.exceptions import NotFoundException
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


SIMULATED: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
"""What the simulator is to say of an account's role: by action, members of EvaluationResult."""


def _simulated(action: str, resource: str, said: dict[str, Any]) -> dict[str, Any]:
    return {
        "EvalActionName": action,
        "EvalResourceName": resource,
        "EvalDecision": "allowed",
        "MatchedStatements": [],
        "MissingContextValues": [],
        **said,
    }


def install() -> None:
    moto.iam.models.utcnow = _whole_seconds  # type: ignore[attr-defined]


def _whole_seconds() -> datetime:
    """IAM's times have no fractions; EKS's have, which matters when the two are compared."""
    return utcnow().replace(microsecond=0)


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

    def simulate_principal_policy(self) -> ActionResult:
        """Everything is allowed but what ``/moto-api/preflight/simulation`` says."""
        source = self._get_param("PolicySourceArn") or ""
        name = source.rsplit("/", 1)[-1]
        if name not in {role.name for role in self.backend.roles.values()}:
            raise NotFoundException(f"The role with name {name} cannot be found.")
        said = SIMULATED.get((self.current_account, name), {})
        resources = self._get_param("ResourceArns", ["*"])
        results = [
            _simulated(action, resource, said.get(action, {}))
            for action in self._get_param("ActionNames", [])
            for resource in resources
        ]
        return ActionResult({"EvaluationResults": results, "IsTruncated": False})

    def add_client_id_to_open_id_connect_provider(self) -> ActionResult:
        """One that is there already is no error."""
        arn = self._get_param("OpenIDConnectProviderArn")
        clients = self.backend.get_open_id_connect_provider(arn).client_id_list
        client = self._get_param("ClientID")
        if client not in clients:
            clients.append(client)
        return EmptyResult()

    def list_instance_profiles(self) -> ActionResult:
        """moto gives those of every path."""
        prefix = self._get_param("PathPrefix") or "/"
        profiles = self.backend.get_instance_profiles()
        of_path = [profile for profile in profiles if profile.path.startswith(prefix)]
        return ActionResult({"InstanceProfiles": of_path})

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
