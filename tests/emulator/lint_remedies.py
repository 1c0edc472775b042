"""Hold what reports tell people to run against the programs that are to run it.

Reads a JSON list of ``{"name", "script", "remedies": [{"words", "steps"}]}`` from standard input
and prints what is wrong, one line each. Nothing is called: the AWS CLI checks its parameters
against the service models that it comes with, and is stopped before it sends them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awscli.clidriver

PROGRAMS = ("aws", "eksctl", "helm", "karpenter-preflight", "kubectl")
SHELLCHECK = Path(sys.executable).parent / "shellcheck"
# A word in capitals with an underscore is a blank that the script would not know, unless it is
# one of these: values of the APIs, and names of settings.
CAPITALS = re.compile(r"\b[A-Z]{2,}(?:_[A-Z]+)+\b")
KNOWN = {
    "API_AND_CONFIG_MAP",
    "ASSUME_ROLE_ARN",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "CLUSTER_ENDPOINT",
    "CLUSTER_NAME",
    "CONFIG_MAP",
    "EC2_LINUX",
    "EC2_WINDOWS",
    "ENABLE_POD_ENI",
    "ENI_CONFIG_LABEL_DEF",
    "FEATURE_GATES",
    "INTERRUPTION_QUEUE",
    "ISOLATED_VPC",
    "RESERVED_ENIS",
}


def main() -> None:
    reports = json.load(sys.stdin)
    faults: list[str] = []
    commands: dict[str, dict[str, str]] = {}
    for report in reports:
        faults += [f"{report['name']}: {line}" for line in shellcheck(report["script"])]
        for remedy in report["remedies"]:
            documents: dict[str, str] = {}
            for step in remedy["steps"]:
                if step["kind"] == "document":
                    documents[step["file"]] = step["document"]
                    faults += not_json(step)
                else:
                    commands.setdefault(step["command"], dict(documents))
    for command, documents in commands.items():
        faults += [f"{command}\n    {fault}" for fault in faults_of(command, documents)]
    print("\n".join(faults))
    print(f"{len(commands)} commands, {len(reports)} scripts", file=sys.stderr)
    sys.exit(bool(faults))


def shellcheck(script: str) -> list[str]:
    command = [str(SHELLCHECK), "--shell", "bash", "--format", "gcc", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True)
    return done.stdout.splitlines()


def not_json(step: dict[str, Any]) -> list[str]:
    if not step["file"].endswith(".json"):
        return []
    try:
        json.loads(step["document"])
    except ValueError as error:
        return [f"{step['file']} is no JSON: {error}"]
    return []


def faults_of(command: str, documents: dict[str, str]) -> Iterator[str]:
    done = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True)
    if done.returncode:
        yield f"the shell does not take it: {done.stderr.strip()}"
        return
    for word in CAPITALS.findall(command):
        if word not in KNOWN and not word.startswith("FILL_IN_"):
            yield f"{word} looks like a blank: call it FILL_IN_{word}"
    simple = simple_commands(command)
    if not simple:
        yield "no known program is in it"
    for words in simple:
        if words[0] == "aws":
            yield from aws_faults(words[1:], documents)


def simple_commands(command: str) -> list[list[str]]:
    """The commands of known programs in a command line, loops and substitutions included."""
    words = command.split(maxsplit=1)
    if words[0] in PROGRAMS and "$(" not in command and "|" not in command:
        return [shlex.split(command)]
    # One command whose last word another one gives.
    outer, _, last = command.partition(' "$(')
    if words[0] in PROGRAMS and last.endswith(')"') and "$(" not in last and "|" not in command:
        return [shlex.split(f"{outer} given"), shlex.split(last.removesuffix(')"'))]
    # What the shell would put in stands for itself: an id, a name.
    inner = re.findall(rf"\b(?:{'|'.join(PROGRAMS)}) [^;|)]*", command)
    return [shlex.split(one.rstrip('"').replace('"$(', "")) for one in inner]


def aws_faults(arguments: list[str], documents: dict[str, str]) -> Iterator[str]:
    """What the AWS CLI says of the parameters, without a call."""
    if "wait" in arguments[:2]:
        return
    iam_has_no_region = arguments[0] in ("iam", "organizations", "sts", "route53")
    if not iam_has_no_region and "--region" not in arguments:
        yield "it names no region"
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in documents.items():
            Path(name).write_text(text)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                driver = awscli.clidriver.create_clidriver()
                driver.session.register("before-call", answered)
                code = driver.main(without_output(arguments))
            except SystemExit as end:
                code = end.code
    if code:
        yield said.getvalue().strip().splitlines()[-1]


def answered(**_: Any) -> tuple[Any, dict[str, Any]]:
    """An empty answer, instead of a call."""
    return SimpleNamespace(status_code=200), {}


def without_output(arguments: list[str]) -> list[str]:
    """A query over a made-up answer tells nothing."""
    kept: list[str] = []
    for word in arguments:
        if kept and kept[-1] in ("--query", "--output"):
            kept.pop()
        else:
            kept.append(word)
    return kept


if __name__ == "__main__":
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        os.environ.pop(name, None)
    os.environ.update(
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
        AWS_EC2_METADATA_DISABLED="true",
        AWS_DEFAULT_REGION="us-west-2",
        AWS_ACCESS_KEY_ID="AKIAIOSFODNN7EXAMPLE",
        AWS_SECRET_ACCESS_KEY="secret",
    )
    main()
