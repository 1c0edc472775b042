#!/bin/sh
# Seed an account: seed.sh NAME --endpoint URL [--cluster NAME] [--region R]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("$here/venv.sh")
PYTHONPATH=$here exec "$python" -m preflight_emulator.seed "$@"
