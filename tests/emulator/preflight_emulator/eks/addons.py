"""EKS add-ons."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from moto.core.utils import utcnow
from moto.eks.exceptions import ResourceInUseException, ResourceNotFoundException
from moto.eks.models import Cluster, EKSBackend

from preflight_emulator.eks.pod_identity import create_association
from preflight_emulator.eks.state import Record, state_of

# Only plausible: real ones depend on the cluster's version.
DEFAULT_VERSIONS = {
    "aws-ebs-csi-driver": "v1.48.0-eksbuild.1",
    "coredns": "v1.12.4-eksbuild.1",
    "eks-pod-identity-agent": "v1.3.8-eksbuild.2",
    "kube-proxy": "v1.35.0-eksbuild.2",
    "vpc-cni": "v1.20.4-eksbuild.1",
}
NAMESPACE = "kube-system"


def create_addon(backend: EKSBackend, cluster: Cluster, request: dict[str, Any]) -> Record:
    name = request["addonName"]
    addons = state_of(cluster).addons
    if name in addons:
        raise ResourceInUseException(
            message="Addon already exists.", clusterName=cluster.name, addonName=name
        )
    owner = f"{backend.partition}:eks:{backend.region_name}:{backend.account_id}"
    arn = f"arn:{owner}:addon/{cluster.name}/{name}/{uuid4()}"
    now = utcnow()
    record: Record = {
        "addonName": name,
        "clusterName": cluster.name,
        "status": "ACTIVE",
        "addonVersion": request.get("addonVersion")
        or DEFAULT_VERSIONS.get(name, "v1.0.0-eksbuild.1"),
        "health": {"issues": []},
        "addonArn": arn,
        "createdAt": now,
        "modifiedAt": now,
        "tags": request.get("tags") or {},
        "namespaceConfig": {"namespace": NAMESPACE},
        "podIdentityAssociations": _associations(backend, cluster, request, arn),
    }
    for optional in ("serviceAccountRoleArn", "configurationValues"):
        if request.get(optional):
            record[optional] = request[optional]
    addons[name] = record
    return record


def find_addon(cluster: Cluster, name: str) -> Record:
    addon = state_of(cluster).addons.get(name)
    if addon is None:
        raise ResourceNotFoundException(
            message=f"No addon: {name} found in cluster: {cluster.name}",
            clusterName=cluster.name,
            addonName=name,
        )
    return addon


def update_addon(cluster: Cluster, name: str, request: dict[str, Any]) -> Record:
    addon = find_addon(cluster, name)
    if version := request.get("addonVersion"):
        addon["addonVersion"] = version
    addon["modifiedAt"] = utcnow()
    return addon


def delete_addon(cluster: Cluster, name: str) -> Record:
    addon = find_addon(cluster, name)
    del state_of(cluster).addons[name]
    return {**addon, "status": "DELETING"}


def _associations(
    backend: EKSBackend, cluster: Cluster, request: dict[str, Any], owner: str
) -> list[str]:
    wanted = request.get("podIdentityAssociations") or []
    return [
        create_association(backend, cluster, {"namespace": NAMESPACE, **item}, owner)[
            "associationArn"
        ]
        for item in wanted
    ]
