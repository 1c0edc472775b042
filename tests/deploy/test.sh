#!/bin/sh
# Test what is under deploy/ with the real tools: test.sh PROGRAM. More arguments go to pytest.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
PREFLIGHT_PROGRAM=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
shift
export PREFLIGHT_PROGRAM
emulator=$here/../emulator
python=$("${EMULATOR_PYTHON:-python3}" "$emulator/ensure_venv.py" requirements.txt requirements-tests.txt ../deploy/requirements-deploy.txt)
cd "$here"
PYTHONPATH=$emulator exec "$python" -m pytest "$@"
