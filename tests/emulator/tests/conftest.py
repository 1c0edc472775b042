"""One emulator for the whole run, reset before each test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from closed_loop import engine
from preflight_emulator import running

REGION = "us-west-2"
ACCOUNT = "123456789012"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_RETRY = Config(retries={"total_max_attempts": 1}, proxies={})
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
    os.environ.pop(name, None)
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_PAGER": "",
}


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with running.emulator() as address:
        yield address


@pytest.fixture(scope="session")
def world(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.World]:
    """The program under test and the aws program, for the whole run."""
    folder = tmp_path_factory.mktemp("programs")
    with engine.aws_program(folder):
        yield engine.World(server, os.environ["PREFLIGHT_BINARY"], folder)


@pytest.fixture()
def endpoint(server: str) -> str:
    post(server, "/moto-api/reset")
    return server


@pytest.fixture()
def client(endpoint: str) -> Callable[..., Any]:
    return lambda service, **more: make_client(endpoint, service, **more)


def make_client(endpoint: str, service: str, region: str = REGION, key: str | None = None) -> Any:
    return boto3.client(
        service,
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id=key or CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=NO_RETRY,
    )


@pytest.fixture()
def aws(endpoint: str) -> Callable[..., Any]:
    """Run the real AWS CLI; returns what it prints as JSON, or raises with its stderr."""

    def run(*arguments: str) -> Any:
        environment = {**os.environ, **CREDENTIALS, "AWS_ENDPOINT_URL": endpoint}
        command = [sys.executable, "-m", "awscli", "--region", REGION, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


def post(endpoint: str, path: str, body: dict[str, Any] | None = None) -> None:
    request = urllib.request.Request(
        endpoint + path,
        data=json.dumps(body or {}).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


@pytest.fixture()
def subnets(client: Callable[..., Any]) -> list[str]:
    """Two subnets in two zones of a VPC of their own."""
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="192.168.0.0/16")["Vpc"]["VpcId"]
    return [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=REGION + zone)["Subnet"][
            "SubnetId"
        ]
        for cidr, zone in (("192.168.0.0/24", "a"), ("192.168.1.0/24", "b"))
    ]


def make_role(iam: Any, name: str, service: str = "ec2.amazonaws.com", path: str = "/") -> str:
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        ],
    }
    role = iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=json.dumps(trust))
    return role["Role"]["Arn"]


@pytest.fixture()
def node_role(client: Callable[..., Any]) -> str:
    return make_role(client("iam"), "node")


@pytest.fixture()
def make_cluster(client: Callable[..., Any], subnets: list[str]) -> Callable[..., Any]:
    def make(name: str = "c", mode: str | None = "API", **more: Any) -> Any:
        access = {"accessConfig": {"authenticationMode": mode}} if mode else {}
        role = make_role(client("iam"), f"cluster-{name}", "eks.amazonaws.com")
        return client("eks").create_cluster(
            name=name,
            roleArn=role,
            resourcesVpcConfig={"subnetIds": subnets},
            **access,
            **more,
        )["cluster"]

    return make


def error_code(error: Any) -> str:
    return error.value.response["Error"]["Code"]
