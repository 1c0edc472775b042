"""Runs the emulated account beside a test."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextlib.contextmanager
def emulator() -> Iterator[str]:
    """Starts it, gives its endpoint, and ends it: it lives as long as its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-m", "preflight_emulator", "--until-stdin-closes"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    yield json.loads(process.stdout.readline())["endpoint"]
    process.stdin.close()
    assert process.wait(timeout=10) == 0
