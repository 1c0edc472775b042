"""The account that a seed fills: where it is, and clients for it."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import urllib.request
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

DEFAULT_KEY = "AKIAIOSFODNN7EXAMPLE"
# No proxy of the environment's may see these calls.
CLIENT_CONFIG = Config(retries={"total_max_attempts": 1}, proxies={})
BANNED_ZONES = ("use1-az3", "usw1-az2", "cac1-az3")
"""Zones in which EKS makes no control plane."""


@dataclass(frozen=True)
class Account:
    endpoint: str
    cluster: str
    region: str
    key: str | None = None
    """An access key id; default: the environment's, else one of the default account."""

    def client(self, service: str) -> Any:
        return make_client(self, service)

    @functools.cached_property
    def number(self) -> str:
        return self.client("sts").get_caller_identity()["Account"]

    @functools.cached_property
    def partition(self) -> str:
        return boto3.session.Session().get_partition_for_region(self.region)

    @property
    def dns_suffix(self) -> str:
        return "amazonaws.com.cn" if self.partition == "aws-cn" else "amazonaws.com"

    @functools.cached_property
    def zones(self) -> list[str]:
        """The first three zones of the region; regions with two give the first twice."""
        answer = self.client("ec2").describe_availability_zones()["AvailabilityZones"]
        names = sorted(zone["ZoneName"] for zone in answer if zone["ZoneId"] not in BANNED_ZONES)
        return (names * 2)[:3]

    def arn(self, service: str, resource: str, region: str | None = None) -> str:
        place = self.region if region is None else region
        return f"arn:{self.partition}:{service}:{place}:{self.number}:{resource}"

    def managed_policy(self, name: str) -> str:
        return f"arn:{self.partition}:iam::aws:policy/{name}"

    def suffix(self, name: str, length: int = 12) -> str:
        """What an installer appends to make a name unique; the same on each run."""
        digest = hashlib.sha256(f"{self.cluster}/{name}".encode()).hexdigest()
        return digest[:length].upper()


def post(account: Account, route: str, body: dict[str, Any]) -> None:
    """What no public API does, by a route of the emulator's own."""
    request = urllib.request.Request(
        f"{account.endpoint}/moto-api/preflight/{route}",
        data=json.dumps({"account": account.number, **body}).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as answer:
        assert answer.status == 200


@functools.cache
def make_client(account: Account, service: str) -> Any:
    return boto3.client(
        service,
        region_name=account.region,
        endpoint_url=account.endpoint,
        aws_access_key_id=account.key or os.environ.get("AWS_ACCESS_KEY_ID", DEFAULT_KEY),
        aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "secret"),
        aws_session_token=os.environ.get("AWS_SESSION_TOKEN"),
        config=CLIENT_CONFIG,
    )
