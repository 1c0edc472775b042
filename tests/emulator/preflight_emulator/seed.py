"""Fill an account: ``python -m preflight_emulator.seed NAME --endpoint URL``.

Prints what it made as one JSON object. Credentials come from the environment; any will do.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from typing import Any

from seeds import (
    auto_mode,
    broken,
    eksctl_irsa,
    faults,
    fixed,
    getting_started,
    organization,
    simulation,
    terraform_module,
)
from seeds.account import Account

SEEDS: dict[str, Callable[[Account], dict[str, Any]]] = {
    "auto-mode": auto_mode.seed,
    "eksctl-irsa": eksctl_irsa.seed,
    "faults-isolated": faults.isolated,
    "faults-isolated-mended": faults.isolated_mended,
    "faults-limits": faults.limits,
    "faults-network": faults.network,
    "faults-public-nodes": faults.public_nodes,
    "getting-started": getting_started.seed,
    "getting-started-aws-auth": getting_started.seed_with_aws_auth,
    "organization": organization.seed,
    "organization-denying": organization.seed_denying,
    "organization-hidden": organization.seed_hidden,
    "ipv6": getting_started.seed_with_ipv6,
    "seeds-broken": broken.seed,
    "seeds-fixed": fixed.seed,
    "simulation": simulation.seed,
    "terraform-module": terraform_module.seed,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="preflight_emulator.seed", description=__doc__)
    parser.add_argument("name", choices=sorted(SEEDS))
    parser.add_argument("--endpoint", default=os.environ.get("AWS_ENDPOINT_URL"))
    parser.add_argument("--cluster", default="demo")
    parser.add_argument("--region", default=os.environ.get("AWS_REGION", "us-west-2"))
    arguments = parser.parse_args()
    if not arguments.endpoint:
        parser.error("--endpoint or AWS_ENDPOINT_URL is needed: seeds never go to the real AWS")
    # Whatever profile the user has set is for the real AWS.
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        os.environ.pop(name, None)
    account = Account(arguments.endpoint, arguments.cluster, arguments.region)
    print(json.dumps(SEEDS[arguments.name](account)))


if __name__ == "__main__":
    main()
