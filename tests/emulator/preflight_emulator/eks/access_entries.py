"""Access entries and the access policies associated with them."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

from moto.core.utils import utcnow
from moto.eks.exceptions import (
    InvalidParameterException,
    InvalidRequestException,
    ResourceInUseException,
    ResourceNotFoundException,
)
from moto.eks.models import Cluster, EKSBackend

from preflight_emulator.eks.state import AccessEntry, Record, state_of
from preflight_emulator.identity import principal_exists

TYPES_WITH_POLICIES = ("STANDARD", "EC2")
NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"
SESSION_USERNAME = "system:node:{{SessionName}}"
NODE_IDENTITIES: dict[str, tuple[str, list[str]]] = {
    "EC2": (NODE_USERNAME, []),
    "EC2_LINUX": (NODE_USERNAME, ["system:nodes"]),
    "EC2_WINDOWS": (NODE_USERNAME, ["eks:kube-proxy-windows", "system:nodes"]),
    "FARGATE_LINUX": (SESSION_USERNAME, ["system:node-proxier"]),
    "HYBRID_LINUX": (SESSION_USERNAME, ["system:nodes"]),
    "HYPERPOD_LINUX": (SESSION_USERNAME, ["system:nodes"]),
}
"""Username and groups that EKS gives to entries of node types."""
RESERVED_PREFIXES = ("system:", "eks:", "aws:", "amazon:", "iam:")
SERVICE_LINKED_ROLE = re.compile(r":role/aws-service-role/")


def require_entries(cluster: Cluster) -> None:
    if cluster.access_config["authenticationMode"] == "CONFIG_MAP":  # type: ignore[attr-defined]
        raise InvalidRequestException(
            message="The cluster's authentication mode must be set to one of "
            "[API, API_AND_CONFIG_MAP] to perform this operation.",
            clusterName=cluster.name,
        )


def find_entry(cluster: Cluster, principal: str) -> AccessEntry:
    require_entries(cluster)
    entry = state_of(cluster).access_entries.get(principal)
    if entry is None:
        raise ResourceNotFoundException(
            message="The specified principalArn could not be found. "
            "You can view your available access entries with 'list-access-entries'.",
            clusterName=cluster.name,
        )
    return entry


def create_entry(
    backend: EKSBackend,
    cluster: Cluster,
    principal: str,
    kind: str | None = None,
    groups: list[str] | None = None,
    username: str | None = None,
    tags: dict[str, str] | None = None,
) -> AccessEntry:
    """As ``CreateAccessEntry`` does it for a caller."""
    require_entries(cluster)
    kind = (kind or "STANDARD").upper()
    _check_type(kind, principal, groups, username)
    _check_principal(backend, principal, kind)
    _check_username(username)
    if principal in state_of(cluster).access_entries:
        raise ResourceInUseException(
            message="The specified access entry resource is already in use on this cluster.",
            clusterName=cluster.name,
        )
    return put_entry(backend, cluster, principal, kind, groups, username, tags)


def put_entry(
    backend: EKSBackend,
    cluster: Cluster,
    principal: str,
    kind: str,
    groups: list[str] | None = None,
    username: str | None = None,
    tags: dict[str, str] | None = None,
) -> AccessEntry:
    """As EKS itself does it, for node groups, Auto Mode and the cluster's creator."""
    default_username, default_groups = NODE_IDENTITIES.get(kind, (_username(principal), []))
    now = utcnow()
    record: Record = {
        "clusterName": cluster.name,
        "principalArn": principal,
        "kubernetesGroups": groups or list(default_groups),
        "accessEntryArn": _entry_arn(backend, cluster, principal),
        "createdAt": now,
        "modifiedAt": now,
        "tags": tags or {},
        "username": username or default_username,
        "type": kind,
    }
    return state_of(cluster).access_entries.setdefault(principal, AccessEntry(record))


def update_entry(entry: AccessEntry, groups: list[str] | None, username: str | None) -> None:
    if entry.record["type"] != "STANDARD":
        raise InvalidParameterException(
            message='This operation can only be performed on Access Entries with a type of "STANDARD".'
        )
    _check_username(username)
    if groups is not None:
        entry.record["kubernetesGroups"] = groups
    if username is not None:
        entry.record["username"] = username
    entry.record["modifiedAt"] = utcnow()


def associate_policy(entry: AccessEntry, policy_arn: str, scope: Record) -> Record:
    if entry.record["type"] not in TYPES_WITH_POLICIES:
        raise InvalidRequestException(
            message=f"An access policy cannot be associated with an entry of type {entry.record['type']}."
        )
    if ":cluster-access-policy/" not in policy_arn:
        raise InvalidParameterException(message="The policyArn parameter format is not valid")
    now = utcnow()
    previous: dict[str, Any] = entry.policies.get(policy_arn, {})
    association = {
        "policyArn": policy_arn,
        "accessScope": {"type": scope["type"], "namespaces": scope.get("namespaces") or []},
        "associatedAt": previous.get("associatedAt", now),
        "modifiedAt": now,
    }
    entry.policies[policy_arn] = association
    return association


def disassociate_policy(entry: AccessEntry, policy_arn: str) -> None:
    if entry.policies.pop(policy_arn, None) is None:
        raise ResourceNotFoundException(
            message="The specified policyArn is not associated with this access entry."
        )


def _check_type(
    kind: str, principal: str, groups: list[str] | None, username: str | None
) -> None:
    if kind != "STANDARD" and kind not in NODE_IDENTITIES:
        raise InvalidParameterException(message=f"The access entry type {kind} is not supported.")
    if kind == "STANDARD":
        return
    if groups or username:
        raise InvalidParameterException(
            message=f"kubernetesGroups and username cannot be set on an entry of type {kind}."
        )
    if ":role/" not in principal:
        raise InvalidParameterException(
            message=f"The principalArn of an entry of type {kind} must be an IAM role."
        )


def _check_principal(backend: EKSBackend, principal: str, kind: str) -> None:
    if SERVICE_LINKED_ROLE.search(principal):
        raise InvalidParameterException(
            message="The caller is not allowed to modify access entries with a "
            "principalArn value of a Service Linked Role"
        )
    own = f":iam::{backend.account_id}:" in principal
    known = principal_exists(backend.account_id, backend.region_name, principal)
    if not known or (kind != "STANDARD" and not own):
        raise InvalidParameterException(
            message="The specified principalArn is invalid: invalid principal."
        )


def _check_username(username: str | None) -> None:
    for prefix in RESERVED_PREFIXES:
        if username and username.startswith(prefix):
            raise InvalidParameterException(message=f"The username must not begin with {prefix}")


def _username(principal: str) -> str:
    """A role's path does not appear in the ARN of its sessions."""
    head, _, name = principal.partition(":role/")
    if not name:
        return principal
    session = head.replace(":iam:", ":sts:")
    return f"{session}:assumed-role/{name.rsplit('/', 1)[-1]}/{{{{SessionName}}}}"


def _entry_arn(backend: EKSBackend, cluster: Cluster, principal: str) -> str:
    account = principal.split(":")[4]
    kind, _, name = principal.split(":", 5)[5].partition("/")
    owner = f"{backend.partition}:eks:{backend.region_name}:{backend.account_id}"
    return f"arn:{owner}:access-entry/{cluster.name}/{kind}/{account}/{name.rsplit('/', 1)[-1]}/{uuid4()}"
