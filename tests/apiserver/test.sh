#!/bin/sh
# Run the program against a real kube-apiserver: test.sh PROGRAM. More arguments go to pytest.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
PREFLIGHT_PROGRAM=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
shift
code=0
APISERVER=$("$here/build.sh") || code=$?
if [ "$code" -eq 77 ]; then
    echo "SKIPPED: the test against a real kube-apiserver, for want of one"
    exit 0
elif [ "$code" -ne 0 ]; then
    exit "$code"
fi
export PREFLIGHT_PROGRAM APISERVER
emulator=$here/../emulator
python=$("${EMULATOR_PYTHON:-python3}" "$emulator/ensure_venv.py" requirements.txt requirements-tests.txt)
cd "$here"
PYTHONPATH=$emulator exec "$python" -m pytest "$@"
