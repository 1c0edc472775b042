#!/usr/bin/env bash
# Opens the HTML report in a headless browser: test.sh PROGRAM [FOLDER FOR SCREENSHOTS]
# Needs Chromium, Node and npm; where one is missing it says so and ends well.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "$1")
pictures=${2:-}

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
for needed in "${browser:-chromium}" node npm; do
    if ! command -v "$needed" >/dev/null; then
        echo "SKIPPED: the HTML report was not opened in a browser: there is no $needed" >&2
        exit 0
    fi
done

modules=$PWD/.tools/browser
npm install --silent --no-save --prefix "$modules" puppeteer-core@25.16.0 axe-core@4.14.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests/browser/pages.py "$program" "$work"
export NODE_PATH=$modules/node_modules
node tests/browser/test.cjs "$browser" "$work" "$pictures"
