"""A healthy EKS Auto Mode cluster, with the role names that AWS's guide suggests."""

from __future__ import annotations

from typing import Any

from seeds import roles
from seeds.account import Account
from seeds.network import create_network

CLUSTER_ROLE = "AmazonEKSAutoClusterRole"
NODE_ROLE = "AmazonEKSAutoNodeRole"
NODE_POOLS = ["general-purpose", "system"]
KUBERNETES_VERSION = "1.35"


def seed(account: Account) -> dict[str, Any]:
    cluster_role = create_cluster_role(account, roles.ASSUME_AND_TAG)
    node_role = create_node_role(account)
    network = create_network(account, account.cluster)
    cluster = account.client("eks").create_cluster(
        name=account.cluster,
        version=KUBERNETES_VERSION,
        roleArn=cluster_role,
        resourcesVpcConfig={"subnetIds": network.private, "endpointPrivateAccess": True},
        accessConfig={"authenticationMode": "API"},
        **switched_on(node_role),
    )["cluster"]
    roles.create_spot_role(account)
    return {
        **network.summary(account, cluster),
        "clusterRole": cluster_role,
        "nodeRole": node_role,
    }


def create_cluster_role(account: Account, actions: str | list[str]) -> str:
    """``actions``: what EKS may do with the role; Auto Mode needs sts:TagSession among them."""
    trust = roles.trust("eks.amazonaws.com", actions)
    return roles.create_role(account, CLUSTER_ROLE, trust, roles.AUTO_CLUSTER_POLICIES)


def create_node_role(account: Account) -> str:
    return roles.create_role(
        account, NODE_ROLE, roles.node_trust(account), roles.AUTO_NODE_POLICIES
    )


def switched_on(node_role: str) -> dict[str, Any]:
    """The members of CreateCluster that make a cluster an Auto Mode one."""
    return {
        "computeConfig": {
            "enabled": True,
            "nodePools": NODE_POOLS,
            "nodeRoleArn": node_role,
        },
        "storageConfig": {"blockStorage": {"enabled": True}},
        "kubernetesNetworkConfig": {"elasticLoadBalancing": {"enabled": True}},
    }
