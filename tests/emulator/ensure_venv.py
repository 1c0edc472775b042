"""Make the private virtual environment if it is absent or out of date; print its python.

Usage: ``ensure_venv.py [requirements file …]``. Only the standard library: this runs before
anything is installed. EMULATOR_VENV says where (default: ``.venv`` beside this file).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONSTRAINTS = HERE / "constraints.txt"
OLDEST_PYTHON = (3, 10)


def main(names: list[str]) -> None:
    if sys.version_info < OLDEST_PYTHON:
        sys.exit("emulator: Python 3.10 or newer is needed")
    place = Path(os.environ.get("EMULATOR_VENV") or HERE / ".venv").absolute()
    place.mkdir(parents=True, exist_ok=True)
    python = place / "bin" / "python"
    with open(place / "install.lock", "w") as lock:
        # Test processes start side by side: one installs, the others wait.
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in names:
            install(place, python, HERE / name)
    print(python)


def install(place: Path, python: Path, requirements: Path) -> None:
    stamp = place / f"{requirements.stem}.sha256"
    wanted = hashlib.sha256(requirements.read_bytes() + CONSTRAINTS.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"emulator: installing {requirements.name} into {place} (once)", file=sys.stderr)
    stamp.unlink(missing_ok=True)
    if not python.exists():
        venv.create(place, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    files = ["--requirement", requirements, "--constraint", CONSTRAINTS]
    subprocess.run([*pip, *files], check=True, stdout=sys.stderr)
    stamp.write_text(wanted)


if __name__ == "__main__":
    main(sys.argv[1:])
