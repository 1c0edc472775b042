"""What a release is packed from."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, tool

PACKAGE = ROOT / "deploy" / "release" / "package.sh"
WHEEL = ROOT / "deploy" / "release" / "wheel.py"
URL = "https://downloads.example/v1"
NAME = "karpenter-preflight"
# As Homebrew calls them.
ARCHES = {"amd64": "x86_64", "arm64": "arm64"}
SYSTEMS = {"linux": "linux", "darwin": "macos"}


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
    platform = krew(tmp_path)["spec"]["platforms"][0]
    assert platform["sha256"] == digest
    assert platform["uri"] == f"{URL}/{archive.name}"
    formula = (tmp_path / f"{NAME}.rb").read_text()
    assert digest in formula and "@" not in formula
    sums = (tmp_path / "SHA256SUMS").read_text()
    assert f"{digest}  {archive.name}" in sums and f"{NAME}.yaml" in sums


def krew(folder: Path) -> dict[str, Any]:
    # Krew holds the name of the file against the plug-in's.
    return yaml.safe_load((folder / f"{NAME}.yaml").read_text())


def test_krew_would_take_the_manifest(program: str, tmp_path: Path) -> None:
    """The rules of `validate-krew-manifest`, which is a Go program and cannot be had here."""
    archive = package(program, tmp_path, RELEASE_URL=URL)
    manifest = krew(tmp_path)
    assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}
    assert manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert manifest["kind"] == "Plugin"
    assert manifest["metadata"] == {"name": NAME}
    spec = manifest["spec"]
    assert set(spec) == {"version", "homepage", "shortDescription", "description", "platforms"}
    assert re.fullmatch(r"v\d+\.\d+\.\d+(-[\w.-]+)?", spec["version"])
    # Its own advice: more is cut off in a list.
    assert 0 < len(spec["shortDescription"]) <= 50 and "\n" not in spec["shortDescription"]
    (platform,) = spec["platforms"]
    assert set(platform) == {"selector", "uri", "sha256", "bin", "files"}
    assert re.fullmatch("[a-f0-9]{64}", platform["sha256"])
    labels = platform["selector"]["matchLabels"]
    assert labels["os"] in ("linux", "darwin") and labels["arch"] in ("amd64", "arm64")
    # An install: the files that the globs name, and among them the program and a licence.
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "archive", filter="data")
    installed = tmp_path / "installed"
    installed.mkdir()
    for operation in platform["files"]:
        found = list((tmp_path / "archive").glob(operation["from"]))
        assert found, f"nothing is called {operation['from']}"
        for one in found:
            shutil.copy(one, installed / operation["to"])
    assert {one.name for one in installed.iterdir()} == {NAME, "LICENSE"}
    done = subprocess.run([installed / platform["bin"], "--version"], capture_output=True, text=True)
    assert done.stdout.startswith(f"{NAME} "), done.stderr


def test_homebrew_would_take_the_formula(program: str, tmp_path: Path) -> None:
    """What `brew audit` asks of a formula, as far as the text shows it."""
    archive = package(program, tmp_path, RELEASE_URL=URL, HOMEPAGE="https://example.com/")
    # Homebrew makes the name of the class from that of the file.
    formula = (tmp_path / f"{NAME}.rb").read_text()
    assert formula.startswith("class KarpenterPreflight < Formula\n")
    fields = dict(re.findall(r'^  (\w+) "(.*)"$', formula, re.MULTILINE))
    order = ["desc", "homepage", "url", "version", "sha256", "license"]
    assert list(fields) == order
    assert not re.match(r"(?i)(an?|the) |karpenter-preflight", fields["desc"])
    assert len(f"{NAME}: {fields['desc']}") <= 80 and not fields["desc"].endswith(".")
    assert fields["homepage"].startswith("https://") and fields["url"].startswith("https://")
    # A program for one system must not land on another.
    assert re.findall(r"^  depends_on (.*)$", formula, re.MULTILINE) == [
        f"arch: :{ARCHES[archive.name.removesuffix('.tar.gz').split('-')[-1]]}",
        f":{SYSTEMS[sys.platform]}",
    ]
    with tarfile.open(archive) as files:
        names = {name.split("/", 1)[1] for name in files.getnames() if "/" in name}
    for path in re.findall(r'(?:install|Dir\[)(?: |)"([^"]+)"', formula):
        assert fnmatch.filter(names, path), f"the archive has no {path}"
    if ruby := shutil.which("ruby"):
        checked = [ruby, "-wc", tmp_path / f"{NAME}.rb"]
        done = subprocess.run(checked, capture_output=True, text=True)
        assert (done.stdout.strip(), done.stderr) == ("Syntax OK", ""), done.stderr


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
