"""The files for CI systems and for systemd."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import CLUSTER, ROOT, tool

DEPLOY = ROOT / "deploy"
Account = Callable[..., dict[str, str]]


def script(text: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step as the runners do."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def action() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "github" / "action.yml").read_text())


@pytest.mark.parametrize(
    ("seeds", "version", "code"),
    [(["seeds-broken"], "1.0.6", "1"), (["seeds-broken", "seeds-fixed"], "1.14.1", "0")],
)
def test_the_step_of_the_action(
    account: Account, program: str, tmp_path: Path, seeds: list[str], version: str, code: str
) -> None:
    step = action()["runs"]["steps"][0]
    inputs = {name: given["default"] for name, given in action()["inputs"].items() if "default" in given}
    inputs |= {"cluster": CLUSTER, "karpenter-version": version, "program": program}
    inputs["arguments"] = "--interruption-queue=demo\n--no-kube\n"
    environment = account(*seeds) | {"RUNNER_TEMP": str(tmp_path), "GITHUB_ACTIONS": "true"}
    environment |= {
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    for name, value in step["env"].items():
        environment[name] = inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
    done = script(step["run"], environment)
    assert str(done.returncode) == code, done.stderr
    output = (tmp_path / "output").read_text()
    assert f"exit-code={code}\n" in output
    assert f"sarif={tmp_path}/karpenter-preflight.sarif\n" in output
    assert (tmp_path / "summary.md").read_text().startswith("#")
    assert ("::error" in done.stdout) == (code == "1")


def test_the_scripts_are_clean() -> None:
    step = action()["runs"]["steps"][0]
    done = subprocess.run(
        [tool("shellcheck"), "--shell=bash", "--exclude=SC2154", "-"],
        input=step["run"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_the_job_of_gitlab(account: Account, program: str, tmp_path: Path) -> None:
    job = yaml.safe_load((DEPLOY / "gitlab" / "karpenter-preflight.gitlab-ci.yml").read_text())
    job = job["karpenter-preflight"]
    (tmp_path / "karpenter-preflight").symlink_to(program)
    environment = account("seeds-broken", "seeds-fixed") | job["variables"]
    environment |= {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PREFLIGHT_ARGUMENTS": "--karpenter-version 1.14.1 --interruption-queue demo --no-kube",
    }
    done = script(f"cd {tmp_path}\n" + "\n".join(job["script"]), environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists()
    assert (tmp_path / job["artifacts"]["paths"][0]).exists()


def test_the_units_of_systemd(program: str, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("no systemd-analyze on the PATH")
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text().replace("/usr/local/bin/karpenter-preflight", program)
        (tmp_path / unit.name.replace("@", "@demo")).write_text(text)
    units = sorted(tmp_path.glob("*.*"))
    done = subprocess.run(
        [analyze, "verify", "--man=no", "--recursive-errors=no", *units],
        capture_output=True,
        text=True,
    )
    ours = [line for line in done.stderr.splitlines() if "karpenter-preflight" in line]
    assert ours == [], done.stderr
