"""What Karpenter 1.14's getting-started guide leaves in an account.

Its CloudFormation stack makes the node role, the controller's policies, the queue and the rules;
eksctl makes the rest. Karpenter itself does not run here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from seeds import roles
from seeds.account import Account
from seeds.controller_policies import Controller
from seeds.interruption import create_interruption
from seeds.network import PRIVATE_RANGES, Network, create_network, tag_for_discovery, tags

KUBERNETES_VERSION = "1.35"
NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "karpenter"
ADDONS = ["coredns", "eks-pod-identity-agent", "kube-proxy", "metrics-server", "vpc-cni"]


@dataclass(frozen=True)
class Choices:
    """Where a seed differs from the guide."""

    authentication_mode: str = "API_AND_CONFIG_MAP"
    cluster_role: str | None = None
    """Name of a role that is there already; the guide has eksctl make one."""
    cluster: tuple[tuple[str, Any], ...] = ()
    """More members of CreateCluster."""
    private_ranges: tuple[str, ...] = tuple(PRIVATE_RANGES)
    tag_public_subnets: bool = False
    node_role_entry: bool = True
    interruption: bool = True
    spot_role: bool = True


def seed(account: Account, choices: Choices = Choices()) -> dict[str, Any]:
    node_role = create_node_role(account)
    queue = account.cluster
    policies = create_controller_policies(account, node_role, account.arn("sqs", queue))
    if choices.interruption:
        create_interruption(account, queue, lambda name: stack_name(account, name))
    network = create_network(
        account,
        f"eksctl-{account.cluster}-cluster",
        private_ranges=list(choices.private_ranges),
    )
    cluster = create_cluster(account, network, choices)
    controller_role = create_controller(account, policies)
    create_node_group(account, network)
    if choices.node_role_entry:
        account.client("eks").create_access_entry(
            clusterName=account.cluster, principalArn=node_role, type="EC2_LINUX"
        )
    if choices.spot_role:
        roles.create_spot_role(account)
    return {
        **network.summary(account, cluster),
        "nodeRole": node_role,
        "controllerRole": controller_role,
        "queue": queue if choices.interruption else None,
    }


def seed_with_aws_auth(account: Account) -> dict[str, Any]:
    """The guide to the letter, where eksctl has its own way.

    It maps the node role in the aws-auth ConfigMap, which no AWS API shows, and its tags for the
    whole stack end up on the public subnets too.
    """
    return seed(account, Choices(node_role_entry=False, tag_public_subnets=True))


def seed_with_ipv6(account: Account) -> dict[str, Any]:
    """The guide's cluster with IPv6, whose CNI needs more than AWS's policy gives."""
    network = ("kubernetesNetworkConfig", {"ipFamily": "ipv6"})
    return seed(account, Choices(cluster=(network,)))


def stack_name(account: Account, logical_name: str) -> str:
    """The name that CloudFormation makes up, within EventBridge's 64 characters."""
    end = f"-{account.suffix(logical_name)}"
    return f"Karpenter-{account.cluster}-{logical_name}"[: 64 - len(end)] + end


def create_node_role(account: Account) -> str:
    name = f"KarpenterNodeRole-{account.cluster}"
    return roles.create_role(account, name, roles.node_trust(account), roles.NODE_POLICIES)


def create_controller_policies(account: Account, node_role: str, queue_arn: str) -> list[str]:
    iam = account.client("iam")
    arns = []
    for name, statements in Controller(account, node_role, queue_arn).policies().items():
        document = {"Version": "2012-10-17", "Statement": statements}
        policy = iam.create_policy(
            PolicyName=f"{name}-{account.cluster}", PolicyDocument=json.dumps(document)
        )
        arns.append(policy["Policy"]["Arn"])
    return arns


def create_cluster(account: Account, network: Network, choices: Choices) -> dict[str, Any]:
    ec2, eks = account.client("ec2"), account.client("eks")
    prefix = f"eksctl-{account.cluster}-cluster"
    control_plane_group = ec2.create_security_group(
        GroupName=f"{prefix}-ControlPlaneSecurityGroup-{account.suffix('control-plane')}",
        Description="Communication between the control plane and worker nodegroups",
        VpcId=network.vpc,
        TagSpecifications=tags("security-group", Name=f"{prefix}/ControlPlaneSecurityGroup"),
    )["GroupId"]
    cluster = eks.create_cluster(
        name=account.cluster,
        version=KUBERNETES_VERSION,
        roleArn=cluster_role(account, choices),
        resourcesVpcConfig={
            "subnetIds": network.subnets,
            "securityGroupIds": [control_plane_group],
        },
        accessConfig={"authenticationMode": choices.authentication_mode},
        zonalShiftConfig={"enabled": True},
        tags={"karpenter.sh/discovery": account.cluster},
        **dict(choices.cluster),
    )["cluster"]
    cluster_group = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    tagged = network.subnets if choices.tag_public_subnets else network.private
    tag_for_discovery(account, [*tagged, cluster_group])
    roles.create_oidc_provider(account, cluster["identity"]["oidc"]["issuer"])
    for addon in ADDONS:
        eks.create_addon(clusterName=account.cluster, addonName=addon)
    return cluster


def cluster_role(account: Account, choices: Choices) -> str:
    if choices.cluster_role:
        return account.arn("iam", f"role/{choices.cluster_role}", region="")
    return roles.create_role(
        account,
        f"eksctl-{account.cluster}-cluster-ServiceRole-{account.suffix('cluster-role')}",
        roles.trust("eks.amazonaws.com", roles.ASSUME_AND_TAG),
        ["AmazonEKSClusterPolicy", "AmazonEKSVPCResourceController"],
    )


def create_controller(account: Account, policies: list[str]) -> str:
    name = f"{account.cluster}-karpenter"
    role = roles.create_role(account, name, roles.pod_identity_trust())
    for policy in policies:
        account.client("iam").attach_role_policy(RoleName=name, PolicyArn=policy)
    account.client("eks").create_pod_identity_association(
        clusterName=account.cluster,
        namespace=NAMESPACE,
        serviceAccount=SERVICE_ACCOUNT,
        roleArn=role,
    )
    return role


def create_node_group(account: Account, network: Network) -> None:
    """The nodes that Karpenter itself runs on."""
    name = f"{account.cluster}-ng"
    suffix = account.suffix("node-group-role")
    role = roles.create_role(
        account,
        f"eksctl-{account.cluster}-nodegroup-{name}"[:40] + f"-NodeInstanceRole-{suffix[:6]}",
        roles.node_trust(account),
        roles.NODE_POLICIES,
    )
    account.client("eks").create_nodegroup(
        clusterName=account.cluster,
        nodegroupName=name,
        subnets=network.public,
        nodeRole=role,
        instanceTypes=["m5.large"],
        amiType="AL2023_x86_64_STANDARD",
        scalingConfig={"minSize": 1, "maxSize": 10, "desiredSize": 2},
    )
