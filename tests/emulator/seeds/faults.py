"""Faults of network, keys and limits, each seeded over the account of ``getting-started``.

Every seed here changes an account by ordinary calls; ``isolated-mended`` makes of ``isolated``
what Karpenter's guide for private clusters asks for.
"""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from seeds.account import Account
from seeds.network import DISCOVERY_TAG, tag_for_discovery, tags

DEFAULT_ROUTE = "0.0.0.0/0"
OFFICES = "203.0.113.0/24"
# What a private cluster with Pod Identity and a queue calls.
INTERFACE_SERVICES = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sqs", "ssm"]
VCPU_QUOTAS = {"L-1216C47A": 1, "L-34B43A08": 4}


def network(account: Account) -> dict[str, Any]:
    """Everything between nodes and cluster is closed, one way or another."""
    ec2, eks = account.client("ec2"), account.client("eks")
    vpc, _ = find_network(account)
    for name in ("EnableDnsSupport", "EnableDnsHostnames"):
        ec2.modify_vpc_attribute(VpcId=vpc, **{name: {"Value": False}})
    eks.update_cluster_config(
        name=account.cluster, resourcesVpcConfig={"publicAccessCidrs": [OFFICES]}
    )
    ec2.modify_vpc_block_public_access_options(InternetGatewayBlockMode="block-bidirectional")
    closed = ec2.create_security_group(
        GroupName="endpoints", Description="of another team", VpcId=vpc
    )["GroupId"]
    endpoint = create_endpoint(account, vpc, "ec2", closed)
    acl = shut_subnets(account, vpc)
    group = add_group(account, vpc)
    return {"vpc": vpc, "endpoint": endpoint, "acl": acl, "secondGroup": group}


def isolated(account: Account) -> dict[str, Any]:
    """The NAT gateway is gone from the private subnets' routes."""
    table = private_routes(account)
    account.client("ec2").delete_route(RouteTableId=table, DestinationCidrBlock=DEFAULT_ROUTE)
    return {"routeTable": table}


def isolated_mended(account: Account) -> dict[str, Any]:
    ec2, eks = account.client("ec2"), account.client("eks")
    vpc, _ = find_network(account)
    group = ec2.create_security_group(
        GroupName="endpoints", Description="VPC endpoints", VpcId=vpc
    )["GroupId"]
    blocks = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["CidrBlockAssociationSet"]
    for block in blocks:
        ec2.authorize_security_group_ingress(
            GroupId=group, IpProtocol="tcp", FromPort=443, ToPort=443, CidrIp=block["CidrBlock"]
        )
    endpoints = [create_endpoint(account, vpc, name, group) for name in INTERFACE_SERVICES]
    s3 = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{account.region}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[private_routes(account)],
    )["VpcEndpoint"]["VpcEndpointId"]
    eks.update_cluster_config(
        name=account.cluster, resourcesVpcConfig={"endpointPrivateAccess": True}
    )
    return {"endpoints": [*endpoints, s3]}


def public_nodes(account: Account) -> dict[str, Any]:
    """Nodes go to public subnets, which give them no public addresses."""
    ec2 = account.client("ec2")
    vpc, private = find_network(account)
    ec2.delete_tags(Resources=private, Tags=[{"Key": DISCOVERY_TAG}])
    subnets = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"]
    public = [one["SubnetId"] for one in subnets if one["SubnetId"] not in private]
    for subnet in public:
        ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": False})
    tag_for_discovery(account, public)
    return {"publicSubnets": public}


def limits(account: Account) -> dict[str, Any]:
    """Keys that may not be used, quotas that are used up, AMIs that are not allowed."""
    ec2, sqs = account.client("ec2"), account.client("sqs")
    volumes, messages = create_key(account, "volumes"), create_key(account, "messages")
    ec2.modify_ebs_default_kms_key_id(KmsKeyId=volumes)
    url = sqs.get_queue_url(QueueName=account.cluster)["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"KmsMasterKeyId": messages})
    ec2.enable_allowed_images_settings(AllowedImagesSettingsState="enabled")
    ec2.replace_image_criteria_in_allowed_images_settings(
        ImageCriteria=[{"ImageProviders": [account.number]}]
    )
    for code, value in VCPU_QUOTAS.items():
        admin(account, "quota", {"quotaCode": code, "value": value})
    failed = fail_launch(account)
    bound(account)
    return {"volumeKey": volumes, "queueKey": messages, "failedInstance": failed}


def find_network(account: Account) -> tuple[str, list[str]]:
    """The cluster's VPC and the subnets that the discovery tag selects."""
    cluster = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    vpc = cluster["resourcesVpcConfig"]["vpcId"]
    tagged = [{"Name": f"tag:{DISCOVERY_TAG}", "Values": [account.cluster]}]
    subnets = account.client("ec2").describe_subnets(Filters=tagged)["Subnets"]
    return vpc, [subnet["SubnetId"] for subnet in subnets]


def private_routes(account: Account) -> str:
    _, subnets = find_network(account)
    own = [{"Name": "association.subnet-id", "Values": subnets[:1]}]
    tables = account.client("ec2").describe_route_tables(Filters=own)["RouteTables"]
    return tables[0]["RouteTableId"]


def create_endpoint(account: Account, vpc: str, service: str, group: str) -> str:
    _, subnets = find_network(account)
    return account.client("ec2").create_vpc_endpoint(
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{account.region}.{service}",
        VpcEndpointType="Interface",
        SubnetIds=subnets,
        SecurityGroupIds=[group],
        PrivateDnsEnabled=True,
    )["VpcEndpoint"]["VpcEndpointId"]


def shut_subnets(account: Account, vpc: str) -> str:
    """A new network ACL, which denies all, for the nodes' subnets."""
    ec2 = account.client("ec2")
    _, subnets = find_network(account)
    shut = ec2.create_network_acl(VpcId=vpc)["NetworkAcl"]["NetworkAclId"]
    in_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
    for acl in ec2.describe_network_acls(Filters=in_vpc)["NetworkAcls"]:
        for association in acl["Associations"]:
            if association["SubnetId"] in subnets:
                ec2.replace_network_acl_association(
                    AssociationId=association["NetworkAclAssociationId"], NetworkAclId=shut
                )
    return shut


def add_group(account: Account, vpc: str) -> str:
    """A second group for the nodes, with the cluster's tag as well."""
    values = {f"kubernetes.io/cluster/{account.cluster}": "owned", DISCOVERY_TAG: account.cluster}
    return account.client("ec2").create_security_group(
        GroupName="nodes",
        Description="nodes",
        VpcId=vpc,
        TagSpecifications=tags("security-group", **values),
    )["GroupId"]


def create_key(account: Account, description: str) -> str:
    """A key with the policy that the API gives: the account's own, and no service's."""
    return account.client("kms").create_key(Description=description)["KeyMetadata"]["Arn"]


def fail_launch(account: Account) -> str:
    """An instance that ended as one does whose volume cannot be decrypted."""
    _, subnets = find_network(account)
    ec2 = account.client("ec2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    instance = ec2.run_instances(
        ImageId=image, InstanceType="m5.large", MinCount=1, MaxCount=1, SubnetId=subnets[0]
    )["Instances"][0]["InstanceId"]
    reason = "Client.InternalError"
    body = {"instanceId": instance, "code": reason, "message": f"{reason}: Client error on launch"}
    admin(account, "instance-end", body)
    return instance


def bound(account: Account) -> None:
    """A permissions boundary for nodes, which takes nothing away."""
    iam = account.client("iam")
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    policy = iam.create_policy(
        PolicyName="boundary",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )["Policy"]["Arn"]
    iam.put_role_permissions_boundary(
        RoleName=f"KarpenterNodeRole-{account.cluster}", PermissionsBoundary=policy
    )


def admin(account: Account, route: str, body: dict[str, Any]) -> None:
    """A state of the emulator's that no public API sets."""
    request = urllib.request.Request(
        f"{account.endpoint}/moto-api/preflight/{route}",
        json.dumps({**body, "region": account.region, "account": account.number}).encode(),
        {"Content-Type": "application/json"},
    )
    # No proxy of the environment's may see it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(request, timeout=30).close()
