"""Images for EKS nodes: what the public SSM parameters name and ``DescribeImages`` finds.

Invented ids, real parameter names (Karpenter 1.14 reads these).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

KUBERNETES_VERSIONS = ("1.32", "1.33", "1.34", "1.35", "1.36")
AL2023_VARIANTS = ("standard", "nvidia", "neuron")
WINDOWS_VERSIONS = ("2019", "2022")
ARCHITECTURES = ("x86_64", "arm64")
RELEASE = "20261101"
# An older release of AL2023, which only a pinned alias names.
PINNED = "20261015"


@dataclass(frozen=True)
class NodeImage:
    name: str
    image_id: str
    architecture: str
    parameters: tuple[str, ...]


def node_images(region: str) -> Iterator[NodeImage]:
    for version in KUBERNETES_VERSIONS:
        yield from _al2023(region, version)
        yield from _bottlerocket(region, version)
        yield from _windows(region, version)


def _al2023(region: str, version: str) -> Iterator[NodeImage]:
    root = f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023"
    for architecture in ARCHITECTURES:
        for variant in AL2023_VARIANTS:
            if (variant, architecture) == ("neuron", "arm64"):
                continue
            name = f"amazon-eks-node-al2023-{architecture}-{variant}-{version}"
            folder = f"{root}/{architecture}/{variant}"
            newest, pinned = f"{name}-v{RELEASE}", f"{name}-v{PINNED}"
            yield _image(
                region,
                newest,
                architecture,
                f"{folder}/recommended/image_id",
                f"{folder}/{newest}/image_id",
            )
            yield _image(region, pinned, architecture, f"{folder}/{pinned}/image_id")


def _bottlerocket(region: str, version: str) -> Iterator[NodeImage]:
    for flavour in ("", "-nvidia"):
        for architecture in ARCHITECTURES:
            folder = f"/aws/service/bottlerocket/aws-k8s-{version}{flavour}/{architecture}"
            name = f"bottlerocket-aws-k8s-{version}{flavour}-{architecture}-v1.50.0"
            yield _image(
                region,
                name,
                architecture,
                f"{folder}/latest/image_id",
                f"{folder}/1.50.0/image_id",
            )


def _windows(region: str, version: str) -> Iterator[NodeImage]:
    for windows in WINDOWS_VERSIONS:
        name = f"Windows_Server-{windows}-English-Core-EKS_Optimized-{version}"
        path = f"/aws/service/ami-windows-latest/{name}/image_id"
        yield _image(region, f"{name}-{RELEASE}", "x86_64", path)


def _image(region: str, name: str, architecture: str, *parameters: str) -> NodeImage:
    digest = hashlib.sha256(f"{region}/{name}".encode()).hexdigest()
    return NodeImage(name, f"ami-0{digest[:16]}", architecture, parameters)
