#!/usr/bin/env python3
"""Pack a built program as a Python wheel: wheel.py PROGRAM FOLDER.

`pip install` of it puts the program on the PATH. The wheel holds no Python: it is tagged with the
platform that the program needs, by the newest glibc symbol that it asks for. The same input gives
the same bytes; SOURCE_DATE_EPOCH dates what is in it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "karpenter-preflight"
MODULE = "karpenter_preflight"
# A zip knows no time before 1980.
EARLIEST = 315_532_800


def tags(program: bytes) -> list[str]:
    """Where the program runs: on any Linux of this machine if it needs no C library."""
    machine = platform.machine()
    if sys.platform == "darwin":
        return [f"macosx_11_0_{machine}"]
    minors = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", program)]
    if minors:
        return [f"manylinux_2_{max(max(minors), 17)}_{machine}"]
    return [f"manylinux_2_17_{machine}", f"musllinux_1_1_{machine}"]


def metadata(version: str) -> str:
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            f"Name: {NAME}",
            f"Version: {version}",
            "Summary: Says what in an AWS account will stop Karpenter or EKS Auto Mode from working",
            "License: Apache-2.0",
            "Classifier: Environment :: Console",
            "Classifier: Programming Language :: Rust",
            "Description-Content-Type: text/markdown",
            "",
            (ROOT / "README.md").read_text(),
        ]
    )


def wheel(platforms: list[str]) -> str:
    lines = ["Wheel-Version: 1.0", f"Generator: {NAME}", "Root-Is-Purelib: false"]
    return "\n".join(lines + [f"Tag: py3-none-{one}" for one in platforms]) + "\n"


def record(files: dict[str, bytes]) -> str:
    def digest(content: bytes) -> str:
        raw = hashlib.sha256(content).digest()
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    return "".join(f"{name},sha256={digest(of)},{len(of)}\n" for name, of in files.items())


def main(program: Path, folder: Path) -> None:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = said.stdout.split()[1]
    content = program.read_bytes()
    platforms = tags(content)
    script = f"{MODULE}-{version}.data/scripts/{NAME}"
    about = f"{MODULE}-{version}.dist-info"
    files = {
        script: content,
        f"{about}/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{about}/METADATA": metadata(version).encode(),
        f"{about}/WHEEL": wheel(platforms).encode(),
    }
    files[f"{about}/RECORD"] = f"{record(files)}{about}/RECORD,,\n".encode()
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), EARLIEST))[:6]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{MODULE}-{version}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, of in files.items():
            entry = zipfile.ZipInfo(name, date)
            # pip runs only what is marked as a regular file.
            mode = 0o755 if name == script else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, of, zipfile.ZIP_DEFLATED)
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
