"""Settles disagreements with the oracle by AWS's documentation.

    python3 settle.py rewrite disagreements.jsonl > rewritten.jsonl
    python3 settle.py check disagreements.jsonl oracle-on-rewritten.jsonl

Where the oracle departs from what AWS documents, the case is written anew in a form that by
that documentation means the same and that the oracle reads as AWS does. If the oracle then
decides as we did on the case as it was, the disagreement is settled. What is left is printed,
and the exit code is 1.

Each rewriting has a row in the tests of src/iam. Sources, all below
https://docs.aws.amazon.com/IAM/latest/UserGuide/:
"""
import collections
import copy
import datetime
import json
import re
import sys

NEGATED = re.compile(r"^(?:For\w+:)?(?:String|Arn)Not", re.I)
VARIABLE = re.compile(r"\$\{([^}*?$,]+?)(?:, *'([^']*)')?\}")
NOTHING = "no value at all"


def as_list(x):
    return x if isinstance(x, list) else [x]


def documents(case):
    """Every document of the case."""
    for key in ("identityPolicies", "vpcePolicies"):
        for p in case.get(key, []):
            yield p.get("policy", p)
    for key in ("boundary", "sessionPolicy", "resourcePolicy"):
        if key in case:
            yield case[key]
    for key in ("scps", "rcps"):
        for level in case.get(key, []):
            yield from (p.get("policy", p) for p in level)


def statements(case):
    for d in documents(case):
        for s in as_list(d["Statement"]):
            yield d, s


def value(case, key):
    """The one value of a context key, or None. An empty value and a list are none."""
    context = {k.lower(): v for k, v in case["request"]["context"].items()}
    found = context.get(key.strip().lower())
    return found if isinstance(found, str) and found else None


def inverted(case):
    """reference_policies_variables.html: inverted operators match a variable without a value."""
    done = False
    for d, s in statements(case):
        if d.get("Version") != "2012-10-17":
            continue
        for operator, keys in s.get("Condition", {}).items():
            for key, wanted in keys.items() if NEGATED.match(operator) else []:
                new = [NOTHING if any(value(case, n) is None and not default for n, default in VARIABLE.findall(w))
                       else w for w in as_list(wanted)]
                if new != as_list(wanted):
                    keys[key] = new
                    done = True
    return done


def in_resource(case):
    """reference_policies_variables.html: variables and defaults in the last part of a Resource."""
    done = False
    for d, s in statements(case):
        if d.get("Version") != "2012-10-17":
            continue
        for element in ("Resource", "NotResource"):
            if element not in s:
                continue
            put = lambda m: (value(case, m.group(1)) or m.group(2) or NOTHING)
            new = [VARIABLE.sub(put, text) for text in as_list(s[element])]
            if new != as_list(s[element]):
                s[element] = new
                done = True
    return done


def whole_range(case):
    """reference_policies_elements_condition_operators.html: CIDR; /0 is every address."""
    done = False
    for _, s in statements(case):
        for operator, keys in s.get("Condition", {}).items():
            for key, wanted in keys.items() if "IpAddress" in operator else []:
                if "0.0.0.0/0" in as_list(wanted):
                    keys[key] = [w for w in as_list(wanted) if w != "0.0.0.0/0"] + ["0.0.0.0/1", "128.0.0.0/1"]
                    done = True
    return done


def epoch(case):
    """reference_policies_elements_condition_operators.html: dates in ISO 8601 or epoch time."""
    done = False
    for _, s in statements(case):
        for operator, keys in s.get("Condition", {}).items():
            for key, wanted in keys.items() if "Date" in operator else []:
                new = [datetime.datetime.fromtimestamp(int(w), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                       if str(w).isdigit() else w for w in as_list(wanted)]
                if new != as_list(wanted):
                    keys[key] = new
                    done = True
    return done


def no_resource(case):
    """reference_policies_elements_resource.html: an action without resources has the resource
    `*`, which no ARN pattern matches, so that NotResource with ARNs alone covers it."""
    done = False
    for _, s in statements(case):
        if case["request"]["resource"] == "*" and "NotResource" in s and "*" not in as_list(s["NotResource"]):
            del s["NotResource"]
            s["Resource"] = "*"
            done = True
    return done


def no_values(case):
    """reference_policies_condition-single-vs-multi-valued-context-keys.html: a key without
    values counts as absent."""
    context = case["request"]["context"]
    empty = [k for k, v in context.items() if v == []]
    for key in empty:
        del context[key]
    return bool(empty)


def literal_variables(case):
    """reference_policies_variables.html: before 2012-10-17, variables are plain text (and no
    value of a request reads like one)."""
    done = False
    for d, s in statements(case):
        if d.get("Version") == "2012-10-17":
            continue
        for keys in s.get("Condition", {}).values():
            for key, wanted in keys.items():
                new = [NOTHING if "${" in str(w) else w for w in as_list(wanted)]
                if new != as_list(wanted):
                    keys[key] = new
                    done = True
    return done


def colons(case):
    """reference_policies_elements_resource.html and reference_identifiers.html: a `*` at the end
    of a part reaches over colons, any other does not; an incomplete ARN is completed."""
    done = False
    for _, s in statements(case):
        for element in ("Resource", "NotResource"):
            if element not in s:
                continue
            new = []
            for text in as_list(s[element]):
                parts = text.split(":")
                if parts[0] == "arn" and len(parts) < 6:
                    at = next((i for i, part in enumerate(parts) if i > 1 and part.endswith("*")), len(parts) - 1)
                    parts[at + 1:at + 1] = ["*"] * (6 - len(parts))
                new.append(":".join(parts))
            if new != as_list(s[element]):
                s[element] = new
                done = True
    return done


def other_family(case):
    """reference_policies_elements_condition_operators.html: NotIpAddress is every address but
    those within the range, so also those of the other family."""
    sent = value(case, "aws:SourceIp") or ""
    done = False
    for _, s in statements(case):
        for operator, keys in s.get("Condition", {}).items():
            for key, wanted in keys.items() if "NotIpAddress" in operator else []:
                nowhere = "fd00::1" if ":" in sent else "192.0.2.255"
                new = [w if (":" in w) == (":" in sent) else nowhere for w in as_list(wanted)]
                if sent and new != as_list(wanted):
                    keys[key] = new
                    done = True
    return done


def escapes(case):
    """reference_policies_variables.html: `${*}` is the character itself, so also in operators
    that know no wildcards."""
    done = False
    for d, s in statements(case):
        if d.get("Version") != "2012-10-17":
            continue
        for operator, keys in s.get("Condition", {}).items():
            for key, wanted in keys.items() if "Equals" in operator and "String" in operator else []:
                new = [w.replace("${*}", "*") for w in as_list(wanted)]
                if new != as_list(wanted):
                    keys[key] = new
                    done = True
    return done


def no_arn(case):
    """reference_policies_elements_condition_operators.html: the six parts of an ARN are compared
    one by one; what has not six parts matches no ARN, and the negated operators negate that."""
    done = False
    for _, s in statements(case):
        for operator, keys in s.get("Condition", {}).items():
            for key, wanted in keys.items() if "ArnNot" in operator else []:
                new = [w if w.count(":") >= 5 else "arn:aws:none:::none" for w in as_list(wanted)]
                if new != as_list(wanted):
                    keys[key] = new
                    done = True
    return done


def any_type(case):
    """ExamplePolicies_EC2.html in the EC2 guide: `*/*` is a resource of any type."""
    kind = case["request"]["resource"].split(":")[-1].split("/")[0]
    done = False
    for _, s in statements(case):
        for element in ("Resource", "NotResource"):
            new = [w.replace(":*/", f":{kind}/") for w in as_list(s.get(element, []))]
            if new != as_list(s.get(element, [])):
                s[element] = new
                done = True
    return done


def not_principal(case):
    """reference_policies_elements_notprincipal.html: a deny spares a caller only if its account,
    role and session are all listed. An allow (which AWS advises against) is read to leave out a
    caller of whom any is listed."""
    principal = case["request"]["principal"]
    account = principal.split(":")[4]
    names = {principal, account}
    if ":assumed-role/" in principal:
        names.add(f"arn:aws:iam::{account}:role/{principal.split('/')[1]}")
    done = False
    for s in as_list(case.get("resourcePolicy", {}).get("Statement", [])):
        if "NotPrincipal" not in s:
            continue
        listed = {p.replace("arn:aws:iam::", "").removesuffix(":root") if p.endswith(":root") else p
                  for p in as_list(s.pop("NotPrincipal")["AWS"])}
        applies = not names <= listed if s["Effect"] == "Deny" else not names & listed
        s["Principal"] = "*" if applies else {"AWS": "999999999999"}
        done = True
    return done


def direct(case):
    """reference_policies_evaluation-logic_policy-eval-denyallow.html: what a resource policy
    gives the session itself, or everyone, no session policy limits. Here the session policy is
    made to allow all, and nothing else is left that could allow."""
    grants = [s for s in as_list(case.get("resourcePolicy", {}).get("Statement", []))
              if s["Effect"] == "Allow" and
              (s.get("Principal") == "*" or case["request"]["principal"] in str(s.get("Principal")))]
    if not grants or "sessionPolicy" not in case:
        return False
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    case["sessionPolicy"]["Statement"] = as_list(case["sessionPolicy"]["Statement"]) + [everything]
    for p in case["identityPolicies"]:
        denies = [s for s in as_list(p["policy"]["Statement"]) if s["Effect"] == "Deny"]
        p["policy"]["Statement"] = denies or [{"Effect": "Deny", "Action": "none:None", "Resource": "*"}]
    return True


REWRITINGS = [inverted, in_resource, whole_range, epoch, no_resource, no_values, literal_variables,
              colons, other_family, escapes, no_arn, any_type, not_principal, direct]


def rewrite(case):
    case = copy.deepcopy(case)
    names = [f.__name__ for f in REWRITINGS if f(case)]
    return case, names


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


def main():
    disagreements = lines(sys.argv[2])
    if sys.argv[1] == "rewrite":
        for d in disagreements:
            print(json.dumps(rewrite(d["case"])[0]))
        return
    settled = collections.Counter()
    open_ones = 0
    for d, o in zip(disagreements, lines(sys.argv[3]), strict=True):
        assert d["case"]["id"] == o["id"]
        _, names = rewrite(d["case"])
        if names and o["decision"] == d["ours"]:
            settled[" + ".join(names)] += 1
        else:
            open_ones += 1
            print(json.dumps({**d, "oracle on rewritten": o["decision"], "rewritten": names}))
    for name, number in settled.most_common():
        print(f"{number:7} settled: {name}", file=sys.stderr)
    print(f"{open_ones:7} open", file=sys.stderr)
    sys.exit(1 if open_ones else 0)


if __name__ == "__main__":
    main()
