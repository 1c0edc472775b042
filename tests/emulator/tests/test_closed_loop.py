"""What the report tells a person to run mends the account.

Each scenario breaks a healthy account through the public API and has the program under test
judge it over HTTP. Then the fix script runs with the real ``aws`` program: every expected finding
must be gone, and no new one may be there.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from closed_loop import engine, scenarios  # noqa: F401
from closed_loop.scenario import ALL, Scenario

BINARY = os.environ.get("PREFLIGHT_BINARY")
pytestmark = pytest.mark.skipif(not BINARY, reason="PREFLIGHT_BINARY names no program to test")
LOOPED = [scenario for scenario in ALL if not scenario.not_looped]
JUDGED = [scenario for scenario in ALL if scenario.not_looped]
# Kinds of findings that no scenario shows, and why.
NOT_SHOWN = {
    "cluster-status: not active": "a cluster's state is EKS's to change",
    "cluster-status: a health issue": "what EKS finds wrong is mended where it is",
    "controller-trust: the role is gone": "only the installer knows what it gave the role",
}
# Checks that ask AWS too, and judge what is in Kubernetes: the emulated account has no API server,
# without which they are skipped.
OF_KUBERNETES = {
    "amis-discovered": "a NodeClass chooses its images",
    "capacity-reservations": "a NodeClass selects the reservations",
    "controller-identity": "the service account bears the role",
    "controller-settings": "the Deployment bears the settings",
    "custom-networking": "its ENIConfigs are objects of the cluster",
    "imds-tokens": "a NodeClass sets the metadata options",
    "isolated-vpc": "the NodeClass names the profile, and the Deployment says that it is isolated",
    "kubernetes-version": "the Deployment shows Karpenter's version",
    "node-role-aws-auth": "the ConfigMap is the cluster's",
    "nodeclass-instance-profile": "a NodeClass names the profile",
    "nodeclass-pod-network": "a NodeClass selects the subnets and groups of pods",
    "nodeclass-role": "a NodeClass names the role",
    "nodeclass-volume-sizes": "a NodeClass sets the sizes",
    "nodeclass-volumes": "a NodeClass sets the volumes",
    "nodepool-instance-types": "a NodePool names the types",
    "nodepool-zones": "a NodePool names the zones",
    "placement-group": "a NodeClass names the group",
    "target-contradiction": "the Deployment contradicts what was said",
    "volume-claims": "the claims are objects of the cluster",
    "zonal-shift": "the Deployment turns it on",
}
# They prove something, and what they find is mended as another check's finding.
PROOFS = {"proved-launch": "its dry runs meet policies, which other kinds mend"}
# The aim is 0.8. What has no scenario yet counts against it, so it goes up only.
LEAST_OF_ALL = 0.85


@pytest.mark.parametrize("scenario", LOOPED, ids=lambda scenario: scenario.name)
def test_the_remedy_mends(world: engine.World, scenario: Scenario, tmp_path: Path) -> None:
    engine.loop(world, scenario, tmp_path)


@pytest.mark.parametrize("scenario", JUDGED, ids=lambda scenario: scenario.name)
def test_it_is_found(world: engine.World, scenario: Scenario, tmp_path: Path) -> None:
    engine.judged(world, scenario, tmp_path / "fix.sh")


def checks_of_aws() -> set[str]:
    command = [str(BINARY), "list", "checks", "--output", "json"]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return {check["id"] for check in listed if check["needs"]} - set(OF_KUBERNETES) - set(PROOFS)


def test_enough_is_looped(capsys) -> None:
    looped = {scenario.kind for scenario in LOOPED}
    others = {scenario.kind: scenario.not_looped for scenario in JUDGED}
    others = {kind: why for kind, why in {**others, **NOT_SHOWN}.items() if kind not in looped}
    shown = {kind.partition(":")[0] for kind in (*looped, *others)}
    known = checks_of_aws()
    assert shown <= known, f"no such checks: {shown - known}"
    for check in known - shown:
        others[check] = "no scenario yet"
    total = len(looped) + len(others)
    with capsys.disabled():
        print(f"\nlooped {len(looped)} of {total} kinds of findings about what AWS holds")
        for check, why in sorted(OF_KUBERNETES.items()):
            print(f"  left out, as in Kubernetes: {check} ({why})")
        for kind, why in sorted({**others, **PROOFS}.items()):
            print(f"  not looped: {kind} ({why})")
    assert len(looped) >= LEAST_OF_ALL * total


def test_enough_cases_are_judged_over_http() -> None:
    assert len({case for scenario in ALL for case in scenario.cases}) >= 25
