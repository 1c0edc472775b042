"""AWS-managed policies: parsed once a partition, and with that partition's ARNs in them."""

from __future__ import annotations

import functools
import json
from datetime import datetime
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend, ManagedPolicy
from moto.utilities.utils import get_partition


def install() -> None:
    IAMBackend._init_aws_policies = _policies  # type: ignore[assignment,method-assign]


def _policies(backend: IAMBackend) -> list[ManagedPolicy]:
    """Each account has its own: they count their attachments."""
    return [
        AWSManagedPolicy(account_id=backend.account_id, region=backend.region_name, **policy)
        for policy in _parsed(get_partition(backend.region_name))
    ]


@functools.cache
def _parsed(partition: str) -> list[dict[str, Any]]:
    text = aws_managed_policies_data
    if partition != "aws":
        text = text.replace("arn:aws:", f"arn:{partition}:")
    return [
        {
            "name": name,
            "default_version_id": data.get("DefaultVersionId"),
            "path": data.get("Path"),
            "document": json.dumps(data.get("Document")),
            "create_date": datetime.fromisoformat(data["CreateDate"]),
            "update_date": datetime.fromisoformat(data["UpdateDate"]),
        }
        for name, data in json.loads(text).items()
    ]
