"""Make moto's Cluster a whole one."""

from __future__ import annotations

import secrets
from typing import Any

from moto.eks.exceptions import InvalidParameterException
from moto.eks.models import Cluster, EKSBackend
from moto.utilities.utils import get_partition
from preflight_emulator.eks import auto_mode, network
from preflight_emulator.eks.access_entries import AccessEntry, associate_policy, put_entry
from preflight_emulator.eks.certificate import certificate_authority
from preflight_emulator.eks.state import Record

DEFAULT_VERSION = "1.35"
PLATFORM_VERSION = "eks.8"
ADMIN_POLICY = "AmazonEKSClusterAdminPolicy"
WHOLE_CLUSTER: Record = {"type": "cluster"}
AUTHENTICATION_MODES = ["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"]
"""In the only order in which a cluster can go through them."""


def complete_cluster(
    backend: EKSBackend, cluster: Any, request: Record, creator: str
) -> None:
    """Fill in what ``DescribeCluster`` tells of a real cluster. ``cluster`` gains attributes."""
    access = request.get("accessConfig") or {}
    mode = access.get("authenticationMode") or "CONFIG_MAP"
    bootstrap = access.get("bootstrapClusterCreatorAdminPermissions", True)
    if mode == "CONFIG_MAP" and not bootstrap:
        raise InvalidParameterException(
            message="bootstrapClusterCreatorAdminPermissions must be true "
            "if cluster authentication mode is set to CONFIG_MAP"
        )
    auto_mode.check(request, mode)
    vpc = network.vpc_config(backend, cluster, request["resourcesVpcConfig"])

    identifier = secrets.token_hex(16).upper()
    suffix = _dns_suffix(backend.region_name)
    region = backend.region_name
    cluster.version = request.get("version") or DEFAULT_VERSION
    cluster.platformVersion = PLATFORM_VERSION
    cluster.identity = {"oidc": {"issuer": f"https://oidc.eks.{region}.{suffix}/id/{identifier}"}}
    cluster.endpoint = f"https://{identifier}.gr7.{region}.eks.{suffix}"
    cluster.certificate_authority = {"data": certificate_authority()}
    cluster.access_config = {"authenticationMode": mode}
    cluster.resources_vpc_config = vpc
    cluster.kubernetes_network_config = network.kubernetes_network_config(
        backend, vpc["vpcId"], request.get("kubernetesNetworkConfig") or {}
    )
    cluster.upgrade_policy = request.get("upgradePolicy") or {"supportType": "EXTENDED"}
    cluster.zonal_shift_config = request.get("zonalShiftConfig") or {"enabled": False}
    cluster.health = {"issues": []}
    cluster.deletion_protection = bool(request.get("deletionProtection"))

    if mode != "CONFIG_MAP" and bootstrap:
        entry = put_entry(backend, cluster, creator, "STANDARD")
        grant(backend, entry, ADMIN_POLICY)
    auto_mode.apply(backend, cluster, request)


def grant(backend: EKSBackend, entry: AccessEntry, policy: str) -> None:
    arn = f"arn:{backend.partition}:eks::aws:cluster-access-policy/{policy}"
    associate_policy(entry, arn, WHOLE_CLUSTER)


def change_authentication_mode(cluster: Any, wanted: str) -> None:
    """One way only, and no step can be left out."""
    current = cluster.access_config["authenticationMode"]
    step = AUTHENTICATION_MODES.index(wanted) - AUTHENTICATION_MODES.index(current)
    if step != 1:
        raise InvalidParameterException(
            message=f"Unsupported authentication mode update from {current} to {wanted}",
            clusterName=cluster.name,
        )
    cluster.access_config["authenticationMode"] = wanted


def _dns_suffix(region: str) -> str:
    return "amazonaws.com.cn" if get_partition(region) == "aws-cn" else "amazonaws.com"
