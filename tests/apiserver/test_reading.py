"""The program reads all that it asks of a real API server, with the published role and no more."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from conftest import PODS, unknown, unread
from rbac import PUBLISHED, READER, Permission
from server import Server

# This server is older than the version of that kind which every cluster of EKS has.
TOO_NEW = {"list endpointslices (Kubernetes)", "list poddisruptionbudgets (Kubernetes)"}
TOO_NEW_FOR = {"admission-webhooks", "pod-disruption-budgets"}


def test_everything_is_read(facts: Any, server: Server) -> None:
    assert unread(facts, "denied") == {}
    assert set(unread(facts, "failed")) == TOO_NEW
    assert facts["access"]["known"]["version"] == server.version()
    assert len(facts["nodes"]["known"]) == 3
    (controller,) = facts["controllers"]["known"]
    assert controller["env"]["SYSTEM_NAMESPACE"] == "kube-system"
    (node_class,) = facts["ec2_node_classes"]["known"]
    assert node_class["status"]["amis"] == ["ami-0aa00000000000001"]
    (pool,) = facts["node_pools"]["known"]
    assert pool["limits"]["cpu"] == "1000"
    assert len(facts["crds"]["known"]) == 4
    # No such kind here, and no such object.
    assert facts["auto_node_classes"] == facts["windows_ipam"] == "absent"
    assert facts["eni_configs"]["known"] == []


def test_a_healthy_cluster_has_no_finding(report: Any) -> None:
    assert {check for check, _ in unknown(report)} == TOO_NEW_FOR
    assert (report["counts"]["fail"], report["counts"]["warn"]) == (0, 0), report["outcomes"]


def test_lists_are_read_page_by_page(facts: Any, server: Server) -> None:
    uris = [urlsplit(event["requestURI"]) for event in server.asked_by(READER)]
    pages = [parse_qs(uri.query) for uri in uris if uri.path == "/api/v1/pods"]
    # One run for the facts at least; each starts anew.
    first, second, third = pages[:3]
    assert "continue" not in first
    assert second["continue"] != third["continue"]
    assert all(page["limit"] == ["500"] for page in pages)
    # The controller's own are two.
    assert facts["workloads"]["pods"]["known"]["total"] == PODS + 2


def test_the_published_role_allows_exactly_what_is_asked(
    facts: Any, report: Any, server: Server
) -> None:
    asked = set()
    for event in server.asked_by(READER):
        assert event["responseStatus"]["code"] in (200, 404), event
        asked_of = event.get("objectRef")
        if asked_of is None:
            assert event["requestURI"] == "/version", event
            continue
        of = (event["verb"], asked_of.get("apiGroup", ""), asked_of["resource"])
        named = Permission(*of, asked_of.get("name", ""))
        asked.add(named if named in PUBLISHED else Permission(*of))
    assert asked == set(PUBLISHED)
