"""``UpdateClusterConfig`` and ``UpdateClusterVersion``, and the record that each leaves."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from moto.core.utils import utcnow
from moto.eks.exceptions import InvalidParameterException, ResourceNotFoundException
from moto.eks.models import Cluster, EKSBackend

from preflight_emulator.eks import auto_mode, network
from preflight_emulator.eks.clusters import change_authentication_mode
from preflight_emulator.eks.state import Record, state_of

TYPES = {
    "accessConfig": "AccessConfigUpdate",
    "computeConfig": "AutoModeUpdate",
    "resourcesVpcConfig": "VpcConfigUpdate",
    "logging": "LoggingUpdate",
    "zonalShiftConfig": "ZonalShiftConfigUpdate",
    "upgradePolicy": "UpgradePolicyUpdate",
    "deletionProtection": "DeletionProtectionUpdate",
}
"""Update types by the request member that asks for them."""


def update_config(backend: EKSBackend, cluster: Any, request: Record) -> Record:
    asked = [name for name in TYPES if request.get(name) is not None]
    if not asked:
        raise InvalidParameterException(message="The type for cluster update was not provided.")
    for name in asked:
        _apply(backend, cluster, name, request)
    values = {name: request[name] for name in asked}
    return record_update(cluster, TYPES[asked[0]], values)


def update_version(cluster: Any, version: str) -> Record:
    cluster.version = version
    return record_update(cluster, "VersionUpdate", {"Version": version})


def record_update(cluster: Cluster, kind: str, values: Record) -> Record:
    update: Record = {
        "id": str(uuid4()),
        "status": "Successful",
        "type": kind,
        "params": [
            {"type": name[0].upper() + name[1:], "value": json.dumps(value)}
            for name, value in values.items()
        ],
        "createdAt": utcnow(),
        "errors": [],
    }
    state_of(cluster).updates[update["id"]] = update
    return update


def find_update(cluster: Cluster, identifier: str) -> Record:
    update = state_of(cluster).updates.get(identifier)
    if update is None:
        raise ResourceNotFoundException(
            message=f"No update found for ID: {identifier}", clusterName=cluster.name
        )
    return update


def _apply(backend: EKSBackend, cluster: Any, name: str, request: Record) -> None:
    if name == "accessConfig":
        change_authentication_mode(cluster, request[name]["authenticationMode"])
    elif name == "computeConfig":
        auto_mode.check(request, cluster.access_config["authenticationMode"])
        auto_mode.apply(backend, cluster, request)
    elif name == "resourcesVpcConfig":
        network.update_vpc_config(backend, cluster.resources_vpc_config, request[name])
    elif name == "logging":
        cluster.logging = request[name]
    elif name == "zonalShiftConfig":
        cluster.zonal_shift_config = request[name]
    elif name == "upgradePolicy":
        cluster.upgrade_policy = request[name]
    else:
        cluster.deletion_protection = request[name]
