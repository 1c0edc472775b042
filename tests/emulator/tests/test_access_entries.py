"""Access entries and access policies, set and read back through the public client."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from conftest import ACCOUNT, error_code, make_role

ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"


def test_the_default_type_is_standard(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_access_entry(clusterName="c", principalArn=node_role, kubernetesGroups=["viewers"])
    entry = eks.describe_access_entry(clusterName="c", principalArn=node_role)["accessEntry"]
    assert entry["type"] == "STANDARD"
    assert entry["kubernetesGroups"] == ["viewers"]
    assert entry["username"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/node/{{{{SessionName}}}}"
    assert entry["accessEntryArn"].startswith(
        f"arn:aws:eks:us-west-2:{ACCOUNT}:access-entry/c/role/{ACCOUNT}/node/"
    )
    assert entry["createdAt"] == entry["modifiedAt"]


@pytest.mark.parametrize("kind", ["EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX"])
def test_node_types_get_the_identity_of_a_node(client, make_cluster, node_role, kind):
    make_cluster()
    eks = client("eks")
    eks.create_access_entry(clusterName="c", principalArn=node_role, type=kind)
    entry = eks.describe_access_entry(clusterName="c", principalArn=node_role)["accessEntry"]
    assert entry["type"] == kind
    assert entry["username"].startswith("system:node:")


@pytest.mark.parametrize("more", [{"kubernetesGroups": ["g"]}, {"username": "u"}])
def test_node_types_take_no_groups_or_username(client, make_cluster, node_role, more):
    make_cluster()
    with pytest.raises(ClientError) as error:
        client("eks").create_access_entry(
            clusterName="c", principalArn=node_role, type="EC2_LINUX", **more
        )
    assert error_code(error) == "InvalidParameterException"


@pytest.mark.parametrize(
    "principal",
    [
        f"arn:aws:iam::{ACCOUNT}:role/gone",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/node/session",
        f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
    ],
)
def test_principals_that_eks_refuses(client, make_cluster, node_role, principal):
    make_cluster()
    with pytest.raises(ClientError) as error:
        client("eks").create_access_entry(clusterName="c", principalArn=principal)
    assert error_code(error) == "InvalidParameterException"


def test_the_path_of_a_role_is_part_of_its_name_here(client, make_cluster):
    make_cluster()
    arn = make_role(client("iam"), "with-path", path="/team/dev/")
    eks = client("eks")
    with pytest.raises(ClientError):
        eks.create_access_entry(clusterName="c", principalArn=arn.replace("/team/dev", ""))
    eks.create_access_entry(clusterName="c", principalArn=arn, type="EC2_LINUX")
    entry = eks.describe_access_entry(clusterName="c", principalArn=arn)["accessEntry"]
    assert entry["principalArn"] == arn


def test_one_entry_a_principal(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_access_entry(clusterName="c", principalArn=node_role)
    with pytest.raises(ClientError) as error:
        eks.create_access_entry(clusterName="c", principalArn=node_role)
    assert error_code(error) == "ResourceInUseException"


def test_without_entries_in_the_mode_every_call_is_refused(client, make_cluster, node_role):
    make_cluster(mode="CONFIG_MAP")
    eks = client("eks")
    for call in (
        lambda: eks.list_access_entries(clusterName="c"),
        lambda: eks.describe_access_entry(clusterName="c", principalArn=node_role),
        lambda: eks.create_access_entry(clusterName="c", principalArn=node_role),
        lambda: eks.list_associated_access_policies(clusterName="c", principalArn=node_role),
    ):
        with pytest.raises(ClientError) as error:
            call()
        assert error_code(error) == "InvalidRequestException"


def test_update_and_delete(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_access_entry(clusterName="c", principalArn=node_role)
    eks.update_access_entry(clusterName="c", principalArn=node_role, username="someone")
    entry = eks.describe_access_entry(clusterName="c", principalArn=node_role)["accessEntry"]
    assert entry["username"] == "someone"
    with pytest.raises(ClientError) as error:
        eks.update_access_entry(clusterName="c", principalArn=node_role, username="system:x")
    assert error_code(error) == "InvalidParameterException"
    eks.delete_access_entry(clusterName="c", principalArn=node_role)
    with pytest.raises(ClientError) as error:
        eks.describe_access_entry(clusterName="c", principalArn=node_role)
    assert error_code(error) == "ResourceNotFoundException"


def test_the_creator_becomes_an_administrator(client, make_cluster):
    make_cluster()
    eks = client("eks")
    caller = client("sts").get_caller_identity()["Arn"]
    assert eks.list_access_entries(clusterName="c", associatedPolicyArn=ADMIN)[
        "accessEntries"
    ] == [caller]


def test_policies(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_access_entry(clusterName="c", principalArn=node_role, type="EC2")
    scope = {"type": "namespace", "namespaces": ["one"]}
    eks.associate_access_policy(
        clusterName="c", principalArn=node_role, policyArn=ADMIN, accessScope=scope
    )
    listed = eks.list_associated_access_policies(clusterName="c", principalArn=node_role)
    assert [(p["policyArn"], p["accessScope"]) for p in listed["associatedAccessPolicies"]] == [
        (ADMIN, scope)
    ]
    eks.disassociate_access_policy(clusterName="c", principalArn=node_role, policyArn=ADMIN)
    listed = eks.list_associated_access_policies(clusterName="c", principalArn=node_role)
    assert listed["associatedAccessPolicies"] == []


def test_an_ec2_linux_entry_takes_no_policy(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_access_entry(clusterName="c", principalArn=node_role, type="EC2_LINUX")
    with pytest.raises(ClientError) as error:
        eks.associate_access_policy(
            clusterName="c", principalArn=node_role, policyArn=ADMIN, accessScope={"type": "cluster"}
        )
    assert error_code(error) == "InvalidRequestException"


def test_entries_come_in_pages(client, make_cluster):
    make_cluster()
    eks, iam = client("eks"), client("iam")
    arns = [make_role(iam, f"role-{number}") for number in range(5)]
    for arn in arns:
        eks.create_access_entry(clusterName="c", principalArn=arn)
    pages = eks.get_paginator("list_access_entries").paginate(
        clusterName="c", PaginationConfig={"PageSize": 4}
    )
    sizes = [len(page["accessEntries"]) for page in pages]
    assert sizes == [4, 2]


def test_through_the_command_line(aws, make_cluster, node_role):
    make_cluster()
    aws("eks", "create-access-entry", "--cluster-name", "c", "--principal-arn", node_role,
        "--type", "EC2_LINUX")
    entry = aws("eks", "describe-access-entry", "--cluster-name", "c", "--principal-arn", node_role)
    assert entry["accessEntry"]["username"] == NODE_USERNAME
