"""Our own routes, for states that no public API sets. All take POST with a JSON body."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.ec2.models import EC2Backend, ec2_backends
from moto.eks.models import eks_backends

from preflight_emulator.ec2.settings import settings_of

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


def managed_resource_visibility(body: Body) -> None:
    """``{"visibility": "hidden"}``"""
    settings_of(_ec2(body)).managed_resources_visibility = body["visibility"]


def cluster(body: Body) -> None:
    """``{"name": "C", "status": "UPDATING", "issues": [{"code": …, "message": …}]}``"""
    account = body.get("account", DEFAULT_ACCOUNT_ID)
    found: Any = eks_backends[account][body.get("region", DEFAULT_REGION)].clusters[body["name"]]
    found.status = body.get("status", found.status)
    found.health = {"issues": body.get("issues", found.health["issues"])}


URL_PATHS = {
    "{0}/moto-api/preflight/metadata-defaults": _route(metadata_defaults_manager),
    "{0}/moto-api/preflight/subnet-free-addresses": _route(subnet_free_addresses),
    "{0}/moto-api/preflight/managed-resource-visibility": _route(managed_resource_visibility),
    "{0}/moto-api/preflight/cluster": _route(cluster),
}
