"""Writes cases for the evaluator and the oracle, one JSON object a line.

    python3 generate.py COUNT SEED > cases.jsonl

The format is that of `policy simulate`. Documents are real ones with changes; requests are
those of Karpenter with changes. The same seed gives the same cases.
"""
import copy
import json
import random
import sys

import bases as b

TEXT = ["StringEquals", "StringNotEquals", "StringLike", "StringNotLike",
        "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase"]
TYPED = {
    "aws:CurrentTime": (["DateGreaterThan", "DateLessThan", "DateLessThanEquals", "DateEquals", "DateNotEquals"],
                        ["2026-01-01T00:00:00Z", "2026-01-01", "1767225600", "2027-01-01T00:00:00+02:00"]),
    "aws:EpochTime": (["NumericGreaterThan", "NumericLessThanEquals", "NumericEquals", "DateLessThan"],
                      ["1767225600", "1800000000"]),
    "aws:SourceIp": (["IpAddress", "NotIpAddress"],
                     ["10.0.0.0/8", "203.0.113.9", "0.0.0.0/0", "2001:db8::/32", "10.1.2.3/32"]),
    "aws:SecureTransport": (["Bool"], ["true", "false", "True"]),
    "aws:ViaAWSService": (["Bool"], ["true", "false"]),
    "aws:MultiFactorAuthAge": (["NumericLessThan", "NumericGreaterThanEquals", "NumericNotEquals"],
                               ["3600", "100", "100.0"]),
    "aws:PrincipalArn": (["ArnLike", "ArnNotLike", "ArnEquals", "ArnNotEquals", "StringLike", "StringEquals"],
                         [b.ROLE, "arn:aws:iam::*:role/*", f"arn:aws:iam::{b.A}:*", "arn:*:role/Karpenter*",
                          "arn:aws:iam::111?22223333:role/Karpenter*", b.SESSION]),
}
SETS = ["aws:TagKeys", "aws:CalledVia", "aws:PrincipalOrgPaths"]
VALUES = ["*", "owned", "Owned", "own*", "?wned", "", b.C, "pro?", "${*}", "${aws:PrincipalTag/team}",
          "${aws:PrincipalTag/eks:eks-cluster-name}", "x-${aws:PrincipalTag/team, 'none'}",
          "${aws:PrincipalTag/missing, 'owned'}", "${aws:PrincipalTag/missing}", "${aws:CalledVia}"]


def maybe_list(r, values):
    return values[0] if len(values) == 1 and r.random() < 0.5 else values


def as_list(x):
    return x if isinstance(x, list) else [x]


def condition(r, keys):
    """One random condition: (operator, key, values)."""
    kind = r.random()
    if kind < 0.3:
        key = r.choice(sorted(TYPED))
        operators, values = TYPED[key]
        operator = r.choice(operators)
    elif kind < 0.5:
        key = r.choice(SETS)
        operator = r.choice(["ForAllValues:", "ForAnyValue:"]) + r.choice(TEXT)
        values = ["Name", "team", b.OWNED, "kubernetes.io/cluster/*", "eks:*", "eks:eks-cluster-name",
                  "karpenter.sh/*", "cloudformation.amazonaws.com", "*.amazonaws.com", "o-1/r-1/ou-1/", "o-1/*"]
    elif kind < 0.6:
        return "Null", r.choice(keys + sorted(b.GLOBALS)), [r.choice(["true", "false"])]
    else:
        key = r.choice(keys + ["aws:RequestedRegion", "aws:PrincipalTag/team", "aws:SourceVpce"])
        operator = r.choice(TEXT)
        values = VALUES + [b.R, "eu-*", "vpce-1"]
    if r.random() < 0.25:
        operator += "IfExists"
    if r.random() < 0.1:
        key = r.choice([key.upper(), key.lower()])
    return operator, key, r.sample(values, min(len(values), r.choice([1, 1, 1, 2, 3])))


def change_action(r, action):
    if action == "*":
        return "*"
    service, _, name = action.partition(":")
    return r.choice([action, action, action.lower(), f"{service}:*", f"{service}:{name[:3]}*",
                     f"{service}:?{name[1:]}", f"{service.upper()}:{name}", "*", f"{service}:*{name[-4:]}"])


def change_resource(r, resource):
    parts = resource.split(":", 5)
    if len(parts) < 6:
        return r.choice(["*", f"arn:aws:ec2:{b.R}:*:*", "arn:aws:*"])
    if r.random() < 0.15:
        # Incomplete, or with a wildcard that would have to reach over a colon.
        return r.choice([":".join(parts[:3]), ":".join(parts[:4]), f"arn:aws:{parts[2]}:*:{parts[5]}",
                         f"arn:aws:{parts[2]}:*{parts[5]}", f"arn:aws:{parts[2]}:*-1:*3:{parts[5]}", "arn:*"])
    place = r.choice([3, 4, 5, 5])
    parts[place] = {3: r.choice(["*", b.R, "eu-*", "us-east-1"]), 4: r.choice(["*", b.A, "", "1111*"]),
                    5: r.choice(["*", parts[5], parts[5].split("/")[0] + "/*", parts[5].upper(),
                                 parts[5][:4] + "*", parts[5].split("/")[0] + "/${aws:PrincipalTag/team}",
                                 parts[5].split("/")[0] + "/?-*"])}[place]
    return ":".join(parts)


def change_statement(r, s, keys):
    what = r.random()
    if what < 0.15:
        s["Effect"] = "Deny" if s["Effect"] == "Allow" else "Allow"
    elif what < 0.35 and "Action" in s:
        actions = [change_action(r, a) if r.random() < 0.5 else a for a in as_list(s["Action"])]
        s["Action"] = maybe_list(r, actions)
        if r.random() < 0.25:
            s["NotAction"] = s.pop("Action")
    elif what < 0.55 and "Resource" in s:
        resources = [change_resource(r, x) if r.random() < 0.5 else x for x in as_list(s["Resource"])]
        s["Resource"] = maybe_list(r, resources)
        if r.random() < 0.2:
            s["NotResource"] = s.pop("Resource")
    elif what < 0.65:
        s.pop("Condition", None)
    elif what < 0.8 and s.get("Condition"):
        operator = r.choice(sorted(s["Condition"]))
        key = r.choice(sorted(s["Condition"][operator]))
        value = s["Condition"][operator].pop(key)
        if not s["Condition"][operator]:
            del s["Condition"][operator]
        if r.random() < 0.5:
            base = operator.split(":")[-1]
            if base in TEXT:
                operator = operator.replace(base, r.choice(TEXT)) + r.choice(["", "IfExists"])
        else:
            value = r.sample(VALUES, r.choice([1, 2])) if not operator.startswith(("Null", "Bool", "Num", "Date", "Arn", "Ip", "NotIp")) else value
        s["Condition"].setdefault(operator, {})[key] = value
    else:
        for _ in range(r.choice([1, 1, 2])):
            operator, key, values = condition(r, keys)
            s.setdefault("Condition", {}).setdefault(operator, {})[key] = maybe_list(r, values)


def change(r, document, request, much=1.0):
    document = copy.deepcopy(document)
    keys = sorted(request[2]) or ["aws:RequestedRegion"]
    keys = [k for k in keys if k != "aws:TagKeys"] or ["aws:RequestedRegion"]
    # Changes go first to the statements that are about the request.
    near = [s for s in document["Statement"] if request[0] in as_list(s.get("Action", []))]
    for _ in range(r.choice([0, 1, 1, 2, 3]) if r.random() < much else 0):
        change_statement(r, r.choice(near or document["Statement"]), keys)
    if r.random() < 0.1 and near:
        extra = copy.deepcopy(r.choice(near))
        extra["Sid"] = "Extra"
        if "Principal" in extra:
            del extra["Sid"]
        extra["Effect"] = "Deny"
        change_statement(r, extra, keys)
        document["Statement"].append(extra)
    if r.random() < 0.06:
        document["Version"] = "2008-10-17"
    elif r.random() < 0.03:
        del document["Version"]
    if len(document["Statement"]) == 1 and r.random() < 0.5:
        document["Statement"] = document["Statement"][0]
    return document


def context(r, base):
    c = copy.deepcopy(base)
    for key, values in b.GLOBALS.items():
        if r.random() < (0.9 if key == "aws:RequestedRegion" else 0.4):
            c[key] = r.choice(values)
    for _ in range(r.choice([0, 0, 1, 2])):
        key = r.choice(sorted(c) or ["aws:RequestedRegion"])
        how = r.random()
        if key not in c:
            continue
        if how < 0.4:
            del c[key]
        elif how < 0.7 and isinstance(c[key], str) and "/" in key:
            c[key] = r.choice(["", "other", c[key].upper(), c[key] + "x", "*"])
        elif isinstance(c[key], list):
            c[key] = r.choice([c[key] + ["team"], c[key][:1], [], ["Name"]])
        else:
            c[r.choice([key.upper(), key.lower()])] = c.pop(key)
    return c


def case(r, number):
    request = r.choice(b.REQUESTS)
    action, resource, base = request
    home = r.random() < 0.93
    c = {"id": number,
         "request": {"principal": b.SESSION, "action": action, "resource": resource,
                     "accountId": b.A if home else "444455556666",
                     # The session's role, as AWS puts it in the context.
                     "context": {**context(r, base), "aws:PrincipalArn": b.ROLE}},
         "identityPolicies": [{"name": f"p{i}", "policy": change(r, d, request)}
                              for i, d in enumerate(r.sample(b.IDENTITY, r.choice([1, 1, 1, 2])))]}
    if resource == b.QUEUE and r.random() < 0.3:
        c["request"]["principal"] = b.USER
        c["request"]["context"]["aws:PrincipalArn"] = b.USER
    if r.random() < 0.2:
        c["boundary"] = change(r, r.choice(b.IDENTITY + [b.FULL] * 4), request)
    if r.random() < 0.1 and c["request"]["principal"] == b.SESSION:
        c["sessionPolicy"] = change(r, r.choice(b.IDENTITY + [b.FULL] * 4), request)
    if r.random() < 0.25:
        c["scps"] = [[copy.deepcopy(b.FULL)] + ([change(r, r.choice(b.SCPS), request, 0.5)] if r.random() < 0.7 else [])
                     for _ in range(r.choice([1, 2, 3]))]
        if r.random() < 0.1:
            c["scps"][-1] = [change(r, b.SCPS[-1], request, 0.5)]
    if resource == b.QUEUE or not home:
        if r.random() < 0.7:
            c["resourcePolicy"] = change(r, r.choice(b.RESOURCE), request, 0.6)
        if r.random() < 0.3:
            c["rcps"] = [[change(r, r.choice(b.RCPS), request, 0.3)]]
    return c


def main():
    count, seed = int(sys.argv[1]), sys.argv[2]
    for number in range(count):
        # A case depends on its own number alone, so that one can be made again by itself.
        r = random.Random(f"{seed}/{number}")
        print(json.dumps(case(r, number), separators=(",", ":")))


if __name__ == "__main__":
    main()
