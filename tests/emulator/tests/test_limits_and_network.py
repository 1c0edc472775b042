"""Quotas, exclusions from blocked public access, and endpoints whose private DNS is switched."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from conftest import REGION, error_code, post

from seeds import faults, getting_started
from seeds.account import Account

STANDARD = "L-1216C47A"
GPU = "L-DB2E81BA"


def own_quotas(quotas):
    pages = quotas.get_paginator("list_service_quotas").paginate(
        ServiceCode="ec2", PaginationConfig={"PageSize": 1}
    )
    return {one["QuotaCode"]: one["Value"] for page in pages for one in page["Quotas"]}


def test_only_raised_quotas_are_listed(client):
    quotas = client("service-quotas")
    assert own_quotas(quotas) == {STANDARD: 640, "L-34B43A08": 640}
    default = quotas.get_aws_default_service_quota(ServiceCode="ec2", QuotaCode=GPU)
    assert default["Quota"]["Value"] == 0
    with pytest.raises(ClientError) as error:
        quotas.get_service_quota(ServiceCode="ec2", QuotaCode=GPU)
    assert error_code(error) == "NoSuchResourceException"


def test_quotas_are_raised(client):
    quotas = client("service-quotas")
    quotas.request_service_quota_increase(ServiceCode="ec2", QuotaCode=GPU, DesiredValue=8)
    assert own_quotas(quotas)[GPU] == 8
    with pytest.raises(ClientError) as error:
        quotas.request_service_quota_increase(ServiceCode="ec2", QuotaCode=GPU, DesiredValue=8)
    assert error_code(error) == "IllegalArgumentException"


def test_a_quota_is_set_and_taken_back(client, endpoint):
    quotas = client("service-quotas")
    body = {"region": REGION, "quotaCode": STANDARD}
    post(endpoint, "/moto-api/preflight/quota", {**body, "value": 4})
    assert own_quotas(quotas)[STANDARD] == 4
    post(endpoint, "/moto-api/preflight/quota", body)
    assert STANDARD not in own_quotas(quotas)


def test_exclusions_from_blocked_public_access(client):
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_vpc_block_public_access_exclusion(
        VpcId=vpc, InternetGatewayExclusionMode="allow-egress"
    )["VpcBlockPublicAccessExclusion"]
    assert made["ResourceArn"].endswith(f":vpc/{vpc}")
    listed = ec2.describe_vpc_block_public_access_exclusions()["VpcBlockPublicAccessExclusions"]
    assert listed == [made]


def test_private_dns_of_an_endpoint_is_switched(client):
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{REGION}.ec2",
        VpcEndpointType="Interface",
        SubnetIds=[subnet],
        PrivateDnsEnabled=False,
    )["VpcEndpoint"]["VpcEndpointId"]

    def private_dns():
        found = ec2.describe_vpc_endpoints(VpcEndpointIds=[endpoint])["VpcEndpoints"][0]
        return found["PrivateDnsEnabled"]

    assert private_dns() is False
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, PrivateDnsEnabled=True)
    assert private_dns() is True


def test_an_instance_ends_for_a_reason(endpoint):
    account = Account(endpoint, "demo", REGION)
    getting_started.seed(account)
    failed = faults.limits(account)["failedInstance"]
    found = account.client("ec2").describe_instances(InstanceIds=[failed])
    instance = found["Reservations"][0]["Instances"][0]
    assert instance["State"]["Name"] == "terminated"
    assert instance["StateReason"]["Code"] == "Client.InternalError"


@pytest.mark.parametrize("fault", [faults.network, faults.isolated, faults.public_nodes])
def test_faults_are_seeded(endpoint, fault):
    account = Account(endpoint, "demo", REGION)
    getting_started.seed(account)
    assert fault(account)


def test_isolated_subnets_get_endpoints(endpoint):
    account = Account(endpoint, "demo", REGION)
    made = getting_started.seed(account)
    faults.isolated(account)
    faults.isolated_mended(account)
    endpoints = account.client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    assert {one["VpcId"] for one in endpoints} == {made["vpc"]}
    assert {one["State"] for one in endpoints} == {"available"}
    assert len(endpoints) == len(faults.INTERFACE_SERVICES) + 1
