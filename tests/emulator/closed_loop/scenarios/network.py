"""The way between nodes, AWS and the control plane."""

from __future__ import annotations

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
