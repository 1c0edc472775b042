"""The node joins: its role, what it may do, and its access entry."""

from __future__ import annotations

from closed_loop import edits
from closed_loop.edits import name_of
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds import roles
from seeds.account import Account

ENTRY, PERMISSIONS, TRUST = "node-role-access-entry", "node-role-permissions", "node-role-trust"
CONTROLLER = "node-role-not-cluster-role"


def of(made: Made) -> str:
    return name_of(made["nodeRole"])


@scenario(f"{TRUST}: EC2 is not trusted", (TRUST, FAIL))
def trusts_nobody(account: Account, made: Made) -> None:
    edits.set_trust(account, of(made), roles.trust("lambda.amazonaws.com"))


@scenario(
    f"{TRUST}: EC2 is not trusted",
    (TRUST, FAIL),
    cases=("C39",),
    arguments=("--node-role", "demo-karpenter"),
)
def controller_role_as_node_role(_account: Account, _made: Made) -> None:
    """spec.role names the controller's role."""


@scenario(f"{TRUST}: EC2 is not trusted", (TRUST, FAIL), region="cn-north-1")
def trusts_nobody_in_china(account: Account, made: Made) -> None:
    trusts_nobody(account, made)


@scenario(f"{PERMISSIONS}: join", (PERMISSIONS, FAIL), (PERMISSIONS, WARN), cases=("C56",))
def session_manager_only(account: Account, made: Made) -> None:
    edits.detach(account, of(made), *roles.NODE_POLICIES[:3])


@scenario(f"{PERMISSIONS}: pull", (PERMISSIONS, FAIL))
def no_registry(account: Account, made: Made) -> None:
    edits.detach(account, of(made), "AmazonEC2ContainerRegistryPullOnly")


@scenario(f"{PERMISSIONS}: cni", (PERMISSIONS, WARN), cases=("C55",))
def no_cni(account: Account, made: Made) -> None:
    edits.detach(account, of(made), "AmazonEKS_CNI_Policy")


@scenario(f"{PERMISSIONS}: cni of IPv6", (PERMISSIONS, WARN), base="ipv6", cases=("C113",))
def no_ipv6(account: Account, made: Made) -> None:
    """AWS's policy for the CNI knows IPv4 only. The subnets have blocks of IPv6, as they must."""
    ec2 = account.client("ec2")
    ec2.associate_vpc_cidr_block(VpcId=made["vpc"], AmazonProvidedIpv6CidrBlock=True)
    vpc = ec2.describe_vpcs(VpcIds=[made["vpc"]])["Vpcs"][0]
    block = vpc["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"]
    for number, subnet in enumerate([*made["publicSubnets"], *made["privateSubnets"]]):
        own = block.replace("00::/56", f"{number:02x}::/64")
        ec2.associate_subnet_cidr_block(SubnetId=subnet, Ipv6CidrBlock=own)


def drop_entry(account: Account, made: Made) -> None:
    account.client("eks").delete_access_entry(
        clusterName=account.cluster, principalArn=made["nodeRole"]
    )


def only_entries(account: Account) -> None:
    """The cluster no longer looks at aws-auth."""
    account.client("eks").update_cluster_config(
        name=account.cluster, accessConfig={"authenticationMode": "API"}
    )


@scenario(f"{ENTRY}: none", (ENTRY, FAIL), cases=("C48",))
def no_entry(account: Account, made: Made) -> None:
    drop_entry(account, made)
    only_entries(account)


@scenario(f"{ENTRY}: wrong type", (ENTRY, FAIL))
def standard_entry(account: Account, made: Made) -> None:
    drop_entry(account, made)
    account.client("eks").create_access_entry(
        clusterName=account.cluster, principalArn=made["nodeRole"], type="STANDARD"
    )


@scenario(f"{ENTRY}: older than the role", (ENTRY, FAIL))
def role_made_again(account: Account, made: Made) -> None:
    edits.entry_age(account, made["nodeRole"], 100_000)


@scenario(f"{ENTRY}: none, of Auto Mode", (ENTRY, FAIL), base="auto-mode")
def no_entry_of_auto_mode(account: Account, made: Made) -> None:
    drop_entry(account, made)


@scenario(f"{ENTRY}: wrong type, of Auto Mode", (ENTRY, FAIL), base="auto-mode")
def linux_entry_of_auto_mode(account: Account, made: Made) -> None:
    drop_entry(account, made)
    account.client("eks").create_access_entry(
        clusterName=account.cluster, principalArn=made["nodeRole"], type="EC2_LINUX"
    )


@scenario(f"{ENTRY}: no access policy, of Auto Mode", (ENTRY, FAIL), base="auto-mode")
def no_access_policy(account: Account, made: Made) -> None:
    eks = account.client("eks")
    arn = f"arn:{account.partition}:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"
    names = {"clusterName": account.cluster, "principalArn": made["nodeRole"]}
    eks.disassociate_access_policy(**names, policyArn=arn)


@scenario(f"{ENTRY}: access policy for namespaces, of Auto Mode", (ENTRY, FAIL), base="auto-mode")
def access_policy_of_a_namespace(account: Account, made: Made) -> None:
    no_access_policy(account, made)
    account.client("eks").associate_access_policy(
        clusterName=account.cluster,
        principalArn=made["nodeRole"],
        policyArn=f"arn:{account.partition}:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy",
        accessScope={"type": "namespace", "namespaces": ["default"]},
    )


@scenario(
    f"{CONTROLLER}: it is",
    (CONTROLLER, FAIL),
    not_looped="the role of a NodeClass is in Kubernetes",
    arguments=("--node-role", "shared"),
)
def one_role_for_both(account: Account, _made: Made) -> None:
    eks = account.client("eks")
    role = roles.create_role(
        account,
        "shared",
        roles.trust(["ec2.amazonaws.com", "eks.amazonaws.com"]),  # type: ignore[arg-type]
        [*roles.NODE_POLICIES, "AmazonEKSClusterPolicy"],
    )
    cluster = eks.describe_cluster(name=account.cluster)["cluster"]
    eks.delete_nodegroup(clusterName=account.cluster, nodegroupName=f"{account.cluster}-ng")
    eks.delete_cluster(name=account.cluster)
    eks.create_cluster(
        name=account.cluster,
        version=cluster["version"],
        roleArn=role,
        resourcesVpcConfig={"subnetIds": cluster["resourcesVpcConfig"]["subnetIds"]},
        accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"},
    )
