"""Managed node groups and Fargate profiles: what EKS does beyond storing them."""

from __future__ import annotations

from typing import Any

from moto.eks.models import Cluster, EKSBackend

from preflight_emulator.eks.access_entries import put_entry
from preflight_emulator.eks.state import Record

DEFAULT_AMI_TYPE = "AL2023_x86_64_STANDARD"
RELEASE_DATE = "20261101"


def complete_nodegroup(
    backend: EKSBackend, cluster: Cluster, nodegroup: Any, request: Record
) -> None:
    """Replace moto's old defaults; let the role's nodes into the cluster."""
    nodegroup.version = request.get("version") or cluster.version
    nodegroup.release_version = (
        request.get("releaseVersion") or f"{nodegroup.version}.0-{RELEASE_DATE}"
    )
    nodegroup.ami_type = request.get("amiType") or DEFAULT_AMI_TYPE
    nodegroup.update_config = request.get("updateConfig") or {"maxUnavailable": 1}
    nodegroup.node_repair_config = request.get("nodeRepairConfig")
    nodegroup.health = {"issues": []}
    if not request.get("remoteAccess"):
        nodegroup.remote_access = None
        del nodegroup.resources["remoteAccessSecurityGroup"]
    windows = nodegroup.ami_type.startswith("WINDOWS")
    admit(backend, cluster, nodegroup.node_role, "EC2_WINDOWS" if windows else "EC2_LINUX")


def admit(backend: EKSBackend, cluster: Any, role: str, kind: str) -> None:
    """EKS makes an access entry where entries are enabled; else it edits aws-auth."""
    if cluster.access_config["authenticationMode"] != "CONFIG_MAP":
        put_entry(backend, cluster, role, kind)
