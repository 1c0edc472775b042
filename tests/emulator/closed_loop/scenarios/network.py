"""The way between nodes, AWS and the control plane."""

from __future__ import annotations

import ipaddress
import json

from closed_loop import edits
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds import faults
from seeds.account import Account


def vpc_of(account: Account) -> str:
    return faults.find_network(account)[0]


@scenario("vpc-dns: it is off", ("vpc-dns", FAIL))
def no_dns(account: Account, _made: Made) -> None:
    for name in ("EnableDnsSupport", "EnableDnsHostnames"):
        account.client("ec2").modify_vpc_attribute(
            VpcId=vpc_of(account), **{name: {"Value": False}}
        )


@scenario("vpc-block-public-access: both ways", ("vpc-block-public-access", FAIL))
def all_is_blocked(account: Account, _made: Made) -> None:
    account.client("ec2").modify_vpc_block_public_access_options(
        InternetGatewayBlockMode="block-bidirectional"
    )


@scenario("cluster-endpoint-access: other addresses only", ("cluster-endpoint-access", FAIL))
def offices_only(account: Account, _made: Made) -> None:
    account.client("eks").update_cluster_config(
        name=account.cluster, resourcesVpcConfig={"publicAccessCidrs": [faults.OFFICES]}
    )


@scenario("network-acls: all is denied", ("network-acls", FAIL))
def shut(account: Account, _made: Made) -> None:
    faults.shut_subnets(account, vpc_of(account))


@scenario("security-groups-cluster-tag: two bear it", ("security-groups-cluster-tag", WARN))
def second_group(account: Account, _made: Made) -> None:
    faults.add_group(account, vpc_of(account))


# Routes


@scenario("subnet-routes: public, without public addresses", ("subnet-routes", FAIL))
def public_nodes(account: Account, _made: Made) -> None:
    faults.public_nodes(account)


@scenario("subnet-routes: the NAT gateway is gone", ("subnet-routes", FAIL))
def other_nat_gateway(account: Account, made: Made) -> None:
    """Routes still lead to a NAT gateway that was replaced by another."""
    ec2 = account.client("ec2")
    table = faults.private_routes(account)
    old = nat_gateways(account)[0]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    ec2.create_nat_gateway(SubnetId=made["publicSubnets"][0], AllocationId=address)
    ec2.delete_nat_gateway(NatGatewayId=old)
    ec2.replace_route(
        RouteTableId=table, DestinationCidrBlock=faults.DEFAULT_ROUTE, NatGatewayId=old
    )


def nat_gateways(account: Account) -> list[str]:
    own = [{"Name": "vpc-id", "Values": [vpc_of(account)]}]
    found = account.client("ec2").describe_nat_gateways(Filters=own)["NatGateways"]
    return [one["NatGatewayId"] for one in found if one["State"] == "available"]


# Addresses


def blocks_of_its_own(account: Account) -> dict[str, str]:
    """A /64 for each subnet that the discovery tag selects."""
    vpc, subnets = faults.find_network(account)
    found = account.client("ec2").describe_vpcs(VpcIds=[vpc])["Vpcs"][0]
    block = found["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"]
    parts = ipaddress.ip_network(block).subnets(new_prefix=64)
    name = "FILL_IN_IPV6_BLOCK_OF_"
    return {
        name + subnet.removeprefix("subnet-").upper(): str(part)
        for subnet, part in zip(subnets, parts, strict=False)
    }


@scenario(
    "subnets-address-family: no IPv6",
    ("subnets-address-family", FAIL),
    base="ipv6",
    blanks=blocks_of_its_own,
)
def no_ipv6(account: Account, _made: Made) -> None:
    account.client("ec2").associate_vpc_cidr_block(
        VpcId=vpc_of(account), AmazonProvidedIpv6CidrBlock=True
    )


# VPC endpoints


@scenario("vpc-endpoints: its security group admits nobody", ("vpc-endpoints", FAIL))
def closed_endpoint(account: Account, _made: Made) -> None:
    vpc = vpc_of(account)
    closed = account.client("ec2").create_security_group(
        GroupName="endpoints", Description="of another team", VpcId=vpc
    )["GroupId"]
    faults.create_endpoint(account, vpc, "ec2", closed)


@scenario("vpc-endpoints: some are missing", ("vpc-endpoints", FAIL))
def endpoints_but_for_two(account: Account, _made: Made) -> None:
    faults.isolated(account)
    faults.isolated_mended(account)
    ec2 = account.client("ec2")
    names = [f"com.amazonaws.{account.region}.{name}" for name in ("ecr.dkr", "sqs")]
    found = ec2.describe_vpc_endpoints(Filters=[{"Name": "service-name", "Values": names}])
    ids = [endpoint["VpcEndpointId"] for endpoint in found["VpcEndpoints"]]
    ec2.delete_vpc_endpoints(VpcEndpointIds=ids)


@scenario("vpc-endpoint-policies: another bucket only", ("vpc-endpoint-policies", FAIL))
def bucket_of_another_team(account: Account, _made: Made) -> None:
    """Images come from a bucket of AWS's, which the policy of the endpoint does not let in."""
    statement = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": f"arn:{account.partition}:s3:::reports/*",
    }
    account.client("ec2").create_vpc_endpoint(
        VpcId=vpc_of(account),
        ServiceName=f"com.amazonaws.{account.region}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[faults.private_routes(account)],
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )


# Security groups


@scenario(
    "security-groups-per-interface: more than the quota",
    ("security-groups-per-interface", WARN),
    not_looped="which of the groups nodes need is for their owners to say",
)
def six_groups(account: Account, _made: Made) -> None:
    ec2 = account.client("ec2")
    groups = [
        ec2.create_security_group(GroupName=name, Description="of nodes", VpcId=vpc_of(account))
        for name in ("a", "b", "c", "d", "e")
    ]
    edits.tag(account, [group["GroupId"] for group in groups], faults.DISCOVERY_TAG, account.cluster)


def group_of_nodes(account: Account) -> str:
    """A group of the nodes' own, in the place of the cluster's."""
    ec2 = account.client("ec2")
    cluster = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    own = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    edits.untag(account, [own])
    group = ec2.create_security_group(
        GroupName="karpenter-nodes", Description="nodes", VpcId=vpc_of(account)
    )["GroupId"]
    edits.tag(account, [group], "karpenter.sh/discovery", account.cluster)
    return group


@scenario("security-groups-reach: nothing is let in", ("security-groups-reach", FAIL))
def own_group(account: Account, _made: Made) -> None:
    account.client("eks").update_cluster_config(
        name=account.cluster, resourcesVpcConfig={"endpointPrivateAccess": True}
    )
    group_of_nodes(account)


@scenario("security-groups-reach: kubelets are not reached", ("security-groups-reach", WARN))
def no_kubelets(account: Account, _made: Made) -> None:
    group_of_nodes(account)


@scenario("security-groups-reach: nothing is let out", ("security-groups-reach", FAIL))
def nothing_out(account: Account, _made: Made) -> None:
    group = group_of_nodes(account)
    ec2 = account.client("ec2")
    cluster = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    own = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    ec2.authorize_security_group_ingress(
        GroupId=group, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": own}]}]
    )
    rules = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]
    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=rules["IpPermissionsEgress"])
