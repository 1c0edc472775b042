"""Judge an account, run what the report prints, judge it again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from closed_loop.scenario import Scenario
from seeds.account import Account

HERE = Path(__file__).resolve().parent
CLUSTER = "demo"
# What is warned about in every account of Auto Mode, healthy ones too.
ALWAYS = ("cluster-role-custom-tags",)
Problem = tuple[str, str, str]
"""Check, status and subject."""
# kubectl and helm have no cluster to talk to here: the stub tells where it would, notes what it
# was asked for, and does nothing.
STUB = """#!/bin/sh
printf '%s\\n' "$(basename "$0") $*" >>{log}
case "$*" in *"config view"*) echo "$KUBE_SERVER" ;; esac
"""


@dataclass
class World:
    """Where the emulator, the program under test and the ``aws`` program are."""

    endpoint: str
    binary: str
    folder: Path
    _next: Iterator[int] = field(default_factory=lambda: iter(range(742_000_000_001, 10**12)))

    def account(self, region: str) -> Account:
        number = next(self._next)
        return Account(self.endpoint, CLUSTER, region, f"AKIATEST{number}")

    def asked_of_kubectl(self) -> list[str]:
        log = self.folder / "kubernetes.log"
        return log.read_text().splitlines() if log.exists() else []

    def environment(self, account: Account, **more: str) -> dict[str, str]:
        return {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "AWS_ACCESS_KEY_ID": account.key or "",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": account.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
            **more,
        }

    def check(self, account: Account, arguments: tuple[str, ...], script: Path) -> Report:
        command = [self.binary, "check", "--cluster", CLUSTER, "--no-kube", "--output", "json"]
        done = subprocess.run(
            [*command, "--fix-script", str(script), *arguments],
            env=self.environment(account),
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 1, 3), done.stderr
        return Report(json.loads(done.stdout))

    def run(
        self, account: Account, script: Path, **blanks: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a fix script, with what a person would have filled in."""
        text = script.read_text()
        for name, value in blanks.items():
            assert f"\n{name}=''\n" in text, f"the script has no blank {name}"
            text = text.replace(f"\n{name}=''\n", f"\n{name}='{value}'\n")
        script.write_text(text)
        cluster = account.client("eks").describe_cluster(name=CLUSTER)["cluster"]
        environment = self.environment(account, YES="1", KUBE_SERVER=cluster["endpoint"])
        return subprocess.run(
            ["bash", str(script)], env=environment, capture_output=True, text=True
        )


@dataclass
class Report:
    value: dict[str, Any]

    def problems(self) -> set[Problem]:
        return {
            (outcome["check"], outcome["status"], outcome["subject"])
            for outcome in self.value["outcomes"]
            if outcome["status"] in ("fail", "warn")
        }

    def unknown(self) -> set[tuple[str, str]]:
        outcomes = self.value["outcomes"]
        return {(o["check"], o["subject"]) for o in outcomes if o["status"] == "unknown"}

    def of(self, check: str) -> list[dict[str, Any]]:
        return [outcome for outcome in self.value["outcomes"] if outcome["check"] == check]

    def table(self) -> str:
        keys = ("status", "check", "subject", "seen")
        return "\n".join(" · ".join(o[key] for key in keys) for o in self.value["outcomes"])


@contextmanager
def aws_program(folder: Path) -> Iterator[None]:
    """The ``aws`` program, started in advance, and stubs for kubectl and helm, in a folder."""
    log = folder / "kubernetes.log"
    for name in ("kubectl", "helm", "eksctl"):
        stub = folder / name
        stub.write_text(STUB.format(log=log))
        stub.chmod(0o755)
    command = [sys.executable, str(HERE / "aws_server.py"), str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None and server.stdout.readline() == "ready\n"
    try:
        yield
    finally:
        server.terminate()
        server.wait(timeout=10)


def judged(world: World, scenario: Scenario, script: Path) -> tuple[Account, Report]:
    """The broken account and what is said of it; every expected finding must be among that."""
    account = world.account(scenario.region)
    made = scenario.seed(account)
    scenario.break_it(account, made)
    report = world.check(account, scenario.arguments, script)
    found = {(check, status) for check, status, _ in report.problems()}
    missing = set(scenario.finds) - found
    assert not missing, f"{scenario.name}: not found: {missing}\n{report.table()}"
    return account, report


def loop(world: World, scenario: Scenario, folder: Path) -> None:
    """Every expected finding is gone after its remedy ran, and no new one is there."""
    script, again = folder / "fix.sh", folder / "again.sh"
    account, before = judged(world, scenario, script)
    blanks = scenario.blanks(account) if scenario.blanks else {}
    done = world.run(account, script, **blanks)
    said = f"{script.read_text()}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, f"{scenario.name}: the script failed\n{said}"
    asked = world.asked_of_kubectl()
    assert all(any(one in line for line in asked) for one in scenario.kubectl), (asked, said)
    after = world.check(account, scenario.arguments_after or scenario.arguments, again)
    mended = {check for check, _ in scenario.finds}
    left = {problem for problem in after.problems() if problem[0] in mended}
    assert not left, f"{scenario.name}: still there: {left}\n{after.table()}\n{said}"
    subjects = {(check, subject) for check, _, subject in before.problems()}
    new = {
        problem
        for problem in after.problems()
        if (problem[0], problem[2]) not in subjects and problem[0] not in ALWAYS
    }
    assert not new, f"{scenario.name}: new: {new}\n{after.table()}\n{said}"
    # Where a role has no entry yet, aws-auth decides, and this account has no cluster to ask.
    known = {one for one in after.unknown() if one[0] != "node-role-aws-auth"}
    unknown = known - before.unknown()
    assert not unknown, f"{scenario.name}: no longer known: {unknown}\n{after.table()}"
