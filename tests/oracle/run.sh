#!/bin/sh
# Holds the evaluator against the oracle on generated cases, and settles what differs.
#
#   run.sh COUNT SEED EVALUATOR...
#
# EVALUATOR reads cases on standard input and writes decisions, as `karpenter-preflight policy
# simulate` does. ORACLE_MODULES names the node_modules with @cloud-copilot/iam-simulate.
# Works in $OUT (default: a new temporary directory). Exit code 1 if a disagreement is open.
set -eu
here=$(dirname "$0")
count=$1 seed=$2
shift 2
out=${OUT:-$(mktemp -d)}
python3 "$here/generate.py" "$count" "$seed" > "$out/cases.jsonl"
node "$here/oracle.mjs" < "$out/cases.jsonl" > "$out/oracle.jsonl"
"$@" < "$out/cases.jsonl" > "$out/ours.jsonl"
python3 "$here/compare.py" "$out/cases.jsonl" "$out/oracle.jsonl" "$out/ours.jsonl" > "$out/disagree.jsonl"
python3 "$here/settle.py" rewrite "$out/disagree.jsonl" > "$out/rewritten.jsonl"
node "$here/oracle.mjs" < "$out/rewritten.jsonl" > "$out/oracle2.jsonl"
python3 "$here/settle.py" check "$out/disagree.jsonl" "$out/oracle2.jsonl" > "$out/open.jsonl"
