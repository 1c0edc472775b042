"""KMS: keys that AWS manages say so, and cannot be used by other services."""

from __future__ import annotations

import json
from typing import Any

from moto.kms import models, utils
from moto.kms.models import KmsBackend

MISSING_ALIASES = {
    "alias/aws/eks": "0b1d5f30-6a3e-4f6b-9d4c-2b7c1f6b7c11",
    "alias/aws/sqs": "5c0a4e0e-3f58-4f0e-8a3c-6f2f0a5d9e22",
}

_create_default_key = KmsBackend._generate_default_keys


def install() -> None:
    utils.RESERVED_ALIASE_TARGET_KEY_IDS.update(MISSING_ALIASES)
    models.RESERVED_ALIASES.extend(MISSING_ALIASES)
    KmsBackend._generate_default_keys = _create_aws_managed_key  # type: ignore[method-assign]


def _create_aws_managed_key(backend: KmsBackend, alias: str) -> str | None:
    identifier = _create_default_key(backend, alias)
    if identifier is not None:
        key = backend.keys[identifier]
        key.key_manager = "AWS"
        key.description = f"Default key of {alias}"
        service = alias.rsplit("/", 1)[-1]
        key.policy = json.dumps(_policy(backend, service))
    return identifier


def _policy(backend: KmsBackend, service: str) -> dict[str, Any]:
    """Only principals of the account, and only through the service."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "UseByTheAccountThroughTheService",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": [
                    "kms:Encrypt",
                    "kms:Decrypt",
                    "kms:ReEncrypt*",
                    "kms:GenerateDataKey*",
                    "kms:CreateGrant",
                    "kms:DescribeKey",
                ],
                "Resource": "*",
                "Condition": {
                    "StringEquals": {
                        "kms:CallerAccount": backend.account_id,
                        "kms:ViaService": f"{service}.{backend.region_name}.amazonaws.com",
                    }
                },
            },
            {
                "Sid": "LookByTheAccount",
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:{backend.partition}:iam::{backend.account_id}:root"},
                "Action": ["kms:Describe*", "kms:Get*", "kms:List*", "kms:RevokeGrant"],
                "Resource": "*",
            },
        ],
    }
