#!/bin/sh
# Check the commands of remedies, read as JSON from standard input; see lint_remedies.py.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("${EMULATOR_PYTHON:-python3}" "$here/ensure_venv.py" requirements.txt requirements-tests.txt)
exec "$python" "$here/lint_remedies.py"
