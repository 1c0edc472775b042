"""Chooses decisions to keep as data, so that a test needs no oracle.

    python3 pick.py DIR COUNT cases > picked.jsonl           (DIR is run.sh's $OUT)
    python3 pick.py DIR COUNT ask picked.jsonl               (what to ask the oracle)
    python3 pick.py DIR COUNT decide picked.jsonl answers.jsonl > decisions.jsonl

A case is cut down to the statements about its action and the context keys that they name. It is
kept only if the oracle decides the cut case (or, where the whole one had to be settled, its
rewriting) as the whole one was decided.
"""
import collections
import copy
import fnmatch
import json
import sys

from settle import as_list, documents, lines, rewrite


def about(statement, action):
    if "NotAction" in statement:
        return True
    return any(fnmatch.fnmatchcase(action.lower(), a.lower()) for a in as_list(statement["Action"]))


def cut(case):
    case = copy.deepcopy(case)
    for d in documents(case):
        near = [s for s in as_list(d["Statement"]) if about(s, case["request"]["action"])]
        d["Statement"] = near if len(near) != 1 or isinstance(d["Statement"], list) else near[0]
        if not near:
            d["Statement"] = as_list(d["Statement"])[:1] or [
                {"Effect": "Allow", "Action": "none:None", "Resource": "*"}]
    text = json.dumps(list(documents(case))).lower()
    context = case["request"]["context"]
    case["request"]["context"] = {k: v for k, v in context.items() if k.lower() in text}
    return case


def kind(case, decision):
    """What a case exercises: one case of each kind is enough."""
    operators = {o for d in documents(case) for s in as_list(d["Statement"]) for o in s.get("Condition", {})}
    layers = tuple(k for k in ("boundary", "sessionPolicy", "scps", "rcps", "resourcePolicy") if k in case)
    negated = any(k.startswith("Not") for d in documents(case) for s in as_list(d["Statement"]) for k in s)
    return (case["request"]["action"].split(":")[0], decision, layers, tuple(sorted(operators))[:2], negated)


def main():
    out, count, step = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    cases = lines(f"{out}/cases.jsonl")
    ours = {u["id"]: u["decision"] for u in lines(f"{out}/ours.jsonl")}
    oracle = {o["id"]: o["decision"] for o in lines(f"{out}/oracle.jsonl")}
    open_ones = {d["case"]["id"] for d in lines(f"{out}/open.jsonl")}
    if step == "cases":
        seen = collections.Counter()
        kept = 0
        by_size = sorted(cases, key=lambda c: (ours[c["id"]] == oracle[c["id"]], c["id"]))
        for c in by_size:
            i = c["id"]
            if oracle[i] == "error" or i in open_ones:
                continue
            small = cut(c)
            k = kind(small, ours[i])
            text = json.dumps(small)
            if seen[k] or len(text) > 2000 or kept == count:
                continue
            seen[k] += 1
            # Half of the room at most for what was settled.
            if ours[i] != oracle[i]:
                if seen["settled"] >= count // 4:
                    continue
                seen["settled"] += 1
                small = {**small, "rewrite": True}
            kept += 1
            print(json.dumps(small))
        return
    if step == "ask":
        for small in lines(sys.argv[4]):
            print(json.dumps(rewrite(small)[0] if small.pop("rewrite", False) else small))
        return
    for small, o in zip(lines(sys.argv[4]), lines(sys.argv[5]), strict=True):
        settled = small.pop("rewrite", False)
        if o["decision"] != ours[small["id"]]:
            continue
        row = {"decision": ours[small["id"]], "case": small}
        if settled:
            row["settled"] = rewrite(small)[1]
        print(json.dumps(row, separators=(",", ":")))


if __name__ == "__main__":
    main()
