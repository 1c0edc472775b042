"""Our own routes, for states that no public API sets. All take POST with a JSON body."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import copy
from datetime import timedelta
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.utils import utcnow
from moto.ec2.models import EC2Backend, ec2_backends
from moto.ec2.models.instances import StateReason
from moto.eks.models import eks_backends
from moto.iam.models import iam_backends
from moto.servicequotas.models import servicequotas_backends

from preflight_emulator import iam, organizations
from preflight_emulator.ec2.settings import settings_of
from preflight_emulator.eks.state import find_cluster, state_of
from preflight_emulator.quotas import values_of

Answer = tuple[int, dict[str, str], str]
Body = dict[str, Any]
DEFAULT_REGION = "us-east-1"


def _route(action: Callable[[Body], None]) -> Callable[[Any, str, Any], Answer]:
    def answer(request: Any, _url: str, _headers: Any) -> Answer:
        if request.method != "POST":
            return 405, {}, json.dumps({"error": "POST only"})
        try:
            action(json.loads(request.data or b"{}"))
        except (KeyError, ValueError) as error:
            return 400, {}, json.dumps({"error": repr(error)})
        return 200, {}, json.dumps({"status": "ok"})

    answer.__name__ = action.__name__
    return answer


def _ec2(body: Body) -> EC2Backend:
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    return ec2_backends[account][body.get("region", DEFAULT_REGION)]


def metadata_defaults_manager(body: Body) -> None:
    """``{"managedBy": "declarative-policy", "exceptionMessage": "…", "values": {…}}``"""
    settings = settings_of(_ec2(body))
    settings.metadata_managed_by = body["managedBy"]
    settings.metadata_exception_message = body.get("exceptionMessage")
    settings.metadata_defaults.update(body.get("values", {}))


def subnet_free_addresses(body: Body) -> None:
    """``{"subnetId": "subnet-…", "free": 3}``: what AvailableIpAddressCount shall be now."""
    subnet = _ec2(body).get_subnet(body["subnetId"])
    in_use = subnet._available_ip_addresses - subnet.available_ip_address_count
    subnet._available_ip_addresses = int(body["free"]) + in_use


def subnet_zone(body: Body) -> None:
    """``{"subnetId": "subnet-…", "name": "us-west-2-lax-1a", "id": "usw2-lax1-az1"}``"""
    subnet = _ec2(body).get_subnet(body["subnetId"])
    zone = copy(subnet._availability_zone)
    zone.name, zone.zone_id = body["name"], body["id"]
    subnet._availability_zone = zone


def managed_resource_visibility(body: Body) -> None:
    """``{"visibility": "hidden"}``"""
    settings_of(_ec2(body)).managed_resources_visibility = body["visibility"]


def _cluster(body: Body) -> Any:
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    backend = eks_backends[account][body.get("region", DEFAULT_REGION)]
    return find_cluster(backend, body["name"])


def cluster(body: Body) -> None:
    """``{"name": "C", "status": "UPDATING", "issues": [{"code": …, "message": …}]}``

    ``endpoint`` and ``certificateAuthority`` (PEM in base64) lead to an API server of a test's.
    """
    found = _cluster(body)
    found.status = body.get("status", found.status)
    found.endpoint = body.get("endpoint", found.endpoint)
    if "certificateAuthority" in body:
        found.certificate_authority = {"data": body["certificateAuthority"]}
    found.health = {"issues": body.get("issues", found.health["issues"])}


def auto_mode(body: Body) -> None:
    """``{"name": "C", "blockStorage": false, "nodePools": []}``: what no request sets alone."""
    found = _cluster(body)
    if "blockStorage" in body:
        found.storage_config = {"blockStorage": {"enabled": body["blockStorage"]}}
    if "nodePools" in body:
        found.compute_config = {**found.compute_config, "nodePools": body["nodePools"]}


def access_entry_age(body: Body) -> None:
    """``{"name": "C", "principalArn": "arn:…", "secondsAgo": 3600}``: when it was made."""
    entry = state_of(_cluster(body)).access_entries[body["principalArn"]]
    made = utcnow() - timedelta(seconds=body["secondsAgo"])
    entry.record.update(createdAt=made, modifiedAt=made)


def quota(body: Body) -> None:
    """``{"quotaCode": "L-1216C47A", "value": 4}``; without a value, the default holds."""
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    backend = servicequotas_backends[account][body.get("region", DEFAULT_REGION)]
    values_of(backend).pop(body["quotaCode"], None)
    if "value" in body:
        values_of(backend)[body["quotaCode"]] = float(body["value"])


def instance_profile_quota(body: Body) -> None:
    """``{"value": 20}``: how many instance profiles the account may have."""
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    partition = body.get("partition", "aws")
    summary = iam_backends[account][partition].account_summary
    summary._instance_profiles_quota = int(body["value"])


def vpc_tenancy(body: Body) -> None:
    """``{"vpcId": "vpc-…", "tenancy": "dedicated"}``, which EC2 takes when a VPC is made only."""
    _ec2(body).get_vpc(body["vpcId"]).instance_tenancy = body["tenancy"]


def instance_end(body: Body) -> None:
    """``{"instanceId": "i-…", "code": "Client.InternalError", "message": "…"}``: why it ended."""
    instance = _ec2(body).get_instance(body["instanceId"])
    instance.terminate()
    instance.state_reason = StateReason(body["message"], body["code"])


def organization_member(body: Body) -> None:
    """``{"management": "…", "partition": "aws", "delegated": true}``: the account joins."""
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    partition = body.get("partition", "aws")
    organizations.join(body["management"], partition, account, bool(body.get("delegated")))


def simulation(body: Body) -> None:
    """``{"role": "R", "answers": {"ec2:CreateFleet": {"EvalDecision": "implicitDeny"}}}``"""
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    iam.SIMULATED[(account, body["role"])] = body["answers"]


def seed(body: Body) -> None:
    """``{"seed": "getting-started", "name": "C"}``: what the seed command does, sooner."""
    # Imported here: a server that is never asked for seeds does not need them.
    from preflight_emulator.seed import SEEDS
    from seeds.account import Account

    account = body.get("account", DEFAULT_ACCOUNT_ID)
    SEEDS[body["seed"]](
        Account(
            f"http://127.0.0.1:{os.environ['MOTO_PORT']}",
            body.get("name", "demo"),
            body.get("region", DEFAULT_REGION),
            f"AKIASEED{account}",
        )
    )


URL_PATHS = {
    "{0}/moto-api/preflight/metadata-defaults": _route(metadata_defaults_manager),
    "{0}/moto-api/preflight/subnet-free-addresses": _route(subnet_free_addresses),
    "{0}/moto-api/preflight/subnet-zone": _route(subnet_zone),
    "{0}/moto-api/preflight/managed-resource-visibility": _route(managed_resource_visibility),
    "{0}/moto-api/preflight/cluster": _route(cluster),
    "{0}/moto-api/preflight/auto-mode": _route(auto_mode),
    "{0}/moto-api/preflight/access-entry-age": _route(access_entry_age),
    "{0}/moto-api/preflight/quota": _route(quota),
    "{0}/moto-api/preflight/instance-profile-quota": _route(instance_profile_quota),
    "{0}/moto-api/preflight/vpc-tenancy": _route(vpc_tenancy),
    "{0}/moto-api/preflight/instance-end": _route(instance_end),
    "{0}/moto-api/preflight/organization-member": _route(organization_member),
    "{0}/moto-api/preflight/simulation": _route(simulation),
    "{0}/moto-api/preflight/seed": _route(seed),
}
