"""What the Terraform EKS module with its Karpenter submodule (version 21) leaves in an account.

Other names than the guide's: prefixes with Terraform's suffix, and one policy for the controller.
"""

from __future__ import annotations

import json
from typing import Any

from seeds import roles
from seeds.account import Account
from seeds.controller_policies import Controller
from seeds.interruption import create_interruption
from seeds.network import create_network, tag_for_discovery, tags

KUBERNETES_VERSION = "1.35"
TIME = "20261101120000"
NODE_POLICIES = [
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKS_CNI_Policy",
]
RULE_PREFIXES = {
    "ScheduledChangeRule": "KarpenterHealthEvent",
    "SpotInterruptionRule": "KarpenterSpotInterrupt",
    "RebalanceRule": "KarpenterInstanceRebalance",
    "InstanceStateChangeRule": "KarpenterInstanceStateChange",
    "CapacityReservationInterruptionRule": "KarpenterCapacityReservationInterruption",
}


def seed(account: Account) -> dict[str, Any]:
    network = create_network(
        account,
        account.cluster,
        vpc_range="10.0.0.0/16",
        public_ranges=["10.0.48.0/24", "10.0.49.0/24", "10.0.50.0/24"],
        private_ranges=["10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"],
    )
    node_group_tag = create_node_security_group(account, network.vpc)
    cluster_role = roles.create_role(
        account,
        suffixed(account, f"{account.cluster}-cluster"),
        roles.trust("eks.amazonaws.com", roles.ASSUME_AND_TAG),
        ["AmazonEKSClusterPolicy"],
    )
    cluster = account.client("eks").create_cluster(
        name=account.cluster,
        version=KUBERNETES_VERSION,
        roleArn=cluster_role,
        resourcesVpcConfig={"subnetIds": network.private, "endpointPrivateAccess": True},
        accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"},
    )["cluster"]
    connect(account, cluster["resourcesVpcConfig"]["clusterSecurityGroupId"], node_group_tag)
    tag_for_discovery(account, [*network.private, node_group_tag])
    roles.create_oidc_provider(account, cluster["identity"]["oidc"]["issuer"])
    queue = f"Karpenter-{account.cluster}"
    create_interruption(account, queue, lambda name: suffixed(account, RULE_PREFIXES[name]))
    node_role = create_node_role(account)
    controller_role = create_controller(account, node_role, account.arn("sqs", queue))
    create_node_group(account, network.private)
    roles.create_spot_role(account)
    return {
        **network.summary(account, cluster),
        "nodeSecurityGroup": node_group_tag,
        "nodeRole": node_role,
        "controllerRole": controller_role,
        "queue": queue,
    }


def suffixed(account: Account, prefix: str) -> str:
    """Terraform's ``name_prefix``: a time and a counter after the name."""
    return f"{prefix}-{TIME}{account.suffix(prefix).lower()}"[:64]


def create_node_security_group(account: Account, vpc: str) -> str:
    ec2 = account.client("ec2")
    name = suffixed(account, f"{account.cluster}-node")
    values = {
        "Name": f"{account.cluster}-node",
        f"kubernetes.io/cluster/{account.cluster}": "owned",
    }
    return ec2.create_security_group(
        GroupName=name,
        Description="EKS node shared security group",
        VpcId=vpc,
        TagSpecifications=tags("security-group", **values),
    )["GroupId"]


def connect(account: Account, cluster_group: str, node_group: str) -> None:
    """The rules that the module makes between control plane and nodes."""
    ec2 = account.client("ec2")

    def allow(group: str, port: int, source: str, protocol: str = "tcp") -> None:
        permission = {
            "IpProtocol": protocol,
            "FromPort": port,
            "ToPort": port,
            "UserIdGroupPairs": [{"GroupId": source}],
        }
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])

    allow(cluster_group, 443, node_group)
    for port in (443, 4443, 6443, 8443, 9443, 10250):
        allow(node_group, port, cluster_group)
    for protocol in ("tcp", "udp"):
        allow(node_group, 53, node_group, protocol)


def create_node_role(account: Account) -> str:
    name = suffixed(account, f"Karpenter-{account.cluster}")
    role = roles.create_role(account, name, roles.node_trust(account), NODE_POLICIES)
    account.client("eks").create_access_entry(
        clusterName=account.cluster, principalArn=role, type="EC2_LINUX"
    )
    return role


def create_controller(account: Account, node_role: str, queue_arn: str) -> str:
    """One inline policy: a managed one has no room for all statements."""
    eks, iam = account.client("eks"), account.client("iam")
    name = suffixed(account, "KarpenterController")
    role = roles.create_role(account, name, roles.pod_identity_trust())
    statements = Controller(account, node_role, queue_arn).all_statements()
    document = {"Version": "2012-10-17", "Statement": statements}
    iam.put_role_policy(RoleName=name, PolicyName=name, PolicyDocument=json.dumps(document))
    for addon in ("coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"):
        eks.create_addon(clusterName=account.cluster, addonName=addon)
    eks.create_pod_identity_association(
        clusterName=account.cluster,
        namespace="kube-system",
        serviceAccount="karpenter",
        roleArn=role,
    )
    return role


def create_node_group(account: Account, subnets: list[str]) -> None:
    role = roles.create_role(
        account,
        suffixed(account, "karpenter-eks-node-group"),
        roles.node_trust(account),
        NODE_POLICIES,
    )
    account.client("eks").create_nodegroup(
        clusterName=account.cluster,
        nodegroupName=suffixed(account, "karpenter"),
        subnets=subnets,
        nodeRole=role,
        instanceTypes=["m5.large"],
        scalingConfig={"minSize": 2, "maxSize": 3, "desiredSize": 2},
    )
