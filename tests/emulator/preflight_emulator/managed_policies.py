"""AWS-managed policies: parsed once a partition, and with that partition's ARNs in them."""

from __future__ import annotations

import functools
import json
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend, ManagedPolicy
from moto.utilities.utils import get_partition


def install() -> None:
    IAMBackend._init_aws_policies = _policies  # type: ignore[method-assign]


def _policies(backend: IAMBackend) -> list[ManagedPolicy]:
    return [
        AWSManagedPolicy.from_data(name, backend.account_id, backend.region_name, data)
        for name, data in _parsed(get_partition(backend.region_name)).items()
    ]


@functools.cache
def _parsed(partition: str) -> dict[str, Any]:
    text = aws_managed_policies_data
    if partition != "aws":
        text = text.replace("arn:aws:", f"arn:{partition}:")
    return json.loads(text)
