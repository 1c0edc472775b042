#!/usr/bin/env bash
# Shows karpenter-preflight on an emulated account: demo.sh broken|fixed PROGRAM.
# Starts the account on loopback, sets it up, judges it over HTTP, and leaves nothing running.
set -euo pipefail
state=$1
program=$2
here=$(cd -- "$(dirname -- "$0")" && pwd)
cluster=demo
region=us-west-2

# The account ends when this script does: its standard input is ours.
coproc EMULATOR { exec "$here/start.sh" --until-stdin-closes; }
if ! read -r -u "${EMULATOR[0]}" ready; then
    echo "the emulated account did not start: see tests/emulator/README.md" >&2
    exit 1
fi
endpoint=$(sed -E 's/.*"endpoint": *"([^"]+)".*/\1/' <<<"$ready")

seed() { "$here/seed.sh" "$1" --endpoint "$endpoint" --cluster "$cluster" --region "$region" >/dev/null; }
seed seeds-broken
version=1.0.6
if [ "$state" = fixed ]; then
    seed seeds-fixed
    # Part of mending is an upgrade: 1.0 is too old for the cluster's Kubernetes version.
    version=1.14.1
fi

export AWS_ENDPOINT_URL=$endpoint AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo
export AWS_REGION=$region AWS_EC2_METADATA_DISABLED=true
unset AWS_PROFILE AWS_SESSION_TOKEN
# The emulated account has no API server: what only the cluster says is skipped.
command=(check --cluster "$cluster" --no-kube --karpenter-version "$version" --interruption-queue "$cluster")
echo "\$ karpenter-preflight ${command[*]}"
echo
code=0
"$program" "${command[@]}" || code=$?
echo
echo "exit code $code"
# The broken account is meant to fail, the mended one to pass.
if [ "$state" = broken ]; then [ "$code" -eq 1 ]; else [ "$code" -eq 0 ]; fi
