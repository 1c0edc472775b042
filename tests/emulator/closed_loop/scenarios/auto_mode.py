"""EKS Auto Mode: what the cluster's role may do, and who may take it."""

from __future__ import annotations

from closed_loop import edits
from closed_loop.edits import name_of
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds import roles
from seeds.account import Account

PERMISSIONS, TAGS, TRUST = (
    "cluster-role-permissions",
    "cluster-role-custom-tags",
    "cluster-role-trust",
)


@scenario(f"{TRUST}: EKS may not tag sessions", (TRUST, FAIL), base="auto-mode", cases=("C107",))
def no_tag_session(account: Account, made: Made) -> None:
    edits.set_trust(account, name_of(made["clusterRole"]), roles.trust("eks.amazonaws.com"))


@scenario(f"{TRUST}: it is gone, of Auto Mode", (TRUST, FAIL), base="auto-mode")
def gone(account: Account, made: Made) -> None:
    edits.delete_role(account, name_of(made["clusterRole"]))


@scenario(f"{PERMISSIONS}: as before Auto Mode", (PERMISSIONS, FAIL), base="auto-mode")
def policies_of_a_plain_cluster(account: Account, made: Made) -> None:
    edits.detach(account, name_of(made["clusterRole"]), *roles.AUTO_CLUSTER_POLICIES[1:])


@scenario(f"{TAGS}: refused", (TAGS, WARN), base="auto-mode", cases=("C102",))
def tags_of_ones_own(_account: Account, _made: Made) -> None:
    """AWS's policies refuse every tag that is not EKS's."""


@scenario(
    "node-role-exists: it does not, of Auto Mode", ("node-role-exists", FAIL), base="auto-mode"
)
def no_node_role(account: Account, made: Made) -> None:
    # The entry of the role that was is dead for the one that is made again.
    edits.entry_age(account, made["nodeRole"], 100_000)
    edits.delete_role(account, name_of(made["nodeRole"]))
