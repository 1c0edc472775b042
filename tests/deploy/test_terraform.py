"""The Terraform modules, applied by a real Terraform with the emulated account behind them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CLUSTER, ROOT

MODULE = ROOT / "deploy" / "terraform"
Account = Callable[..., dict[str, str]]
pytestmark = pytest.mark.skipif(not shutil.which("terraform"), reason="no terraform on the PATH")


class Configuration:
    """A root module that calls ours."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment | {"TF_IN_AUTOMATION": "1", "TF_CLI_CONFIG_FILE": "/dev/null"}

    def call(self, **arguments: object) -> None:
        call = {"module": {"preflight": {"source": str(MODULE), **arguments}}}
        (self.folder / "main.tf.json").write_text(json.dumps(call))
        assert self.run("init").returncode == 0

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["terraform", *arguments, "-no-color"]
        command += ["-input=false"] if arguments[0] != "validate" else []
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def apply(self) -> subprocess.CompletedProcess[str]:
        return self.run("apply", "-auto-approve")


def test_the_module_is_formatted_and_valid(tmp_path: Path, account: Account) -> None:
    formatted = subprocess.run(
        ["terraform", "fmt", "-check", "-recursive", MODULE], capture_output=True, text=True
    )
    assert formatted.returncode == 0, formatted.stdout
    configuration = Configuration(tmp_path, account())
    configuration.call(cluster_name=CLUSTER)
    done = configuration.run("validate")
    assert done.returncode == 0, done.stderr
    configuration.call(cluster_name=CLUSTER, on_findings="explode")
    done = configuration.run("plan")
    assert "on_findings is fail or warn." in done.stderr


def arguments(program: str, version: str) -> dict[str, object]:
    return {
        "cluster_name": CLUSTER,
        "karpenter_version": version,
        "interruption_queue": CLUSTER,
        "program": program,
        "extra_arguments": NO_CLUSTER,
    }


# The emulated account has no Kubernetes API.
NO_CLUSTER = ["--no-kube"]


def test_the_gate_fails_a_broken_account(tmp_path: Path, account: Account, program: str) -> None:
    configuration = Configuration(tmp_path, account("seeds-broken"))
    configuration.call(**arguments(program, "1.0.6"))
    done = configuration.apply()
    assert done.returncode == 1
    assert "Instance tags are not put into the metadata by default" in done.stdout
    assert "exit status 1" in done.stderr


def test_the_gate_lets_a_mended_account_pass(
    tmp_path: Path, account: Account, program: str
) -> None:
    configuration = Configuration(tmp_path, account("seeds-broken", "seeds-fixed"))
    configuration.call(**arguments(program, "1.14.1"))
    first = configuration.apply()
    assert first.returncode == 0, first.stdout + first.stderr
    again = configuration.apply()
    assert "1 destroyed" in again.stdout, "each apply judges anew"


def test_without_always_only_a_trigger_judges_anew(
    tmp_path: Path, account: Account, program: str
) -> None:
    configuration = Configuration(tmp_path, account("seeds-broken", "seeds-fixed"))
    given = arguments(program, "1.14.1") | {"always": False}
    configuration.call(**given, triggers={"role": "a"})
    assert configuration.apply().returncode == 0
    assert "No changes" in configuration.apply().stdout
    configuration.call(**given, triggers={"role": "b"})
    assert "1 destroyed" in configuration.apply().stdout


def test_a_value_is_never_run(tmp_path: Path, account: Account, program: str) -> None:
    configuration = Configuration(tmp_path, account("seeds-broken"))
    given = arguments(program, "1.14.1") | {"cluster_name": "demo; touch ran"}
    configuration.call(**given)
    assert configuration.apply().returncode == 1
    assert not (tmp_path / "ran").exists()


def test_it_can_only_warn(tmp_path: Path, account: Account, program: str) -> None:
    configuration = Configuration(tmp_path, account("seeds-broken"))
    configuration.call(**arguments(program, "1.0.6"), on_findings="warn")
    done = configuration.apply()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning: Check block assertion failed" in done.stdout
    assert "will not work here" in done.stdout
    assert "us-west-2: By default, new instances in us-west-2 have their tags" in done.stdout


def test_it_does_not_warn_of_a_mended_account(
    tmp_path: Path, account: Account, program: str
) -> None:
    configuration = Configuration(tmp_path, account("seeds-broken", "seeds-fixed"))
    configuration.call(**arguments(program, "1.14.1"), on_findings="warn")
    done = configuration.apply()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning: Check block" not in done.stdout
