"""What eksctl's own ``karpenter:`` section leaves: IAM roles for service accounts, eksctl's names.

The node role is mapped in the aws-auth ConfigMap, which no AWS API shows: there is no access entry.
eksctl gives the instance profile a name of its own.
"""

from __future__ import annotations

import json
from typing import Any

from seeds import getting_started, roles
from seeds.account import Account
from seeds.controller_policies import Controller
from seeds.interruption import create_interruption
from seeds.network import create_network

NAMESPACE = "karpenter"
SERVICE_ACCOUNT = "karpenter"


def seed(account: Account) -> dict[str, Any]:
    network = create_network(account, f"eksctl-{account.cluster}-cluster")
    cluster = getting_started.create_cluster(account, network, getting_started.Choices())
    create_interruption(
        account, account.cluster, lambda name: getting_started.stack_name(account, name)
    )
    node_role = create_node_role(account)
    controller_role = create_controller(account, cluster["identity"]["oidc"]["issuer"], node_role)
    getting_started.create_node_group(account, network)
    roles.create_spot_role(account)
    return {
        **network.summary(account, cluster),
        "nodeRole": node_role,
        "controllerRole": controller_role,
        "queue": account.cluster,
    }


def create_node_role(account: Account) -> str:
    iam = account.client("iam")
    name = f"eksctl-KarpenterNodeRole-{account.cluster}"
    profile = f"eksctl-KarpenterNodeInstanceProfile-{account.cluster}"
    role = roles.create_role(account, name, roles.node_trust(account), roles.NODE_POLICIES)
    iam.create_instance_profile(InstanceProfileName=profile)
    iam.add_role_to_instance_profile(InstanceProfileName=profile, RoleName=name)
    return role


def create_controller(account: Account, issuer: str, node_role: str) -> str:
    iam = account.client("iam")
    name = f"eksctl-{account.cluster}-iamservice-role"
    trust = roles.web_identity_trust(account, issuer, NAMESPACE, SERVICE_ACCOUNT)
    role = roles.create_role(account, name, trust)
    queue_arn = account.arn("sqs", account.cluster)
    statements = Controller(account, node_role, queue_arn).all_statements()
    document = {"Version": "2012-10-17", "Statement": statements}
    policy = f"eksctl-KarpenterControllerPolicy-{account.cluster}"
    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(document))
    return role
