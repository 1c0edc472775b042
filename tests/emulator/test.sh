#!/bin/sh
# Run the emulator's own tests. Arguments go to pytest.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("$here/venv.sh")
cd "$here"
PYTHONPATH=$here exec "$python" -m pytest "$@"
