"""The cluster: its role, its mode, its subnets, and the account's defaults."""

from __future__ import annotations

from closed_loop import edits
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds import roles
from seeds.account import Account

ROLE, SUBNETS = "cluster-role-trust", "cluster-subnets-free-addresses"


def cluster_role(account: Account) -> str:
    cluster = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    return edits.name_of(cluster["roleArn"])


@scenario(f"{ROLE}: EKS is not trusted", (ROLE, FAIL))
def not_trusted(account: Account, _made: Made) -> None:
    edits.set_trust(account, cluster_role(account), roles.trust("ec2.amazonaws.com"))


@scenario(f"{ROLE}: it is gone", (ROLE, FAIL))
def gone(account: Account, _made: Made) -> None:
    edits.delete_role(account, cluster_role(account))


@scenario(
    "auth-mode: no access entries",
    ("auth-mode", FAIL),
    arguments=("--product", "auto-mode"),
)
def config_map(account: Account, _made: Made) -> None:
    eks = account.client("eks")
    # The mode of a cluster cannot go back: it is made anew.
    eks.delete_nodegroup(clusterName=account.cluster, nodegroupName=f"{account.cluster}-ng")
    found = eks.describe_cluster(name=account.cluster)["cluster"]
    eks.delete_cluster(name=account.cluster)
    eks.create_cluster(
        name=account.cluster,
        version=found["version"],
        roleArn=found["roleArn"],
        resourcesVpcConfig={"subnetIds": found["resourcesVpcConfig"]["subnetIds"]},
        accessConfig={"authenticationMode": "CONFIG_MAP"},
    )


def three_other_subnets(account: Account) -> dict[str, str]:
    """A subnet a zone, as a person would make them."""
    ec2 = account.client("ec2")
    config = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    vpc = config["resourcesVpcConfig"]["vpcId"]
    made = []
    for number, zone in enumerate(account.zones):
        cidr = f"192.168.{240 + number}.0/24"
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]
        made.append(subnet["SubnetId"])
    return {"FILL_IN_SUBNET_IDS": ",".join(made)}


@scenario(f"{SUBNETS}: too few addresses", (SUBNETS, WARN), blanks=three_other_subnets)
def full(account: Account, made: Made) -> None:
    edits.set_free(account, made["publicSubnets"][0], 2)


@scenario("imds-endpoint: off", ("imds-endpoint", WARN), cases=("C08",))
def endpoint_off(account: Account, _made: Made) -> None:
    account.client("ec2").modify_instance_metadata_defaults(HttpEndpoint="disabled")


@scenario("imds-hop-limit: too low", ("imds-hop-limit", WARN))
def one_hop(account: Account, _made: Made) -> None:
    account.client("ec2").modify_instance_metadata_defaults(HttpPutResponseHopLimit=1)


@scenario("imds-metadata-tags: on", ("imds-metadata-tags", WARN), cases=("C58",))
def metadata_tags(account: Account, _made: Made) -> None:
    account.client("ec2").modify_instance_metadata_defaults(InstanceMetadataTags="enabled")


@scenario(
    "imds-metadata-tags: on, and Karpenter cannot launch",
    ("imds-metadata-tags", FAIL),
    arguments=("--karpenter-version", "1.0.6"),
)
def metadata_tags_of_old(account: Account, made: Made) -> None:
    metadata_tags(account, made)
