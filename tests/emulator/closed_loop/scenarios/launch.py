"""What a launch needs: subnets, security groups, the node role, the Spot role."""

from __future__ import annotations

from closed_loop import edits
from closed_loop.edits import name_of
from closed_loop.scenario import FAIL, WARN, Made, scenario
from closed_loop.scenarios.cluster import three_other_subnets
from seeds.account import Account

DISCOVERED, ZONES, FREE = "subnets-discovered", "subnets-zones", "subnets-free-addresses"
GROUPS, OTHER_VPC = "security-groups-discovered", "subnets-vpc"
KEY = "karpenter.sh/discovery"


@scenario(f"{DISCOVERED}: none is tagged", (DISCOVERED, FAIL), cases=("C67",))
def only_the_cluster_tag(account: Account, made: Made) -> None:
    edits.untag(account, made["privateSubnets"])
    edits.tag(account, made["privateSubnets"], f"kubernetes.io/cluster/{account.cluster}", "shared")


@scenario(f"{DISCOVERED}: the tag is misspelt", (DISCOVERED, FAIL))
def last_letter_is_missing(account: Account, made: Made) -> None:
    edits.untag(account, made["privateSubnets"])
    edits.tag(account, made["privateSubnets"], KEY[:-1], account.cluster)


@scenario(
    f"{DISCOVERED}: every subnet is another cluster's",
    (DISCOVERED, FAIL),
    blanks=lambda account: {"FILL_IN_SUBNET_ID": any_subnet(account)},
)
def all_of_another_cluster(account: Account, made: Made) -> None:
    edits.tag(account, [*made["privateSubnets"], *made["publicSubnets"]], KEY, "orders")


def any_subnet(account: Account) -> str:
    """A subnet that a person would make for the nodes."""
    ec2 = account.client("ec2")
    cluster = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    vpc = cluster["resourcesVpcConfig"]["vpcId"]
    ranges = ("192.168.192.0/22", "192.168.196.0/22")
    made = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for cidr, zone in zip(ranges, account.zones, strict=False)
    ]
    edits.tag(account, made[1:], KEY, account.cluster)
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    private = next(
        table["RouteTableId"]
        for table in tables
        if any(route.get("NatGatewayId") for route in table["Routes"])
    )
    for subnet in made:
        ec2.associate_route_table(RouteTableId=private, SubnetId=subnet)
    return made[0]


@scenario(f"{ZONES}: one zone", (ZONES, WARN), cases=("C68",))
def one_zone(account: Account, made: Made) -> None:
    edits.untag(account, made["privateSubnets"][1:])


@scenario("subnets-place: a Local Zone", ("subnets-place", WARN))
def local_zone(account: Account, made: Made) -> None:
    edits.set_zone(account, made["privateSubnets"][0], "us-west-2-lax-1a", "usw2-lax1-az1")


def other_vpc(account: Account) -> str:
    return account.client("ec2").create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]


@scenario(f"{OTHER_VPC}: in another VPC", (OTHER_VPC, FAIL))
def subnet_of_another_vpc(account: Account, _made: Made) -> None:
    ec2 = account.client("ec2")
    subnet = ec2.create_subnet(VpcId=other_vpc(account), CidrBlock="10.9.0.0/20")["Subnet"]
    edits.tag(account, [subnet["SubnetId"]], KEY, account.cluster)


@scenario(f"{FREE}: none left", (FREE, FAIL), cases=("C70",), blanks=three_other_subnets)
def full(account: Account, made: Made) -> None:
    edits.set_free(account, made["privateSubnets"][0], 0)


@scenario(f"{FREE}: few left", (FREE, WARN))
def nearly_full(account: Account, made: Made) -> None:
    edits.set_free(account, made["privateSubnets"][0], 6)


@scenario(f"{GROUPS}: none is tagged", (GROUPS, FAIL), cases=("C75",))
def no_group(account: Account, made: Made) -> None:
    edits.untag(account, [made["clusterSecurityGroup"]])


@scenario("security-groups-vpc: in another VPC", ("security-groups-vpc", FAIL))
def group_of_another_vpc(account: Account, _made: Made) -> None:
    group = account.client("ec2").create_security_group(
        GroupName="nodes-of-the-old-vpc", Description="-", VpcId=other_vpc(account)
    )["GroupId"]
    edits.tag(account, [group], KEY, account.cluster)


@scenario(
    "node-role-exists: it does not",
    ("node-role-exists", FAIL),
    arguments=("--node-role", "KarpenterNodeRole-demo"),
)
def no_node_role(account: Account, made: Made) -> None:
    """The NodeClass names a role that is no more."""
    before_the_install(account, made)


@scenario(
    "node-role-exists: not yet",
    ("node-role-exists", WARN),
    arguments=("--stage", "before"),
)
def before_the_install(account: Account, made: Made) -> None:
    eks = account.client("eks")
    eks.delete_access_entry(clusterName=account.cluster, principalArn=made["nodeRole"])
    edits.delete_role(account, name_of(made["nodeRole"]))


@scenario("node-role-instance-profile: IAM is out of reach", ("node-role-instance-profile", WARN))
def private_endpoint(account: Account, _made: Made) -> None:
    account.client("eks").update_cluster_config(
        name=account.cluster,
        resourcesVpcConfig={"endpointPublicAccess": False, "endpointPrivateAccess": True},
    )


@scenario(
    "node-role-instance-profile: left empty",
    ("node-role-instance-profile", WARN),
    not_looped="Karpenter puts the role in by itself once it may",
)
def empty_profile(account: Account, _made: Made) -> None:
    account.client("iam").create_instance_profile(
        InstanceProfileName="demo_123", Path=f"/karpenter/{account.region}/{account.cluster}/"
    )


@scenario(
    "spot-service-linked-role: absent",
    ("spot-service-linked-role", WARN),
    cases=("C81",),
)
def never_used_spot(account: Account, _made: Made) -> None:
    iam = account.client("iam")
    iam.delete_service_linked_role(RoleName="AWSServiceRoleForEC2Spot")


@scenario(
    "spot-service-linked-role: absent, and Karpenter goes without a word",
    ("spot-service-linked-role", FAIL),
    arguments=("--karpenter-version", "1.0.6"),
)
def never_used_spot_with_an_old_controller(account: Account, made: Made) -> None:
    never_used_spot(account, made)


@scenario(
    "ami-alias: no image",
    ("ami-alias", WARN),
    cases=("C101",),
    not_looped="another image is chosen in the NodeClass, or AWS publishes one",
)
def old_kubernetes(account: Account, _made: Made) -> None:
    eks = account.client("eks")
    cluster = eks.describe_cluster(name=account.cluster)["cluster"]
    eks.delete_nodegroup(clusterName=account.cluster, nodegroupName=f"{account.cluster}-ng")
    eks.delete_cluster(name=account.cluster)
    eks.create_cluster(
        name=account.cluster,
        version="1.30",
        roleArn=cluster["roleArn"],
        resourcesVpcConfig={"subnetIds": cluster["resourcesVpcConfig"]["subnetIds"]},
        accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"},
    )
