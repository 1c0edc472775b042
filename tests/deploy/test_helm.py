"""The chart, rendered by a real Helm; what comes out is held against Kubernetes' own schemas."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import helm
import kubernetes_validate
import pytest
import yaml
from conftest import ROOT

CHART = ROOT / "deploy" / "helm" / "karpenter-preflight"
HOOK = ROOT / "deploy" / "helm" / "pre-install-hook.yaml"
NEEDED = ["--set", "cluster=demo", "--set", "image.repository=registry.example/preflight"]


def objects(text: str) -> list[dict[str, Any]]:
    """The rendered objects, each valid for the newest Kubernetes that is known."""
    found = [document for document in yaml.safe_load_all(text) if document]
    for document in found:
        kubernetes_validate.validate(document, "1.34", strict=True)
    return found


def render(*more: str) -> dict[str, dict[str, Any]]:
    done = helm.run("template", "release", CHART, "--namespace", "ops", *NEEDED, *more)
    assert done.returncode == 0, done.stderr
    return {document["kind"]: document for document in objects(done.stdout)}


def pod(rendered: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return rendered["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def test_lint() -> None:
    done = helm.run("lint", "--strict", CHART, *NEEDED)
    assert done.returncode == 0, done.stdout


def test_what_a_plain_install_makes() -> None:
    rendered = render()
    assert set(rendered) == {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "CronJob"}
    (container,) = pod(rendered)["containers"]
    assert container["args"] == ["check", "--cluster=demo", "--output=human"]
    assert container["image"] == "registry.example/preflight:0.1.0"
    assert pod(rendered)["serviceAccountName"] == "release-karpenter-preflight"


def test_the_pod_may_do_nothing_but_run() -> None:
    specification = pod(render())
    assert specification["securityContext"]["runAsNonRoot"] is True
    (container,) = specification["containers"]
    security = container["securityContext"]
    assert security["readOnlyRootFilesystem"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}


def test_configuration_is_mounted() -> None:
    rendered = render("--set", "config=[target]\nnamespace = 'karpenter'\n")
    assert "namespace" in rendered["ConfigMap"]["data"]["karpenter-preflight.toml"]
    (container,) = pod(rendered)["containers"]
    assert "--config=/etc/karpenter-preflight/karpenter-preflight.toml" in container["args"]


def test_metrics_to_a_textfile() -> None:
    specification = pod(render("--set", "metrics.mode=textfile"))
    (container,) = specification["containers"]
    assert "--output=prometheus=/metrics/karpenter-preflight-demo.prom" in container["args"]
    assert "--fail-on=never" not in container["args"]
    assert any(volume.get("hostPath") for volume in specification["volumes"])


def test_metrics_to_a_pushgateway() -> None:
    gateway = "metrics.pushgateway.url=http://push:9091"
    specification = pod(
        render(
            *("--set", "metrics.mode=pushgateway", "--set", gateway),
            *("--set", "metrics.pushgateway.image=curl:8"),
        )
    )
    (check,) = specification["initContainers"]
    (push,) = specification["containers"]
    assert "--fail-on=never" in check["args"]
    assert push["args"][-1] == "http://push:9091/metrics/job/karpenter-preflight/cluster/demo"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["--set", "cluster="], "cluster"),
        (["--set", "metrics.mode=csv"], "metrics"),
        (["--set", "clutser=demo"], "clutser"),
        (["--set", "metrics.mode=pushgateway"], "metrics.pushgateway.image is needed"),
        (["--set", "serviceAccount.create=false"], "serviceAccount.name is needed"),
    ],
)
def test_wrong_values_are_refused_by_name(values: list[str], message: str) -> None:
    done = helm.run("template", "release", CHART, *NEEDED, *values)
    assert done.returncode != 0
    assert message in done.stderr


def test_the_chart_grants_what_the_manifest_grants() -> None:
    manifest = objects((ROOT / "deploy" / "rbac.yaml").read_text())
    (role,) = (document for document in manifest if document["kind"] == "ClusterRole")
    assert render()["ClusterRole"]["rules"] == role["rules"]


def test_the_hook_renders_in_a_chart_with_karpenter(tmp_path: Path) -> None:
    chart = tmp_path / "platform"
    (chart / "templates").mkdir(parents=True)
    shutil.copy(HOOK, chart / "templates")
    karpenter = chart / "charts" / "karpenter"
    karpenter.mkdir(parents=True)
    (karpenter / "Chart.yaml").write_text("apiVersion: v2\nname: karpenter\nversion: 1.14.1\n")
    (chart / "Chart.yaml").write_text(
        "apiVersion: v2\nname: platform\nversion: 1.0.0\n"
        "dependencies: [{name: karpenter, version: 1.14.1}]\n"
    )
    (chart / "values.yaml").write_text(
        "preflight: {image: registry.example/preflight:0.1.0}\n"
        "karpenter: {settings: {clusterName: demo, interruptionQueue: demo}}\n"
    )
    done = helm.run("template", "platform", chart)
    assert done.returncode == 0, done.stderr
    (job,) = objects(done.stdout)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == [
        *("check", "--cluster=demo", "--interruption-queue=demo", "--karpenter-version=1.14.1")
    ]
