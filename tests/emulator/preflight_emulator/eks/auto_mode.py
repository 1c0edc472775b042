"""EKS Auto Mode: three switches that only move together, and what EKS does by itself."""

from __future__ import annotations

from typing import Any

from moto.eks.exceptions import InvalidParameterException
from moto.eks.models import EKSBackend

from preflight_emulator.eks.access_entries import associate_policy, put_entry
from preflight_emulator.eks.state import Record

NODE_POLICY = "AmazonEKSAutoNodePolicy"


def switches(request: Record) -> list[bool | None]:
    """Compute, storage and load balancing; None where the request says nothing."""
    compute = request.get("computeConfig") or {}
    storage = (request.get("storageConfig") or {}).get("blockStorage") or {}
    network = request.get("kubernetesNetworkConfig") or {}
    balancing = network.get("elasticLoadBalancing") or {}
    return [part.get("enabled") for part in (compute, storage, balancing)]


def check(request: Record, authentication_mode: str) -> None:
    wanted = switches(request)
    if not any(wanted):
        return
    if not all(wanted):
        raise InvalidParameterException(
            message="computeConfig, storageConfig.blockStorage and "
            "kubernetesNetworkConfig.elasticLoadBalancing must be enabled or disabled together."
        )
    if authentication_mode == "CONFIG_MAP":
        raise InvalidParameterException(
            message="Auto Mode needs an authentication mode of API or API_AND_CONFIG_MAP."
        )
    compute = request["computeConfig"]
    if bool(compute.get("nodePools")) != bool(compute.get("nodeRoleArn")):
        raise InvalidParameterException(
            message="computeConfig.nodePools and computeConfig.nodeRoleArn need each other."
        )


def apply(backend: EKSBackend, cluster: Any, request: Record) -> None:
    """Set the switches that the request names; create the access entries that EKS creates."""
    compute, storage, balancing = switches(request)
    if compute is not None:
        _set_compute(cluster, request["computeConfig"])
    if storage is not None:
        cluster.storage_config = {"blockStorage": {"enabled": storage}}
    if balancing is not None:
        cluster.kubernetes_network_config["elasticLoadBalancing"] = {"enabled": balancing}
    if not compute:
        return
    service_role = "role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS"
    principal = f"arn:{backend.partition}:iam::{backend.account_id}:{service_role}"
    put_entry(backend, cluster, principal, "STANDARD", groups=["eks:managed"])
    node_role = cluster.compute_config.get("nodeRoleArn")
    if node_role:
        entry = put_entry(backend, cluster, node_role, "EC2")
        policy = f"arn:{backend.partition}:eks::aws:cluster-access-policy/{NODE_POLICY}"
        associate_policy(entry, policy, {"type": "cluster"})


def _set_compute(cluster: Any, request: Record) -> None:
    current: Record = getattr(cluster, "compute_config", None) or {}
    role = current.get("nodeRoleArn")
    wanted_role = request.get("nodeRoleArn")
    if role and wanted_role and role != wanted_role:
        raise InvalidParameterException(message="computeConfig.nodeRoleArn cannot be changed.")
    config: Record = {
        "enabled": request["enabled"],
        "nodePools": request.get("nodePools") or current.get("nodePools") or [],
    }
    if wanted_role or role:
        config["nodeRoleArn"] = wanted_role or role
    cluster.compute_config = config
