"""Pod identity associations."""

from __future__ import annotations

import secrets
import string
from typing import Any

from moto.core.utils import utcnow
from moto.eks.exceptions import (
    InvalidParameterException,
    ResourceInUseException,
    ResourceNotFoundException,
)
from moto.eks.models import Cluster, EKSBackend

from preflight_emulator.eks.state import Record, state_of
from preflight_emulator.identity import principal_exists

ID_ALPHABET = string.ascii_lowercase + string.digits
CHANGEABLE = ("roleArn", "targetRoleArn", "disableSessionTags", "policy")


def create_association(
    backend: EKSBackend, cluster: Cluster, request: dict[str, Any], owner: str | None = None
) -> Record:
    """``owner`` is the ARN of the add-on that the association belongs to."""
    _check_role(backend, request["roleArn"])
    for other in state_of(cluster).pod_identity_associations.values():
        if _same_service_account(other, request):
            raise ResourceInUseException(
                message=f"Association already exists: {other['associationId']}",
                clusterName=cluster.name,
            )
    identifier = "a-" + "".join(secrets.choice(ID_ALPHABET) for _ in range(17))
    now = utcnow()
    record: Record = {
        "clusterName": cluster.name,
        "namespace": request["namespace"],
        "serviceAccount": request["serviceAccount"],
        "roleArn": request["roleArn"],
        "associationArn": _association_arn(backend, cluster, identifier),
        "associationId": identifier,
        "tags": request.get("tags") or {},
        "createdAt": now,
        "modifiedAt": now,
        "disableSessionTags": bool(request.get("disableSessionTags")),
        "ownerArn": owner,
        "targetRoleArn": request.get("targetRoleArn"),
        "policy": request.get("policy"),
    }
    if record["targetRoleArn"]:
        record["externalId"] = f"{backend.region_name}/{backend.account_id}/{cluster.name}"
    state_of(cluster).pod_identity_associations[identifier] = _without_none(record)
    return find_association(cluster, identifier)


def find_association(cluster: Cluster, identifier: str) -> Record:
    association = state_of(cluster).pod_identity_associations.get(identifier)
    if association is None:
        raise ResourceNotFoundException(
            message=f"Association not found: {identifier}", clusterName=cluster.name
        )
    return association


def list_associations(
    cluster: Cluster, namespace: str | None, service_account: str | None
) -> list[Record]:
    return [
        association
        for association in state_of(cluster).pod_identity_associations.values()
        if namespace in (None, association["namespace"])
        and service_account in (None, association["serviceAccount"])
    ]


def update_association(
    backend: EKSBackend, cluster: Cluster, identifier: str, changes: dict[str, Any]
) -> Record:
    association = find_association(cluster, identifier)
    if changes.get("roleArn"):
        _check_role(backend, changes["roleArn"])
    for name in CHANGEABLE:
        if changes.get(name) is not None:
            association[name] = changes[name]
    association["modifiedAt"] = utcnow()
    return association


def delete_association(cluster: Cluster, identifier: str) -> Record:
    association = find_association(cluster, identifier)
    del state_of(cluster).pod_identity_associations[identifier]
    return association


def _check_role(backend: EKSBackend, arn: str) -> None:
    if ":role/" not in arn or not principal_exists(backend.account_id, backend.region_name, arn):
        raise InvalidParameterException(message="Role provided in the request does not exist.")


def _same_service_account(one: Record, other: dict[str, Any]) -> bool:
    return all(one[name] == other[name] for name in ("namespace", "serviceAccount"))


def _association_arn(backend: EKSBackend, cluster: Cluster, identifier: str) -> str:
    owner = f"{backend.partition}:eks:{backend.region_name}:{backend.account_id}"
    return f"arn:{owner}:podidentityassociation/{cluster.name}/{identifier}"


def _without_none(record: Record) -> Record:
    return {name: value for name, value in record.items() if value is not None}
