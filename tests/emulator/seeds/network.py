"""A VPC with three public and three private subnets, as eksctl lays it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seeds.account import Account

VPC_RANGE = "192.168.0.0/16"
PUBLIC_RANGES = ["192.168.0.0/19", "192.168.32.0/19", "192.168.64.0/19"]
PRIVATE_RANGES = ["192.168.96.0/19", "192.168.128.0/19", "192.168.160.0/19"]
DISCOVERY_TAG = "karpenter.sh/discovery"


@dataclass
class Network:
    vpc: str
    public: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    private_routes: str = ""

    @property
    def subnets(self) -> list[str]:
        return [*self.public, *self.private]

    def summary(self, account: Account, cluster: dict[str, Any]) -> dict[str, Any]:
        """What every seed says of the cluster that it made in this network."""
        return {
            "cluster": account.cluster,
            "region": account.region,
            "account": account.number,
            "vpc": self.vpc,
            "privateSubnets": self.private,
            "publicSubnets": self.public,
            "clusterSecurityGroup": cluster["resourcesVpcConfig"]["clusterSecurityGroupId"],
        }


def tags(kind: str, **values: str) -> list[dict[str, object]]:
    pairs = [{"Key": key, "Value": value} for key, value in values.items()]
    return [{"ResourceType": kind, "Tags": pairs}]


def create_network(
    account: Account,
    prefix: str,
    vpc_range: str = VPC_RANGE,
    public_ranges: list[str] = PUBLIC_RANGES,
    private_ranges: list[str] = PRIVATE_RANGES,
) -> Network:
    """``prefix`` starts the Name tags."""
    ec2 = account.client("ec2")
    vpc = ec2.create_vpc(CidrBlock=vpc_range, TagSpecifications=tags("vpc", Name=f"{prefix}/VPC"))[
        "Vpc"
    ]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsSupport={"Value": True})
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    network = Network(vpc)
    for zone, public, private in zip(account.zones, public_ranges, private_ranges, strict=True):
        label = zone.replace("-", "").upper()
        network.public.append(
            _subnet(account, vpc, zone, public, f"{prefix}/SubnetPublic{label}", "elb")
        )
        network.private.append(
            _subnet(account, vpc, zone, private, f"{prefix}/SubnetPrivate{label}", "internal-elb")
        )
    for subnet in network.public:
        ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    _create_routes(account, network, prefix)
    return network


def tag_for_discovery(account: Account, resources: list[str]) -> None:
    tag = {"Key": DISCOVERY_TAG, "Value": account.cluster}
    account.client("ec2").create_tags(Resources=resources, Tags=[tag])


def _subnet(account: Account, vpc: str, zone: str, cidr: str, name: str, balancer: str) -> str:
    values = {"Name": name, f"kubernetes.io/role/{balancer}": "1"}
    subnet = account.client("ec2").create_subnet(
        VpcId=vpc,
        CidrBlock=cidr,
        AvailabilityZone=zone,
        TagSpecifications=tags("subnet", **values),
    )
    return subnet["Subnet"]["SubnetId"]


def _create_routes(account: Account, network: Network, prefix: str) -> None:
    """Public subnets reach the internet through a gateway, private ones through one NAT."""
    ec2 = account.client("ec2")
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=network.vpc)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=network.public[0], AllocationId=address)
    nat_id = nat["NatGateway"]["NatGatewayId"]
    public = _route_table(account, network.vpc, f"{prefix}/PublicRouteTable", network.public)
    ec2.create_route(RouteTableId=public, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    network.private_routes = _route_table(
        account, network.vpc, f"{prefix}/PrivateRouteTable", network.private
    )
    ec2.create_route(
        RouteTableId=network.private_routes, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat_id
    )


def _route_table(account: Account, vpc: str, name: str, subnets: list[str]) -> str:
    ec2 = account.client("ec2")
    table = ec2.create_route_table(VpcId=vpc, TagSpecifications=tags("route-table", Name=name))[
        "RouteTable"
    ]["RouteTableId"]
    for subnet in subnets:
        ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    return table
