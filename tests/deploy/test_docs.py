"""Every command in the README and the documentation is run, against the emulated account."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

EVERY_PAGE = [
    page
    for page in sorted(ROOT.rglob("*.md"))
    if not {".tools", ".venv", "node_modules", "target"} & set(page.relative_to(ROOT).parts)
]
Account = Callable[..., dict[str, str]]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# These are lists that the program itself prints; their commands are held against real
# programs elsewhere.
GENERATED = {"checks.md", "errors.md"}
# Run by other tests, or not to be run on the machine that tests.
NOT_HERE = {
    "bash": "the closed loop runs the scripts that mend",
    "aws": "the emulator's tests run the AWS CLI",
    "cargo": "it was built already",
    "cp": "it changes the machine",
    "helm": "test_helm.py renders the chart",
    "kubectl": "there is no cluster",
    "make": "CI runs what is tested; the demo has a test of its own",
    "systemctl": "it changes the machine",
    "terraform": "test_terraform.py runs it",
}
STAND_INS = {
    **{"C": "demo", "R": "us-west-2", "A": "111122223333", "my-cluster": "demo"},
    # Nothing settles in the emulated account.
    "2m": "5s",
    "5m": "5s",
    # It has no Kubernetes API.
    "check": "check --no-kube",
}
FINE = (0, 1, 3)


def blocks(text: str) -> list[str]:
    """The commands of the blocks that are marked as shell."""
    commands: list[str] = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        commands += block.replace("\\\n", " ").splitlines()
    return [command.strip() for command in commands if command.strip()]


def inline(text: str) -> list[str]:
    """The subcommands that stand in a table, such as `check --cluster C`."""
    tables = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    found = re.findall(r"`((?:check|collect|explain|list|policy|waive) [^`]*)`", tables)
    whole = [command for command in found if "…" not in command and "FILE" not in command]
    return [f"karpenter-preflight {command}" for command in whole]


def stand_in(command: str) -> str:
    words = [STAND_INS.get(word, word) for word in command.split(" ")]
    if "--facts" in words:
        words = [word.removesuffix(" --no-kube") for word in words]
    return " ".join(words)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


# Stands in for the policies that a page's commands read.
ALLOWS_ALL = """{"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "*", "Resource": "*"}]}"""


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    for link in (first or second for first, second in links):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: there is no such heading"


def shown(text: str) -> list[str]:
    """The lines of a run, without what differs from run to run or with every new check."""
    text = re.sub(r"\d+ (pass|warn|fail|unknown|waived|skipped|findings)\b", r"N \1", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "DATE", text)
    text = re.sub(r"\d+ calls in [\d.]+ seconds", "EFFORT", text)
    return [line.rstrip() for line in text.splitlines()]


def test_the_readme_shows_what_make_demo_prints(program: str) -> None:
    """Its lines stand in the output in their order; a line of dots leaves some out."""
    block = re.search(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert block
    demo = ROOT / "tests" / "emulator" / "demo.sh"
    done = subprocess.run([demo, "broken", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = iter(shown(done.stdout))
    for line in shown(block[1]):
        if line and line.strip() != "⋮":
            assert line in printed, f"the demo does not print: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands(page: Path, account: Account, program: str, tmp_path: Path) -> None:
    if page.name in GENERATED:
        pytest.skip("generated")
    text = page.read_text()
    commands = [*blocks(text), *inline(text)]
    ours = [command for command in commands if "karpenter-preflight" in command.split(" ")[0]]
    others = {shlex.split(command, comments=True)[0] for command in commands if command not in ours}
    assert others <= set(NOT_HERE), f"nothing says how these are tested: {others}"
    if not ours:
        return
    (tmp_path / "karpenter-preflight").symlink_to(program)
    environment = account("seeds-broken", "seeds-fixed")
    environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
    environment["HOME"] = str(tmp_path)
    shutil.copy(ROOT / "tests" / "data" / "policies" / "plan.json", tmp_path)
    for name in ("controller", "boundary", "root", "workloads", "regions"):
        (tmp_path / f"{name}.json").write_text(ALLOWS_ALL)
    for command in ours:
        done = subprocess.run(
            ["bash", "-c", stand_in(command)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )
        assert done.returncode in FINE, f"{command}: {done.returncode}: {done.stderr}"
