#!/bin/sh
# Start the emulated account; see README.md. Arguments go to `python -m preflight_emulator`.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("${EMULATOR_PYTHON:-python3}" "$here/ensure_venv.py" requirements.txt)
PYTHONPATH=$here exec "$python" -m preflight_emulator "$@"
