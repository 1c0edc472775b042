#!/bin/sh
# Start the emulated account; see README.md. Arguments go to `python -m preflight_emulator`.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("$here/venv.sh")
PYTHONPATH=$here exec "$python" -m preflight_emulator "$@"
