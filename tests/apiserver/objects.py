"""What is put into the cluster: definitions of ours, and the objects of a healthy Karpenter."""

from __future__ import annotations

import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml
from server import DATA, Server

# Group, version, plural, kind.
CUSTOM = [
    ("karpenter.k8s.aws", "v1", "ec2nodeclasses", "EC2NodeClass"),
    ("karpenter.sh", "v1", "nodeclaims", "NodeClaim"),
    ("karpenter.sh", "v1alpha1", "nodeoverlays", "NodeOverlay"),
    ("karpenter.sh", "v1", "nodepools", "NodePool"),
    ("crd.k8s.amazonaws.com", "v1alpha1", "eniconfigs", "ENIConfig"),
]
BUILT_IN = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "CustomResourceDefinition": "customresourcedefinitions",
    "DaemonSet": "daemonsets",
    "Deployment": "deployments",
    "Node": "nodes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Pod": "pods",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ServiceAccount": "serviceaccounts",
    "StorageClass": "storageclasses",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
PLURALS = BUILT_IN | {kind: plural for _, _, plural, kind in CUSTOM}
# What a server decides itself, or keeps about its own objects.
NOT_WRITTEN = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
NAMESPACE = "team"
AT_A_TIME = 8
# Seconds until a new kind is there.
SERVED = 30


def definition(group: str, version: str, plural: str, kind: str) -> dict[str, Any]:
    """A kind whose objects hold whatever is written to them."""
    of_anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
            },
            "scope": "Cluster",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": of_anything},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


def documents(path: Any) -> list[dict[str, Any]]:
    """The objects of a manifest."""
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def healthy(account: str, made: dict[str, Any]) -> list[dict[str, Any]]:
    """Karpenter as the guide installs it in this emulated account."""
    text = (DATA / "kubernetes" / "karpenter.json").read_text().replace("111122223333", account)
    for number, subnet in enumerate(made["privateSubnets"], 1):
        text = text.replace(f"subnet-private-{number}", subnet)
    text = text.replace("sg-cluster", made["clusterSecurityGroup"])
    items = json.loads(text)["items"]
    # Slices are of a group that this server has as a beta only.
    left_out = ("CustomResourceDefinition", "EndpointSlice")
    return [item for item in items if item["kind"] not in left_out]


def pod(number: int) -> dict[str, Any]:
    """A pod of no importance that runs."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"web-{number}", "namespace": NAMESPACE},
        "spec": {
            "containers": [
                {
                    "name": "web",
                    "image": "registry.example/web:1",
                    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
                }
            ],
            "nodeName": "ip-10-0-1-10.us-west-2.compute.internal",
        },
        "status": {"phase": "Running"},
    }


def path_of(document: dict[str, Any]) -> str:
    """Where objects of its kind are made."""
    version, metadata = document["apiVersion"], document["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = metadata.get("namespace")
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{within}/{PLURALS[document['kind']]}"


def create(server: Server, document: dict[str, Any]) -> None:
    """Makes the object, then its status, which the API has at a place of its own."""
    metadata = {
        name: value for name, value in document["metadata"].items() if name not in NOT_WRITTEN
    }
    server.ask("POST", path_of(document), document | {"metadata": metadata})
    if "status" in document:
        place = f"{path_of(document)}/{metadata['name']}/status"
        server.ask("PATCH", place, {"status": document["status"]}, patch=True)


def create_pods(server: Server, count: int) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    server.ask("POST", "/api/v1/namespaces", namespace)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(lambda number: create(server, pod(number)), range(count)))


def wait_until_served(server: Server, group: str, version: str, plural: str, kind: str) -> None:
    """A definition is served a moment after it was made."""
    until = time.monotonic() + SERVED
    while time.monotonic() < until:
        with contextlib.suppress(AssertionError):
            assert server.ask("GET", f"/apis/{group}/{version}/{plural}")["kind"] == f"{kind}List"
            return
        time.sleep(0.1)
    raise AssertionError(f"{plural}.{group} is not served")
