#!/usr/bin/env python3
"""Makes the pages to open: pages.py PROGRAM FOLDER."""

import json
import subprocess
import sys
from pathlib import Path

WAIVER = """
[[waiver]]
check = "kubernetes-version"
reason = "the upgrade is planned"
owner = "team-a"
until = 2999-12-31

[[waiver]]
check = "queue-exists"
reason = "nobody knows any more"
"""
ACCOUNTS = Path(__file__).parent.parent / "data" / "accounts"


def problems(facts: dict) -> None:
    """One gap in most areas, and something that could not be read."""
    subnets = facts["facts"]["discovered_subnets"]["known"]
    subnets[0]["free_addresses"] = 0
    subnets[1]["free_addresses"] = 9
    facts["facts"]["access_entries"] = {"known": {}}
    facts["facts"]["spot_role"] = {"denied": {"action": "iam:GetRole", "message": "no"}}
    facts["facts"]["imds_defaults"]["known"]["instance_metadata_tags"] = "enabled"
    facts["scope"]["karpenter_version"] = "1.0.6"
    for role in facts["facts"]["roles"].values():
        if "known" in role and "Node" in role["known"]["name"]:
            role["known"]["trust"] = json.dumps({"Version": "2012-10-17", "Statement": []})


def big(facts: dict) -> None:
    """A large account: sixty subnets of which many are full, and a cluster that says nothing."""
    problems(facts)
    subnets = facts["facts"]["discovered_subnets"]["known"]
    pattern = subnets[2]
    for number in range(4, 61):
        free = [0, 3, 17, 40, 900, 4000][number % 6]
        subnets.append({
            **pattern,
            "id": f"subnet-{number:017x}",
            "zone": f"us-west-2{'abc'[number % 3]}",
            "cidr": f"10.{number}.0.0/20",
            "free_addresses": free,
        })
    facts["scope"]["no_kube"] = False
    facts["facts"].pop("kubernetes", None)


def main(program: str, folder: Path) -> None:
    for name, account, change in [
        ("well", "karpenter.json", lambda facts: None),
        ("auto", "auto-mode.json", lambda facts: None),
        ("problems", "karpenter.json", problems),
        ("big", "karpenter.json", big),
    ]:
        facts = json.loads((ACCOUNTS / account).read_text())
        change(facts)
        saved = folder / f"{name}.facts.json"
        saved.write_text(json.dumps(facts))
        page = folder / f"{name}.html"
        config = folder / f"{name}.toml"
        config.write_text(WAIVER if name == "problems" else "")
        run = [program, "check", "--facts", saved, "--config", config, "--output", f"html={page}"]
        code = subprocess.run(run, check=False).returncode
        if code not in (0, 1, 3):
            sys.exit(f"{name}: the program ended with {code}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
