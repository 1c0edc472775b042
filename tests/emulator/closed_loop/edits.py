"""Small changes to what a seed made."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

from seeds.account import Account

Document = dict[str, Any]
Edit = Callable[[Document], Document]


def statements(document: Document) -> list[dict[str, Any]]:
    found = document["Statement"]
    return found if isinstance(found, list) else [found]


def name_of(arn: str) -> str:
    return arn.rpartition("/")[2]


def edit_policies(account: Account, role: str, edit: Edit) -> None:
    """Change every policy of a role's that is not AWS's."""
    iam = account.client("iam")
    for attached in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        arn = attached["PolicyArn"]
        if ":iam::aws:" in arn:
            continue
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        found = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]
        old = json.dumps(found["Document"])
        new = json.dumps(edit(json.loads(old)))
        if new != old:
            iam.create_policy_version(PolicyArn=arn, PolicyDocument=new, SetAsDefault=True)
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        found = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        text = json.dumps(edit(json.loads(json.dumps(found))))
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=text)


def without(*actions: str) -> Edit:
    """The document without these actions; a statement that has none left goes."""

    def edit(document: Document) -> Document:
        kept = []
        for statement in statements(document):
            named = statement.get("Action", [])
            named = named if isinstance(named, list) else [named]
            left = [action for action in named if action not in actions]
            if left:
                kept.append({**statement, "Action": left})
        # A policy must have a statement.
        nothing = {"Effect": "Allow", "Action": "sts:GetCallerIdentity", "Resource": "*"}
        return {**document, "Statement": kept or [nothing]}

    return edit


def replaced(old: str, new: str) -> Edit:
    """The document with a text in it replaced."""
    return lambda document: json.loads(json.dumps(document).replace(old, new))


def set_trust(account: Account, role: str, document: Document) -> None:
    account.client("iam").update_assume_role_policy(
        RoleName=role, PolicyDocument=json.dumps(document)
    )


def edit_trust(account: Account, role: str, edit: Edit) -> None:
    found = account.client("iam").get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]
    set_trust(account, role, edit(json.loads(json.dumps(found))))


def delete_role(account: Account, role: str) -> None:
    iam = account.client("iam")
    for attached in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=role, PolicyArn=attached["PolicyArn"])
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        iam.delete_role_policy(RoleName=role, PolicyName=name)
    iam.delete_role(RoleName=role)


def detach(account: Account, role: str, *names: str) -> None:
    for name in names:
        arn = account.managed_policy(name)
        account.client("iam").detach_role_policy(RoleName=role, PolicyArn=arn)


def untag(account: Account, ids: list[str], key: str = "karpenter.sh/discovery") -> None:
    account.client("ec2").delete_tags(Resources=ids, Tags=[{"Key": key}])


def tag(account: Account, ids: list[str], key: str, value: str) -> None:
    account.client("ec2").create_tags(Resources=ids, Tags=[{"Key": key, "Value": value}])


def association(account: Account) -> str:
    """Id of the controller's pod identity association."""
    eks = account.client("eks")
    found = eks.list_pod_identity_associations(clusterName=account.cluster)["associations"]
    return next(a["associationId"] for a in found if a["serviceAccount"] == "karpenter")


def queue_url(account: Account) -> str:
    sqs = account.client("sqs")
    return sqs.get_queue_url(QueueName=account.cluster)["QueueUrl"]


def set_queue(account: Account, **attributes: str) -> None:
    account.client("sqs").set_queue_attributes(QueueUrl=queue_url(account), Attributes=attributes)


def rule_names(account: Account) -> list[str]:
    arn = account.arn("sqs", account.cluster)
    return account.client("events").list_rule_names_by_target(TargetArn=arn)["RuleNames"]


def rule(account: Account, logical_name: str) -> str:
    return next(name for name in rule_names(account) if logical_name in name)


def set_free(account: Account, subnet: str, free: int) -> None:
    """How many free addresses EC2 says a subnet has."""
    _set(account, "subnet-free-addresses", subnetId=subnet, free=free)


def set_zone(account: Account, subnet: str, name: str, zone_id: str) -> None:
    """A zone beside the Region's own, of which the emulator makes none."""
    _set(account, "subnet-zone", subnetId=subnet, name=name, id=zone_id)


def entry_age(account: Account, principal: str, seconds: int) -> None:
    """How long ago an access entry was made."""
    names = {"name": account.cluster, "principalArn": principal}
    _set(account, "access-entry-age", **names, secondsAgo=seconds)


def _set(account: Account, what: str, **body: Any) -> None:
    """A state that no public API sets."""
    body = {**body, "region": account.region, "account": account.number}
    request = urllib.request.Request(
        f"{account.endpoint}/moto-api/preflight/{what}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200
