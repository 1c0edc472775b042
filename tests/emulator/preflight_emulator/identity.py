"""Who calls, and which IAM principals exist."""

from __future__ import annotations

import re

from moto.iam.models import iam_backends
from moto.sts.models import sts_backends
from moto.utilities.utils import get_partition

ROLE_OR_USER = re.compile(r"^arn:[^:]+:iam::(?P<account>\d{12}):(?P<kind>role|user)/.+$")
ROOT = re.compile(r"^arn:[^:]+:iam::\d{12}:root$")


def caller_arn(arn: str) -> str:
    """moto's stand-in for an unknown key is ``arn:…:sts::ACCOUNT:user/moto``: users are IAM's."""
    return arn.replace(":sts:", ":iam:") if ":user/" in arn else arn


def caller_principal(account: str, region: str, access_key: str) -> str:
    """The IAM principal of a caller: for a role's session, the role itself."""
    partition = get_partition(region)
    sts = sts_backends[account][partition]
    assumed = sts.get_assumed_role_from_access_key(access_key)
    if assumed:
        return assumed.role_arn
    _, arn, _ = sts.get_caller_identity(access_key, region)
    return caller_arn(arn)


def principal_exists(account: str, region: str, arn: str) -> bool:
    """Whether EKS would accept this ARN; another account's principals cannot be looked up."""
    if ROOT.match(arn):
        return True
    match = ROLE_OR_USER.match(arn)
    if not match:
        return False
    if match["account"] != account:
        return True
    backend = iam_backends[account][get_partition(region)]
    principals = backend.roles if match["kind"] == "role" else backend.users
    return any(principal.arn == arn for principal in principals.values())
