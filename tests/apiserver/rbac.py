"""The published roles, and for each permission of the reading one the role without it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import objects
from server import DATA, GROUP

DEPLOY = DATA.parents[1] / "deploy"
READER = "reader"
PROVER_GROUP = "provers"


@dataclass(frozen=True)
class Permission:
    verb: str
    group: str
    resource: str
    # Empty where it is of any.
    name: str = ""

    @property
    def action(self) -> str:
        """As the program names it."""
        return f"{self.verb} {self.resource} (Kubernetes)"

    @property
    def user(self) -> str:
        """Who has all but this."""
        parts = ("without", self.verb, self.resource, self.group, self.name)
        return "-".join(part for part in parts if part)

    def rule(self) -> dict[str, Any]:
        named = {"resourceNames": [self.name]} if self.name else {}
        return {
            "apiGroups": [self.group],
            "resources": [self.resource],
            "verbs": [self.verb],
            **named,
        }


def published() -> list[Permission]:
    """What the reading role allows, one by one; /version, which all may read, is left out."""
    role, _ = objects.documents(DEPLOY / "rbac.yaml")
    return [
        Permission(verb, group, resource, name)
        for rule in role["rules"]
        for group in rule.get("apiGroups", [])
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    ]


PUBLISHED = published()
WITHOUT = {permission.user: permission for permission in PUBLISHED}


def role(name: str, rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A role for the group of that name."""
    version = "rbac.authorization.k8s.io/v1"
    return [
        {
            "apiVersion": version,
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        },
        binding(name, name),
    ]


def binding(role: str, group: str) -> dict[str, Any]:
    api = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{api}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{role}-{group}"},
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": api, "kind": "Group", "name": group}],
    }


def documents() -> list[dict[str, Any]]:
    """The published manifests, and the roles that lack something."""
    made = objects.documents(DEPLOY / "rbac.yaml")
    proving = copy.deepcopy(objects.documents(DEPLOY / "rbac-prove.yaml"))
    for document in proving:
        # For a group of its own: whoever may only read is to be told from who may prove.
        for subject in document.get("subjects", []):
            assert subject["name"] == GROUP
            subject["name"] = PROVER_GROUP
    made += [*proving, binding(GROUP, PROVER_GROUP)]
    for user, lacking in WITHOUT.items():
        made += role(user, [one.rule() for one in PUBLISHED if one != lacking])
    return made
