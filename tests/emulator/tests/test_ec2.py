"""EC2's account-level settings and the numbers that checks rely on."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from conftest import REGION, error_code, post

ALL_MEMBERS = {
    "HttpTokens": "required",
    "HttpPutResponseHopLimit": 2,
    "HttpEndpoint": "disabled",
    "InstanceMetadataTags": "enabled",
    "HttpTokensEnforced": "enabled",
}


def defaults(ec2):
    return ec2.get_instance_metadata_defaults()["AccountLevel"]


def test_metadata_defaults_without_a_preference_are_absent(client):
    assert defaults(client("ec2")) == {"ManagedBy": "account"}


def test_metadata_defaults_are_kept_a_region(client):
    client("ec2").modify_instance_metadata_defaults(**ALL_MEMBERS)
    assert defaults(client("ec2")) == {**ALL_MEMBERS, "ManagedBy": "account"}
    assert defaults(client("ec2", region="eu-west-1")) == {"ManagedBy": "account"}


def test_metadata_defaults_are_changed_one_by_one_and_taken_back(client):
    ec2 = client("ec2")
    ec2.modify_instance_metadata_defaults(**ALL_MEMBERS)
    ec2.modify_instance_metadata_defaults(HttpEndpoint="no-preference", HttpPutResponseHopLimit=-1)
    assert "HttpEndpoint" not in defaults(ec2)
    assert "HttpPutResponseHopLimit" not in defaults(ec2)
    assert defaults(ec2)["InstanceMetadataTags"] == "enabled"


def test_a_hop_limit_out_of_range(client):
    with pytest.raises(ClientError) as error:
        client("ec2").modify_instance_metadata_defaults(HttpPutResponseHopLimit=65)
    assert error_code(error) == "InvalidParameterValue"


def test_a_declarative_policy_holds_the_metadata_defaults(client, endpoint):
    body = {
        "region": REGION,
        "managedBy": "declarative-policy",
        "exceptionMessage": "ask the platform team",
        "values": {"InstanceMetadataTags": "enabled"},
    }
    post(endpoint, "/moto-api/preflight/metadata-defaults", body)
    ec2 = client("ec2")
    assert defaults(ec2) == {
        "InstanceMetadataTags": "enabled",
        "ManagedBy": "declarative-policy",
        "ManagedExceptionMessage": "ask the platform team",
    }
    with pytest.raises(ClientError) as error:
        ec2.modify_instance_metadata_defaults(InstanceMetadataTags="disabled")
    assert error_code(error) == "DeclarativePolicyViolation"


def test_metadata_defaults_through_the_command_line(aws):
    aws("ec2", "modify-instance-metadata-defaults", "--instance-metadata-tags", "enabled")
    answer = aws("ec2", "get-instance-metadata-defaults")
    assert answer["AccountLevel"]["InstanceMetadataTags"] == "enabled"


def test_a_dry_run_changes_nothing(client):
    ec2 = client("ec2")
    with pytest.raises(ClientError) as error:
        ec2.modify_instance_metadata_defaults(HttpEndpoint="disabled", DryRun=True)
    assert error_code(error) == "DryRunOperation"
    assert defaults(ec2) == {"ManagedBy": "account"}


def test_the_default_key_of_ebs(client):
    ec2 = client("ec2")
    assert ec2.get_ebs_default_kms_key_id()["KmsKeyId"] == "alias/aws/ebs"
    key = client("kms").create_key()["KeyMetadata"]
    ec2.modify_ebs_default_kms_key_id(KmsKeyId=key["KeyId"])
    assert ec2.get_ebs_default_kms_key_id()["KmsKeyId"] == key["Arn"]
    ec2.reset_ebs_default_kms_key_id()
    assert ec2.get_ebs_default_kms_key_id()["KmsKeyId"] == "alias/aws/ebs"


def test_allowed_images(client):
    ec2 = client("ec2")
    assert ec2.get_allowed_images_settings()["State"] == "disabled"
    ec2.enable_allowed_images_settings(AllowedImagesSettingsState="audit-mode")
    ec2.replace_image_criteria_in_allowed_images_settings(
        ImageCriteria=[{"ImageProviders": ["amazon"]}]
    )
    settings = ec2.get_allowed_images_settings()
    assert settings["State"] == "audit-mode"
    assert settings["ImageCriteria"][0]["ImageProviders"] == ["amazon"]
    ec2.disable_allowed_images_settings()
    assert ec2.get_allowed_images_settings()["State"] == "disabled"


def test_vpc_block_public_access(client):
    ec2 = client("ec2")

    def options():
        return ec2.describe_vpc_block_public_access_options()["VpcBlockPublicAccessOptions"]

    assert options()["InternetGatewayBlockMode"] == "off"
    ec2.modify_vpc_block_public_access_options(InternetGatewayBlockMode="block-bidirectional")
    assert options()["InternetGatewayBlockMode"] == "block-bidirectional"
    assert ec2.describe_vpc_block_public_access_exclusions()["VpcBlockPublicAccessExclusions"] == []


def test_lists_that_are_empty_here(client):
    ec2 = client("ec2")
    assert ec2.describe_capacity_reservations()["CapacityReservations"] == []
    assert ec2.describe_placement_groups()["PlacementGroups"] == []


def test_the_visibility_of_managed_resources(client, endpoint):
    ec2 = client("ec2")
    assert ec2.get_managed_resource_visibility()["Visibility"] == {"DefaultVisibility": "visible"}
    body = {"region": REGION, "visibility": "hidden"}
    post(endpoint, "/moto-api/preflight/managed-resource-visibility", body)
    assert ec2.get_managed_resource_visibility()["Visibility"] == {"DefaultVisibility": "hidden"}


def free_addresses(ec2, subnet):
    return ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailableIpAddressCount"]


def test_network_interfaces_use_up_a_subnet(client, subnets):
    ec2 = client("ec2")
    assert free_addresses(ec2, subnets[0]) == 251
    ec2.create_network_interface(SubnetId=subnets[0], SecondaryPrivateIpAddressCount=9)
    assert free_addresses(ec2, subnets[0]) == 241


def test_our_route_sets_the_free_addresses(client, endpoint, subnets):
    ec2 = client("ec2")
    ec2.create_network_interface(SubnetId=subnets[0])
    body = {"region": REGION, "subnetId": subnets[0], "free": 3}
    post(endpoint, "/moto-api/preflight/subnet-free-addresses", body)
    assert free_addresses(ec2, subnets[0]) == 3
    ec2.create_network_interface(SubnetId=subnets[0])
    assert free_addresses(ec2, subnets[0]) == 2


@pytest.mark.parametrize(
    ("region", "domain"),
    [("us-east-1", "ec2.internal"), ("eu-west-1", "eu-west-1.compute.internal")],
)
def test_every_vpc_has_dhcp_options(client, region, domain):
    ec2 = client("ec2", region=region)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    identifier = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["DhcpOptionsId"]
    options = ec2.describe_dhcp_options(DhcpOptionsIds=[identifier])["DhcpOptions"][0]
    values = {item["Key"]: item["Values"][0]["Value"] for item in options["DhcpConfigurations"]}
    assert values == {"domain-name": domain, "domain-name-servers": "AmazonProvidedDNS"}
    ec2.delete_vpc(VpcId=vpc)
    assert ec2.describe_dhcp_options(DhcpOptionsIds=[identifier])["DhcpOptions"]
