"""What a real API server refuses becomes unknown and names what is missing, and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rbac
from conftest import ACCOUNT, PROVER, STRANGER, Run, kubernetes, unknown, unread
from server import Server

# What this healthy cluster has no use for: no finding hangs on it.
NOT_NEEDED = {
    "without-get-configmaps-aws-auth": "its nodes join by access entries",
    "without-get-configmaps-amazon-vpc-cni": "it has no Windows nodes",
    "without-list-eniconfigs-crd.k8s.amazonaws.com": "its pods are in the subnets of nodes",
    "without-list-limitranges": "each of its pods has requests",
    "without-list-nodeclasses-eks.amazonaws.com": "it has no EKS Auto Mode",
}
SERVICE_ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/karpenter"
NODE_CLASS_STATUS = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/default/status"


@pytest.mark.parametrize("user", rbac.WITHOUT)
def test_without_one_permission(
    user: str, run: Run, program: Run, report: Any, tmp_path: Path
) -> None:
    lacking = rbac.WITHOUT[user]
    collected = run("collect", user, "--out", "-")
    denied = unread(kubernetes(collected), "denied")
    assert set(denied) == {lacking.action}
    (why,) = denied.values()
    words = [f'cannot {lacking.verb} resource "{lacking.resource}"', user, lacking.name]
    assert all(word in why for word in [*words, "deploy/rbac.yaml"]), why
    saved = tmp_path / "facts.json"
    saved.write_text(collected.stdout)
    judged = program("check", "--facts", str(saved), "--output", "json").json()
    before = unknown(report)
    new = {key: seen for key, seen in unknown(judged).items() if before.get(key) != seen}
    assert (new == {}) == (user in NOT_NEEDED), new
    for key, seen in new.items():
        assert f"{lacking.action} was denied" in seen, key
    assert judged["counts"]["fail"] == 0, judged["outcomes"]


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ({"authority": "other.pem"}, ["certificate is not one of the cluster's", "UnknownIssuer"]),
        ({"token": "nobody's"}, ["401 Unauthorized", "the kubeconfig's context test", "log in"]),
    ],
    ids=["another authority", "another token"],
)
def test_nobody_is_let_in(way: dict[str, str], words: list[str], run: Run, report: Any) -> None:
    facts = kubernetes(run("collect", rbac.READER, "--out", "-", **way))
    failed = unread(facts["access"], "failed")
    assert set(failed) == {"reach the API server (Kubernetes)"}
    said = failed.popitem()[1]
    assert all(word in said for word in words), said
    ran = run("check", rbac.READER, "--output", "json", **way)
    assert ran.code == 3, ran.stderr
    judged = ran.json()
    assert ("single-controller", "demo") in unknown(judged)
    for key, seen in unknown(judged).items():
        assert "reach the API server (Kubernetes) failed" in seen, key
    # What AWS says stands.
    assert passed(judged) & passed(report) >= {"security-groups-vpc", "spot-service-linked-role"}
    assert judged["counts"]["fail"] == 0, judged["outcomes"]


def passed(report: Any) -> set[str]:
    return {outcome["check"] for outcome in report["outcomes"] if outcome["status"] == "pass"}


def test_whoever_may_do_nothing_is_known_all_the_same(run: Run, server: Server) -> None:
    facts = kubernetes(run("collect", STRANGER, "--out", "-"))
    assert facts["access"]["known"]["version"] == server.version()
    assert set(unread(facts, "denied")) >= {
        "get customresourcedefinitions (Kubernetes)",
        "list deployments (Kubernetes)",
        "list ec2nodeclasses (Kubernetes)",
        "list nodes (Kubernetes)",
        "list pods (Kubernetes)",
    }


@pytest.fixture()
def irsa(server: Server) -> Iterator[None]:
    """The controller's role stands in the annotation of its service account."""

    def patch(role: str | None, profile: str | None) -> None:
        annotations = {"annotations": {"eks.amazonaws.com/role-arn": role}}
        server.ask("PATCH", SERVICE_ACCOUNT, {"metadata": annotations}, patch=True)
        status = {"status": {"instanceProfile": profile}}
        server.ask("PATCH", NODE_CLASS_STATUS, status, patch=True)

    # The instance profile of the NodeClass is not among the emulated ones.
    patch(f"arn:aws:iam::{ACCOUNT}:role/demo-karpenter", None)
    yield
    patch(None, "demo_4067990795380418201")


def proved(report: Any) -> Any:
    (outcome,) = (one for one in report["outcomes"] if one["check"] == "proved-launch")
    return outcome


def test_the_proving_role_gives_a_token(irsa: None, run: Run, server: Server) -> None:
    ran = run("check", PROVER, "--prove", "--output", "json")
    outcome = proved(ran.json())
    assert outcome["status"] == "pass", outcome
    (event,) = (event for event in server.asked_by(PROVER) if event["verb"] == "create")
    assert event["requestURI"] == f"{SERVICE_ACCOUNT}/token"
    assert event["responseStatus"]["code"] == 201
    # A token starts so.
    assert "eyJ" not in ran.stdout + ran.stderr


def test_whoever_may_only_read_gets_no_token(irsa: None, run: Run) -> None:
    outcome = proved(run("check", rbac.READER, "--prove", "--output", "json").json())
    assert outcome["status"] == "unknown", json.dumps(outcome)
    assert outcome["missing_action"] == "create serviceaccounts/token (Kubernetes)"
    assert 'cannot create resource "serviceaccounts/token"' in outcome["seen"]
