"""The emulated account, a real API server with a healthy Karpenter, and the program before both."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import objects
import pytest
import rbac
import server as apiserver
from preflight_emulator import running

ROOT = Path(__file__).resolve().parents[2]
REGION = "us-west-2"
CLUSTER = "demo"
ACCOUNT = "751000000001"
# The program asks for 500 at a time.
PODS = 1_001
# In nobody's group.
STRANGER = "stranger"
# May read, and ask for tokens of the controller.
PROVER = "prover"


@dataclass(frozen=True)
class Account:
    environment: dict[str, str]
    # What its seed printed.
    made: dict[str, Any]


@pytest.fixture(scope="session")
def account() -> Iterator[Account]:
    with running.emulator() as endpoint:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("AWS_")
        } | {
            "AWS_ACCESS_KEY_ID": f"AKIATEST{ACCOUNT}",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }
        command = [ROOT / "tests" / "emulator" / "seed.sh", "getting-started"]
        command += ["--endpoint", endpoint, "--cluster", CLUSTER, "--region", REGION]
        seeded = subprocess.run(command, env=environment, check=True, capture_output=True)
        yield Account(environment, json.loads(seeded.stdout))


@pytest.fixture(scope="session")
def server(
    account: Account, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[apiserver.Server]:
    groups = {user: user for user in rbac.WITHOUT}
    groups |= {rbac.READER: apiserver.GROUP, STRANGER: "nobody", PROVER: rbac.PROVER_GROUP}
    with apiserver.running(tmp_path_factory.mktemp("apiserver"), groups) as server:
        fill(server, account)
        yield server


def fill(server: apiserver.Server, account: Account) -> None:
    for kind in objects.CUSTOM:
        objects.create(server, objects.definition(*kind))
    for kind in objects.CUSTOM:
        objects.wait_until_served(server, *kind)
    for document in [*objects.healthy(ACCOUNT, account.made), *rbac.documents()]:
        objects.create(server, document)
    objects.create_pods(server, PODS)


@dataclass(frozen=True)
class Ran:
    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        return json.loads(self.stdout)


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def program(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the program in the emulated account."""
    folder = tmp_path_factory.mktemp("home")

    def of(*arguments: str) -> Ran:
        command = [os.environ["PREFLIGHT_PROGRAM"], *arguments]
        environment = account.environment | {"HOME": str(folder)}
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return of


@pytest.fixture(scope="session")
def run(program: Run, server: apiserver.Server, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a subcommand as a user of the API server."""
    kubeconfig = tmp_path_factory.mktemp("kubeconfig") / "config"

    def of(
        subcommand: str, user: str, *more: str, token: str = "", authority: str = "authority.pem"
    ) -> Ran:
        kubeconfig.write_text(json.dumps(config(server.url, token or f"{user}-token", authority)))
        reached = ("--cluster", CLUSTER, "--kubeconfig", str(kubeconfig))
        return program(subcommand, *reached, *more)

    return of


@pytest.fixture(scope="session")
def facts(run: Run) -> Any:
    """What the published role lets the program read of the cluster."""
    return kubernetes(run("collect", rbac.READER, "--out", "-"))


@pytest.fixture(scope="session")
def report(run: Run) -> Any:
    """What the program says with the published role."""
    return run("check", rbac.READER, "--output", "json").json()


def kubernetes(collected: Ran) -> Any:
    assert collected.code == 0, collected.stderr
    return collected.json()["facts"]["kubernetes"]


def unread(facts: Any, how: str) -> dict[str, str]:
    """What was said of each action that failed or was denied."""
    if isinstance(facts, list):
        return {action: why for one in facts for action, why in unread(one, how).items()}
    if not isinstance(facts, dict):
        return {}
    if set(facts) == {how}:
        return {facts[how]["action"]: facts[how]["message"]}
    return unread(list(facts.values()), how)


def unknown(report: Any) -> dict[tuple[str, str], str]:
    """By check and subject, what is said of that which could not be judged."""
    return {
        (outcome["check"], outcome["subject"]): outcome["seen"]
        for outcome in report["outcomes"]
        if outcome["status"] == "unknown"
    }


def config(url: str, token: str, authority: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [
            {
                "name": "c",
                "cluster": {
                    "server": url,
                    "certificate-authority": str(apiserver.TLS / authority),
                },
            }
        ],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
    }
