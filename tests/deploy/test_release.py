"""What a release is packed from."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import venv
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, tool

PACKAGE = ROOT / "deploy" / "release" / "package.sh"
WHEEL = ROOT / "deploy" / "release" / "wheel.py"
URL = "https://downloads.example/v1"


def package(program: str, out: Path, **environment: str) -> Path:
    done = subprocess.run(
        [PACKAGE, program, out],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_a_package_has_all_that_belongs_to_the_program(program: str, tmp_path: Path) -> None:
    archive = package(program, tmp_path)
    with tarfile.open(archive) as files:
        names = {name.split("/", 1)[1] for name in files.getnames() if "/" in name}
        assert {member.uid for member in files.getmembers()} == {0}
    assert {
        *("karpenter-preflight", "LICENSE", "README.md", "man/karpenter-preflight-check.1"),
        *("completions/_karpenter-preflight", "completions/karpenter-preflight.ps1"),
    } <= names


def test_the_same_input_gives_the_same_bytes(program: str, tmp_path: Path) -> None:
    digests = [
        hashlib.sha256(package(program, tmp_path / str(run)).read_bytes()).hexdigest()
        for run in range(2)
    ]
    assert digests[0] == digests[1]


def test_manifests_name_the_package(program: str, tmp_path: Path) -> None:
    archive = package(program, tmp_path, RELEASE_URL=URL)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    (platform,) = yaml.safe_load((tmp_path / "krew.yaml").read_text())["spec"]["platforms"]
    assert platform["sha256"] == digest
    assert platform["uri"] == f"{URL}/{archive.name}"
    formula = (tmp_path / "homebrew.rb").read_text()
    assert digest in formula and "@" not in formula.replace("@VERSION@", "@")
    sums = (tmp_path / "SHA256SUMS").read_text()
    assert f"{digest}  {archive.name}" in sums and "krew.yaml" in sums


def test_the_target_names_the_package(program: str, tmp_path: Path) -> None:
    archive = package(program, tmp_path, RELEASE_TARGET="aarch64-unknown-linux-musl")
    assert archive.name.endswith("-linux-arm64-musl.tar.gz")


def test_pip_installs_the_wheel(program: str, tmp_path: Path) -> None:
    done = subprocess.run([WHEEL, program, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    install = [tmp_path / "venv/bin/pip", "install", "--no-index", "--quiet", wheel]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    installed = tmp_path / "venv/bin/karpenter-preflight"
    done = subprocess.run([installed, "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("karpenter-preflight "), done.stderr
    # pip holds each file against its digest.
    checked = [tmp_path / "venv/bin/pip", "check"]
    assert subprocess.run(checked, capture_output=True).returncode == 0


def test_kubectl_finds_it_as_a_plugin(program: str, tmp_path: Path) -> None:
    kubectl = shutil.which("kubectl")
    if not kubectl:
        pytest.skip("no kubectl on the PATH")
    # kubectl looks for plug-ins by file name on the PATH, with `_` for `-`.
    (tmp_path / "kubectl-karpenter_preflight").symlink_to(program)
    done = subprocess.run(
        [kubectl, "karpenter-preflight", "--version"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("karpenter-preflight "), done.stderr


def test_scripts_and_dockerfile_are_clean() -> None:
    scripts = [PACKAGE, *ROOT.glob("tests/*/*.sh")]
    done = subprocess.run([tool("shellcheck"), *scripts], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([tool("hadolint"), ROOT / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
