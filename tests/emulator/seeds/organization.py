"""An organisation around an account that is there already: a root, a unit, and the account in it.

Its management account is another one. Whether the account may read the organisation's policies,
and what they deny, differs from seed to seed.
"""

from __future__ import annotations

import json
from typing import Any

from seeds.account import Account, post

UNIT = "workloads"
ONLY_THESE_REGIONS = {
    "Sid": "OnlyTheseRegions",
    "Effect": "Deny",
    "NotAction": ["iam:*", "sts:*", "organizations:*", "pricing:*", "support:*"],
    "Resource": "*",
    "Condition": {"StringNotEquals": {"aws:RequestedRegion": ["us-west-2", "eu-west-1"]}},
}
NO_ROOT_USER = {
    "Sid": "NoRootUser",
    "Effect": "Deny",
    "Action": "*",
    "Resource": "*",
    "Condition": {"ArnLike": {"aws:PrincipalArn": "arn:*:iam::*:root"}},
}
NO_LAUNCH_TEMPLATES = {
    "Sid": "NoLaunchTemplates",
    "Effect": "Deny",
    "Action": "ec2:CreateLaunchTemplate",
    "Resource": "*",
    "Condition": {"ArnNotLike": {"aws:PrincipalArn": "arn:*:iam::*:role/admin"}},
}


def seed(account: Account) -> dict[str, Any]:
    """The account may read what it falls under, and that leaves Karpenter alone."""
    return create(account, [ONLY_THESE_REGIONS, NO_ROOT_USER], delegated=True)


def seed_denying(account: Account) -> dict[str, Any]:
    """The account may read what it falls under, and that stops every launch."""
    return create(account, [ONLY_THESE_REGIONS, NO_LAUNCH_TEMPLATES], delegated=True)


def seed_hidden(account: Account) -> dict[str, Any]:
    """The account is a member like most: it may not read what it falls under."""
    return create(account, [NO_LAUNCH_TEMPLATES], delegated=False)


def create(account: Account, denies: list[dict[str, Any]], delegated: bool) -> dict[str, Any]:
    management = f"9{account.number[1:]}"
    owner = Account(account.endpoint, account.cluster, account.region, f"AKIASEED{management}")
    organizations = owner.client("organizations")
    organization = organizations.create_organization(FeatureSet="ALL")["Organization"]
    root = organizations.list_roots()["Roots"][0]["Id"]
    for kind in ("SERVICE_CONTROL_POLICY", "RESOURCE_CONTROL_POLICY"):
        organizations.enable_policy_type(RootId=root, PolicyType=kind)
    unit = organizations.create_organizational_unit(ParentId=root, Name=UNIT)
    unit_id = unit["OrganizationalUnit"]["Id"]
    join(account, management, delegated)
    organizations.move_account(
        AccountId=account.number, SourceParentId=root, DestinationParentId=unit_id
    )
    strangers = {"StringNotEqualsIfExists": {"aws:PrincipalOrgID": organization["Id"]}}
    perimeter = {
        "Sid": "NoStrangers",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": "*",
        "Condition": {**strangers, "BoolIfExists": {"aws:PrincipalIsAWSService": "false"}},
    }
    attach(organizations, unit_id, "Guardrails", "SERVICE_CONTROL_POLICY", denies)
    attach(organizations, root, "Perimeter", "RESOURCE_CONTROL_POLICY", [perimeter])
    return {"organization": organization["Id"], "management": management, "unit": unit_id}


def join(account: Account, management: str, delegated: bool) -> None:
    """An invitation and its acceptance, which moto does not have."""
    place = {"management": management, "partition": account.partition}
    post(account, "organization-member", {**place, "delegated": delegated})


def attach(
    organizations: Any, target: str, name: str, kind: str, statements: list[dict[str, Any]]
) -> None:
    document = {"Version": "2012-10-17", "Statement": statements}
    policy = organizations.create_policy(
        Name=name, Description=name, Type=kind, Content=json.dumps(document)
    )["Policy"]["PolicySummary"]["Id"]
    organizations.attach_policy(PolicyId=policy, TargetId=target)
