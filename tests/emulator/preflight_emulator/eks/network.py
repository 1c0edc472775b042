"""What a cluster has in EC2: its VPC, its security group and its network interfaces."""

from __future__ import annotations

import ipaddress
import secrets
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend, ec2_backends
from moto.ec2.models.subnets import Subnet
from moto.eks.exceptions import InvalidParameterException
from moto.eks.models import Cluster, EKSBackend

from preflight_emulator.eks.state import Record

CONTROL_PLANE_INTERFACES = 2
VPC_DEFAULTS: Record = {
    "endpointPublicAccess": True,
    "endpointPrivateAccess": False,
    "publicAccessCidrs": ["0.0.0.0/0"],
}


def ec2_of(backend: EKSBackend) -> EC2Backend:
    return ec2_backends[backend.account_id][backend.region_name]


def find_subnets(backend: EKSBackend, request: Record) -> list[Subnet]:
    """The cluster's subnets, checked as ``CreateCluster`` checks them."""
    subnets = []
    for subnet_id in request.get("subnetIds") or []:
        try:
            subnets.append(ec2_of(backend).get_subnet(subnet_id))
        except EC2ClientError:
            raise InvalidParameterException(
                message=f"The subnet ID '{subnet_id}' does not exist"
            ) from None
    if len({subnet.availability_zone for subnet in subnets}) < 2:
        raise InvalidParameterException(
            message="Subnets specified must be in at least two different AZs"
        )
    if len({subnet.vpc_id for subnet in subnets}) > 1:
        raise InvalidParameterException(message="Subnets specified must be in the same VPC")
    return subnets


def vpc_config(backend: EKSBackend, cluster: Cluster, request: Record) -> Record:
    """Build ``resourcesVpcConfig``, and in EC2 what belongs to it."""
    subnets = find_subnets(backend, request)
    vpc_id = subnets[0].vpc_id
    group_id = _create_group(backend, cluster, vpc_id)
    _create_interfaces(backend, cluster, subnets, group_id)
    return {
        **VPC_DEFAULTS,
        **{name: request[name] for name in VPC_DEFAULTS if request.get(name) is not None},
        "subnetIds": [subnet.id for subnet in subnets],
        "securityGroupIds": request.get("securityGroupIds") or [],
        "vpcId": vpc_id,
        "clusterSecurityGroupId": group_id,
    }


def update_vpc_config(backend: EKSBackend, config: Record, request: Record) -> None:
    if request.get("subnetIds"):
        config["subnetIds"] = [subnet.id for subnet in find_subnets(backend, request)]
    for name in (*VPC_DEFAULTS, "securityGroupIds"):
        if request.get(name) is not None:
            config[name] = request[name]


def kubernetes_network_config(backend: EKSBackend, vpc_id: str, request: Record) -> Record:
    balancing = (request.get("elasticLoadBalancing") or {}).get("enabled", False)
    config: Record = {
        "ipFamily": request.get("ipFamily") or "ipv4",
        "elasticLoadBalancing": {"enabled": bool(balancing)},
    }
    if config["ipFamily"] == "ipv6":
        config["serviceIpv6Cidr"] = f"fd{secrets.token_hex(1)}:{secrets.token_hex(2)}::/108"
    else:
        default = _service_range(ec2_of(backend).get_vpc(vpc_id))
        config["serviceIpv4Cidr"] = request.get("serviceIpv4Cidr") or default
    return config


def delete_network(backend: EKSBackend, cluster: Cluster) -> None:
    ec2 = ec2_of(backend)
    for interface in list(ec2.get_all_network_interfaces()):
        if interface.description == _interface_description(cluster):
            ec2.delete_network_interface(interface.id)
    ec2.delete_security_group(
        group_id=cluster.resources_vpc_config["clusterSecurityGroupId"]
    )


def _service_range(vpc: Any) -> str:
    """EKS takes the one of its two ranges that the VPC leaves free."""
    private = ipaddress.ip_network("10.0.0.0/8")
    own = ipaddress.ip_network(vpc.cidr_block)
    return "172.20.0.0/16" if own.overlaps(private) else "10.100.0.0/16"


def _create_group(backend: EKSBackend, cluster: Cluster, vpc_id: str) -> str:
    ec2 = ec2_of(backend)
    name = f"eks-cluster-sg-{cluster.name}-{secrets.randbelow(10**10)}"
    group = ec2.create_security_group(
        name,
        f"Cluster security group of {cluster.name}",
        vpc_id=vpc_id,
        tags={
            "Name": name,
            f"kubernetes.io/cluster/{cluster.name}": "owned",
            "aws:eks:cluster-name": cluster.name,
        },
    )
    ec2.authorize_security_group_ingress(
        group.id, "-1", None, None, [], source_groups=[{"GroupId": group.id}], vpc_id=vpc_id
    )
    return group.id


def _create_interfaces(
    backend: EKSBackend, cluster: Cluster, subnets: list[Subnet], group_id: str
) -> None:
    by_zone = {subnet.availability_zone: subnet for subnet in subnets}
    for subnet in list(by_zone.values())[:CONTROL_PLANE_INTERFACES]:
        ec2_of(backend).create_network_interface(
            subnet,
            private_ip_address=None,
            group_ids=[group_id],
            description=_interface_description(cluster),
        )


def _interface_description(cluster: Cluster) -> str:
    return f"Amazon EKS {cluster.name}"
