#!/bin/sh
# Run the emulator's own tests. Arguments go to pytest.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("${EMULATOR_PYTHON:-python3}" "$here/ensure_venv.py" requirements.txt requirements-tests.txt)
cd "$here"
PYTHONPATH=$here exec "$python" -m pytest "$@"
