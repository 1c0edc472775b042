"""What we keep beside moto's own Cluster. It goes when the cluster, or moto's state, goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moto.eks.exceptions import ResourceNotFoundException
from moto.eks.models import Cluster, EKSBackend

Record = dict[str, Any]
"""A resource in its wire form: the member names of the service model."""


@dataclass
class AccessEntry:
    record: Record
    policies: dict[str, Record] = field(default_factory=dict)
    """Associated access policies by ARN."""


@dataclass
class ClusterState:
    access_entries: dict[str, AccessEntry] = field(default_factory=dict)
    """By principal ARN."""
    pod_identity_associations: dict[str, Record] = field(default_factory=dict)
    """By association id."""
    addons: dict[str, Record] = field(default_factory=dict)
    """By add-on name."""
    updates: dict[str, Record] = field(default_factory=dict)
    """By update id."""


def find_cluster(backend: EKSBackend, name: str) -> Cluster:
    cluster = backend.clusters.get(name)
    if cluster is None:
        raise ResourceNotFoundException(
            message=f"No cluster found for name: {name}.", clusterName=name
        )
    return cluster


def state_of(cluster: Cluster) -> ClusterState:
    return vars(cluster).setdefault("preflight_state", ClusterState())
