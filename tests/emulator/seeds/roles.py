"""IAM roles and whom they trust."""

from __future__ import annotations

import json
from typing import Any

from seeds.account import Account

Document = dict[str, Any]
NODE_POLICIES = [
    "AmazonEKS_CNI_Policy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
]
AUTO_CLUSTER_POLICIES = [
    "AmazonEKSClusterPolicy",
    "AmazonEKSComputePolicy",
    "AmazonEKSBlockStoragePolicy",
    "AmazonEKSLoadBalancingPolicy",
    "AmazonEKSNetworkingPolicy",
]
AUTO_NODE_POLICIES = ["AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly"]
ASSUME = "sts:AssumeRole"
ASSUME_AND_TAG = [ASSUME, "sts:TagSession"]


def trust(service: str, actions: str | list[str] = ASSUME) -> Document:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": actions}
    return {"Version": "2012-10-17", "Statement": [statement]}


def node_trust(account: Account) -> Document:
    return trust(f"ec2.{account.dns_suffix}")


def pod_identity_trust() -> Document:
    return trust("pods.eks.amazonaws.com", ASSUME_AND_TAG)


def web_identity_trust(
    account: Account, issuer: str, namespace: str, service_account: str
) -> Document:
    host = issuer.removeprefix("https://")
    provider = account.arn("iam", f"oidc-provider/{host}", region="")
    condition = {
        f"{host}:aud": "sts.amazonaws.com",
        f"{host}:sub": f"system:serviceaccount:{namespace}:{service_account}",
    }
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": condition},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def create_role(
    account: Account, name: str, trust_policy: Document, managed: list[str] | None = None
) -> str:
    """``managed`` are names of AWS-managed policies."""
    iam = account.client("iam")
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust_policy))
    for policy in managed or []:
        iam.attach_role_policy(RoleName=name, PolicyArn=account.managed_policy(policy))
    return role["Role"]["Arn"]


def create_spot_role(account: Account) -> None:
    account.client("iam").create_service_linked_role(AWSServiceName="spot.amazonaws.com")


def create_oidc_provider(account: Account, issuer: str) -> None:
    account.client("iam").create_open_id_connect_provider(
        Url=issuer, ClientIDList=["sts.amazonaws.com"]
    )
