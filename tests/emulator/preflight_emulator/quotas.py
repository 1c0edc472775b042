"""Service Quotas of EC2: some that the account has of its own, the rest by default."""

from __future__ import annotations

import json
from typing import Any

from moto.iam.models import iam_backends
from moto.servicequotas.models import ServiceQuotasBackend
from moto.servicequotas.responses import ServiceQuotasResponse

from preflight_emulator.errors import ServiceError

Record = dict[str, Any]
PAGE = 100
# AWS raises these by itself as an account is used; the others are as in a new account.
RAISED = {"L-1216C47A": 640.0, "L-34B43A08": 640.0}
NAMES = {
    "L-1216C47A": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
    "L-417A185B": "Running On-Demand P instances",
    "L-DB2E81BA": "Running On-Demand G and VT instances",
    "L-34B43A08": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
    "L-7212CCBC": "All P4, P3 and P2 Spot Instance Requests",
    "L-3819A6DF": "All G and VT Spot Instance Requests",
    "L-FB451C26": "Launch templates",
}
DEFAULTS = {code: 5.0 if "Standard" in name else 0.0 for code, name in NAMES.items()}
DEFAULTS["L-FB451C26"] = 5000.0


INSTANCE_PROFILES = "L-6E65F664"


def values_of(backend: ServiceQuotasBackend) -> dict[str, float]:
    """The quotas that the account has of its own, by code."""
    return vars(backend).setdefault("preflight_quotas", dict(RAISED))


class CompleteServiceQuotasResponse(ServiceQuotasResponse):
    def list_service_quotas(self) -> str:
        request = self._request("ec2")
        quotas = [self._quota(code, value) for code, value in sorted(self._own().items())]
        start = int(request.get("NextToken") or 0)
        end = start + int(request.get("MaxResults") or PAGE)
        answer: Record = {"Quotas": quotas[start:end]}
        if end < len(quotas):
            answer["NextToken"] = str(end)
        return json.dumps(answer)

    def get_service_quota(self) -> str:
        code = json.loads(self.body).get("QuotaCode")
        if json.loads(self.body).get("ServiceCode") != "ec2":
            return super().get_service_quota()
        if code not in self._own():
            raise _no_such(code)
        return json.dumps({"Quota": self._quota(code, self._own()[code])})

    def get_aws_default_service_quota(self) -> str:
        code = self._request("ec2").get("QuotaCode")
        if code not in DEFAULTS:
            raise _no_such(code)
        return json.dumps({"Quota": self._quota(code, DEFAULTS[code])})

    def request_service_quota_increase(self) -> str:
        """Granted at once, which AWS does for small steps only."""
        request = json.loads(self.body)
        code, wanted = request.get("QuotaCode"), float(request.get("DesiredValue") or 0)
        service = request.get("ServiceCode")
        if service == "ec2":
            if code not in DEFAULTS:
                raise _no_such(code)
            if wanted <= self._own().get(code, DEFAULTS[code]):
                raise ServiceError(
                    "IllegalArgumentException",
                    "You must provide a quota value greater than the current quota value",
                )
            self._own()[code] = wanted
        if service == "iam" and code == INSTANCE_PROFILES:
            iam = iam_backends[self.current_account][self.partition]
            iam.account_summary._instance_profiles_quota = int(wanted)
        requested = {
            "Id": f"{code}-request",
            "ServiceCode": service,
            "QuotaCode": code,
            "DesiredValue": wanted,
            "Status": "APPROVED",
        }
        return json.dumps({"RequestedQuota": requested})

    def _request(self, service: str) -> Record:
        request: Record = json.loads(self.body)
        if request.get("ServiceCode") != service:
            raise _no_such(request.get("ServiceCode"))
        return request

    def _own(self) -> dict[str, float]:
        return values_of(self.backend)

    def _quota(self, code: str, value: float) -> Record:
        place = f"{self.region}:{self.current_account}"
        return {
            "ServiceCode": "ec2",
            "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
            "QuotaArn": f"arn:{self.partition}:servicequotas:{place}:ec2/{code}",
            "QuotaCode": code,
            "QuotaName": NAMES[code],
            "Value": value,
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
            "QuotaAppliedAtLevel": "ACCOUNT",
        }


def _no_such(what: Any) -> ServiceError:
    return ServiceError("NoSuchResourceException", f"The quota {what} does not exist.")
