#!/bin/sh
# Make the private virtual environment if it is absent or out of date; print its python.
# EMULATOR_VENV says where (default: .venv beside this file).
# EMULATOR_PYTHON says with which interpreter (default: python3).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=${EMULATOR_VENV:-$here/.venv}
stamp=$venv/requirements.sha256

wanted() {
    cat "$here/requirements.txt" "$here/constraints.txt" | sha256sum | cut -d ' ' -f 1
}

if [ ! -x "$venv/bin/python" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$(wanted)" ]; then
    echo "emulator: installing into $venv (about a minute, once)" >&2
    rm -f "$stamp"
    "${EMULATOR_PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement "$here/requirements.txt" --constraint "$here/constraints.txt" >&2
    wanted > "$stamp"
fi
echo "$venv/bin/python"
