"""Mend the account of ``broken``, one ordinary call after the other, for ``make demo-fixed``."""

from __future__ import annotations

import json
from typing import Any

from seeds import auto_mode, roles
from seeds.account import Account
from seeds.getting_started import stack_name
from seeds.interruption import create_interruption
from seeds.network import DISCOVERY_TAG, tag_for_discovery, tags

NEW_VPC_RANGE = "100.64.0.0/16"
NEW_SUBNET_RANGE = "100.64.0.0/19"
ENOUGH_ADDRESSES = 1000


def seed(account: Account) -> dict[str, Any]:
    let_eks_tag_sessions(account)
    put_back_metadata_defaults(account)
    create_interruption(account, account.cluster, lambda name: stack_name(account, name))
    let_nodes_in(account)
    roles.create_spot_role(account)
    moved = [move_out_of(account, subnet) for subnet in full_subnets(account)]
    return {"cluster": account.cluster, "region": account.region, "newSubnets": moved}


def let_eks_tag_sessions(account: Account) -> None:
    document = roles.trust("eks.amazonaws.com", roles.ASSUME_AND_TAG)
    account.client("iam").update_assume_role_policy(
        RoleName=auto_mode.CLUSTER_ROLE, PolicyDocument=json.dumps(document)
    )


def put_back_metadata_defaults(account: Account) -> None:
    account.client("ec2").modify_instance_metadata_defaults(
        InstanceMetadataTags="no-preference", HttpEndpoint="no-preference"
    )


def let_nodes_in(account: Account) -> None:
    role = account.arn("iam", f"role/KarpenterNodeRole-{account.cluster}", region="")
    account.client("eks").create_access_entry(
        clusterName=account.cluster, principalArn=role, type="EC2_LINUX"
    )


def full_subnets(account: Account) -> list[dict[str, Any]]:
    subnets = account.client("ec2").describe_subnets(
        Filters=[{"Name": f"tag:{DISCOVERY_TAG}", "Values": [account.cluster]}]
    )["Subnets"]
    return [s for s in subnets if s["AvailableIpAddressCount"] < ENOUGH_ADDRESSES]


def move_out_of(account: Account, full: dict[str, Any]) -> str:
    """A second range for the VPC, a roomy subnet in the same zone, and the tag goes there."""
    ec2 = account.client("ec2")
    ec2.associate_vpc_cidr_block(VpcId=full["VpcId"], CidrBlock=NEW_VPC_RANGE)
    values = {"Name": "more-addresses", "kubernetes.io/role/internal-elb": "1"}
    subnet = ec2.create_subnet(
        VpcId=full["VpcId"],
        CidrBlock=NEW_SUBNET_RANGE,
        AvailabilityZone=full["AvailabilityZone"],
        TagSpecifications=tags("subnet", **values),
    )["Subnet"]["SubnetId"]
    ec2.associate_route_table(RouteTableId=_routes_of(account, full), SubnetId=subnet)
    ec2.delete_tags(Resources=[full["SubnetId"]], Tags=[{"Key": DISCOVERY_TAG}])
    tag_for_discovery(account, [subnet])
    _move_control_plane(account, full["SubnetId"], subnet)
    return subnet


def _routes_of(account: Account, subnet: dict[str, Any]) -> str:
    tables = account.client("ec2").describe_route_tables(
        Filters=[{"Name": "association.subnet-id", "Values": [subnet["SubnetId"]]}]
    )["RouteTables"]
    return tables[0]["RouteTableId"]


def _move_control_plane(account: Account, old: str, new: str) -> None:
    eks = account.client("eks")
    config = eks.describe_cluster(name=account.cluster)["cluster"]["resourcesVpcConfig"]
    subnets = [new if subnet == old else subnet for subnet in config["subnetIds"]]
    eks.update_cluster_config(name=account.cluster, resourcesVpcConfig={"subnetIds": subnets})
