"""Holds the evaluator's decisions against the oracle's.

    python3 compare.py cases.jsonl oracle.jsonl ours.jsonl

Prints every disagreement as one line of JSON, and the figures on standard error. Cases that
the oracle refuses (it checks actions and resources against AWS's service data) do not count.
"""
import collections
import json
import sys


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


def main():
    cases, oracle, ours = (lines(path) for path in sys.argv[1:4])
    assert len(cases) == len(oracle) == len(ours), "one decision a case"
    figures = collections.Counter()
    for c, o, u in zip(cases, oracle, ours):
        assert c["id"] == o["id"] == u["id"]
        if o["decision"] == "error":
            figures["refused by the oracle"] += 1
            continue
        figures["compared"] += 1
        if o["decision"] == u["decision"]:
            figures[f"agree: {o['decision']}"] += 1
            continue
        figures["disagree"] += 1
        print(json.dumps({"oracle": o["decision"], "ours": u["decision"], "message": u["message"], "case": c}))
    for name, number in sorted(figures.items()):
        print(f"{number:7} {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
