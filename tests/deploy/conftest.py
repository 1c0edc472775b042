"""The emulated account, and the program under test in front of it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from preflight_emulator import running

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "tests" / "emulator"
REGION = "us-west-2"
CLUSTER = "demo"
ACCOUNTS = itertools.count(741_000_000_001)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    with running.emulator() as address:
        yield address


@pytest.fixture()
def account(endpoint: str) -> Callable[..., dict[str, str]]:
    """Fill an account of its own with these seeds; gives the environment to reach it."""

    def fill(*seeds: str) -> dict[str, str]:
        key = f"AKIATEST{next(ACCOUNTS)}"
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("AWS_")
        } | {
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }
        for seed in seeds:
            command = [EMULATOR / "seed.sh", seed, "--endpoint", endpoint]
            command += ["--cluster", CLUSTER, "--region", REGION]
            subprocess.run(command, env=environment, check=True, capture_output=True)
        return environment

    return fill


@pytest.fixture(scope="session")
def program() -> str:
    return os.environ["PREFLIGHT_PROGRAM"]


def tool(name: str) -> str:
    """A program that the test's own packages brought."""
    return str(Path(sys.executable).parent / name)
