"""EKS clusters: every member that the service model has, from the request or EKS's default."""

from __future__ import annotations

import base64
import re

import pytest
from botocore.exceptions import ClientError
from conftest import error_code, make_role, post
from cryptography import x509

AUTO_MODE = {
    "computeConfig": {"enabled": True},
    "storageConfig": {"blockStorage": {"enabled": True}},
    "kubernetesNetworkConfig": {"elasticLoadBalancing": {"enabled": True}},
}


def test_a_plain_cluster_has_what_eks_gives_by_default(client, make_cluster, subnets):
    make_cluster(mode=None)
    cluster = client("eks").describe_cluster(name="c")["cluster"]

    assert cluster["accessConfig"] == {"authenticationMode": "CONFIG_MAP"}
    assert "computeConfig" not in cluster and "storageConfig" not in cluster
    assert cluster["status"] == "ACTIVE"
    assert cluster["kubernetesNetworkConfig"] == {
        "serviceIpv4Cidr": "10.100.0.0/16",
        "ipFamily": "ipv4",
        "elasticLoadBalancing": {"enabled": False},
    }
    assert cluster["upgradePolicy"] == {"supportType": "EXTENDED"}
    assert cluster["zonalShiftConfig"] == {"enabled": False}
    assert cluster["health"] == {"issues": []}
    assert cluster["platformVersion"].startswith("eks.")
    issuer = cluster["identity"]["oidc"]["issuer"]
    assert re.fullmatch(r"https://oidc\.eks\.us-west-2\.amazonaws\.com/id/[0-9A-F]{32}", issuer)
    pem = base64.b64decode(cluster["certificateAuthority"]["data"])
    assert x509.load_pem_x509_certificate(pem)


def test_its_vpc_and_its_security_group_are_real(client, make_cluster, subnets):
    make_cluster()
    config = client("eks").describe_cluster(name="c")["cluster"]["resourcesVpcConfig"]
    ec2 = client("ec2")
    vpc = ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]
    assert config["vpcId"] == vpc
    assert config["subnetIds"] == subnets
    assert config["publicAccessCidrs"] == ["0.0.0.0/0"]
    assert (config["endpointPublicAccess"], config["endpointPrivateAccess"]) == (True, False)

    group_id = config["clusterSecurityGroupId"]
    group = ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0]
    assert group["VpcId"] == vpc
    tags = {tag["Key"]: tag["Value"] for tag in group["Tags"]}
    assert tags["kubernetes.io/cluster/c"] == "owned"
    assert group["IpPermissions"][0]["UserIdGroupPairs"][0]["GroupId"] == group_id


def test_its_network_interfaces_take_an_address_in_each_zone(client, make_cluster, subnets):
    ec2 = client("ec2")
    make_cluster()
    free = [s["AvailableIpAddressCount"] for s in ec2.describe_subnets(SubnetIds=subnets)["Subnets"]]
    assert free == [250, 250]
    client("eks").delete_cluster(name="c")
    free = [s["AvailableIpAddressCount"] for s in ec2.describe_subnets(SubnetIds=subnets)["Subnets"]]
    assert free == [251, 251]


def test_auto_mode_brings_its_access_entries(client, make_cluster, node_role):
    compute = {"enabled": True, "nodePools": ["general-purpose"], "nodeRoleArn": node_role}
    make_cluster(**{**AUTO_MODE, "computeConfig": compute})
    eks = client("eks")
    cluster = eks.describe_cluster(name="c")["cluster"]
    assert cluster["computeConfig"] == compute
    assert cluster["storageConfig"] == {"blockStorage": {"enabled": True}}
    assert cluster["kubernetesNetworkConfig"]["elasticLoadBalancing"] == {"enabled": True}

    entry = eks.describe_access_entry(clusterName="c", principalArn=node_role)["accessEntry"]
    assert entry["type"] == "EC2"
    policies = eks.list_associated_access_policies(clusterName="c", principalArn=node_role)
    arns = [policy["policyArn"] for policy in policies["associatedAccessPolicies"]]
    assert arns == ["arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"]
    principals = eks.list_access_entries(clusterName="c")["accessEntries"]
    assert any("AWSServiceRoleForAmazonEKS" in principal for principal in principals)


def test_auto_mode_is_switched_as_a_whole(client, make_cluster):
    make_cluster()
    eks = client("eks")
    with pytest.raises(ClientError) as error:
        eks.update_cluster_config(name="c", computeConfig={"enabled": True})
    assert error_code(error) == "InvalidParameterException"

    update = eks.update_cluster_config(name="c", **AUTO_MODE)["update"]
    assert update["type"] == "AutoModeUpdate"
    found = eks.describe_update(name="c", updateId=update["id"])["update"]
    assert found["status"] == "Successful"
    cluster = eks.describe_cluster(name="c")["cluster"]
    assert cluster["computeConfig"] == {"enabled": True, "nodePools": []}


def test_auto_mode_needs_access_entries(make_cluster):
    with pytest.raises(ClientError) as error:
        make_cluster(mode="CONFIG_MAP", **AUTO_MODE)
    assert error_code(error) == "InvalidParameterException"


def test_a_refused_cluster_leaves_nothing(client, make_cluster):
    with pytest.raises(ClientError):
        make_cluster(mode="CONFIG_MAP", **AUTO_MODE)
    assert client("eks").list_clusters()["clusters"] == []


def test_the_authentication_mode_goes_one_way(client, make_cluster):
    make_cluster(mode="CONFIG_MAP")
    eks = client("eks")

    def change(mode):
        eks.update_cluster_config(name="c", accessConfig={"authenticationMode": mode})

    with pytest.raises(ClientError) as error:
        change("API")
    assert error_code(error) == "InvalidParameterException"
    change("API_AND_CONFIG_MAP")
    change("API")
    with pytest.raises(ClientError):
        change("CONFIG_MAP")
    access = eks.describe_cluster(name="c")["cluster"]["accessConfig"]
    assert access == {"authenticationMode": "API"}


def test_other_parts_of_a_cluster_can_be_changed(client, make_cluster):
    make_cluster()
    eks = client("eks")
    eks.update_cluster_config(name="c", zonalShiftConfig={"enabled": True})
    eks.update_cluster_config(
        name="c", resourcesVpcConfig={"endpointPrivateAccess": True, "publicAccessCidrs": ["1.2.3.4/32"]}
    )
    eks.update_cluster_version(name="c", version="1.36")
    cluster = eks.describe_cluster(name="c")["cluster"]
    assert cluster["version"] == "1.36"
    assert cluster["zonalShiftConfig"] == {"enabled": True}
    config = cluster["resourcesVpcConfig"]
    assert config["endpointPrivateAccess"] and config["endpointPublicAccess"]
    assert config["publicAccessCidrs"] == ["1.2.3.4/32"]


def test_subnets_of_one_zone_are_refused(client, make_cluster, subnets):
    role = make_role(client("iam"), "r", "eks.amazonaws.com")
    with pytest.raises(ClientError) as error:
        client("eks").create_cluster(
            name="c", roleArn=role, resourcesVpcConfig={"subnetIds": subnets[:1]}
        )
    assert error_code(error) == "InvalidParameterException"


@pytest.mark.parametrize(
    "operation",
    ["describe_cluster", "list_nodegroups", "list_fargate_profiles", "list_access_entries",
     "list_addons", "list_pod_identity_associations"],
)
def test_a_missing_cluster_is_named(client, operation):
    name = "name" if operation == "describe_cluster" else "clusterName"
    with pytest.raises(ClientError) as error:
        getattr(client("eks"), operation)(**{name: "gone"})
    assert error_code(error) == "ResourceNotFoundException"
    answer = error.value.response
    assert answer["Error"]["Message"] == "No cluster found for name: gone."
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 404
    headers = answer["ResponseMetadata"]["HTTPHeaders"]
    assert headers["x-amzn-errortype"] == "ResourceNotFoundException"
    assert headers["content-type"] == "application/json"


def test_a_node_group_takes_the_clusters_version_and_admits_its_role(
    client, make_cluster, subnets, node_role
):
    make_cluster(version="1.34")
    eks = client("eks")
    eks.create_nodegroup(clusterName="c", nodegroupName="n", subnets=subnets, nodeRole=node_role)
    assert eks.list_nodegroups(clusterName="c")["nodegroups"] == ["n"]
    group = eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]
    assert group["version"] == "1.34"
    assert group["amiType"] == "AL2023_x86_64_STANDARD"
    assert group["nodeRole"] == node_role
    assert "remoteAccess" not in group
    entry = eks.describe_access_entry(clusterName="c", principalArn=node_role)["accessEntry"]
    assert entry["type"] == "EC2_LINUX"


def test_a_fargate_profile_admits_its_role(client, make_cluster, subnets, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_fargate_profile(
        clusterName="c",
        fargateProfileName="f",
        podExecutionRoleArn=node_role,
        subnets=subnets,
        selectors=[{"namespace": "karpenter"}],
    )
    assert eks.list_fargate_profiles(clusterName="c")["fargateProfileNames"] == ["f"]
    entry = eks.describe_access_entry(clusterName="c", principalArn=node_role)["accessEntry"]
    assert entry["type"] == "FARGATE_LINUX"


def test_status_and_health_can_be_set_through_our_own_route(client, endpoint, make_cluster):
    make_cluster()
    issue = {"code": "IamRoleNotFound", "message": "gone", "resourceIds": ["role"]}
    body = {"region": "us-west-2", "name": "c", "status": "UPDATING", "issues": [issue]}
    post(endpoint, "/moto-api/preflight/cluster", body)
    cluster = client("eks").describe_cluster(name="c")["cluster"]
    assert cluster["status"] == "UPDATING"
    assert cluster["health"] == {"issues": [issue]}


def test_lists_come_in_pages(client, make_cluster):
    for name in ("a", "b", "c"):
        make_cluster(name)
    pages = client("eks").get_paginator("list_clusters").paginate(
        PaginationConfig={"PageSize": 2}
    )
    assert [page["clusters"] for page in pages] == [["a", "b"], ["c"]]
