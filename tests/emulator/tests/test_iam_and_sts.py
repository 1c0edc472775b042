"""Service-linked roles, AWS-managed policies in each partition, who the caller is, and what an
encoded denial says."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError
from conftest import ACCOUNT, error_code

from preflight_emulator.sts import encode_message

SPOT = "spot.amazonaws.com"


def test_the_spot_role_has_awss_name_and_path(client):
    iam = client("iam")
    iam.create_service_linked_role(AWSServiceName=SPOT)
    role = iam.get_role(RoleName="AWSServiceRoleForEC2Spot")["Role"]
    assert role["Path"] == "/aws-service-role/spot.amazonaws.com/"
    assert role["Arn"] == (
        f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{SPOT}/AWSServiceRoleForEC2Spot"
    )


def test_a_second_spot_role_is_refused(client):
    iam = client("iam")
    iam.create_service_linked_role(AWSServiceName=SPOT)
    with pytest.raises(ClientError) as error:
        iam.create_service_linked_role(AWSServiceName=SPOT)
    assert error_code(error) == "InvalidInput"
    assert "AWSServiceRoleForEC2Spot has been taken" in str(error.value)


def test_the_spot_role_through_the_command_line(aws):
    aws("iam", "create-service-linked-role", "--aws-service-name", SPOT)
    with pytest.raises(RuntimeError, match="has been taken"):
        aws("iam", "create-service-linked-role", "--aws-service-name", SPOT)


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-west-2", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_aws_managed_policies_have_their_partition(client, region, partition):
    iam = client("iam", region=region)
    arn = f"arn:{partition}:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    policy = iam.get_policy(PolicyArn=arn)["Policy"]
    version = iam.get_policy_version(PolicyArn=arn, VersionId=policy["DefaultVersionId"])
    assert version["PolicyVersion"]["Document"]["Statement"]
    compute = f"arn:{partition}:iam::aws:policy/AmazonEKSComputePolicy"
    policy = iam.get_policy(PolicyArn=compute)["Policy"]
    version = iam.get_policy_version(PolicyArn=compute, VersionId=policy["DefaultVersionId"])
    assert f"arn:{partition}:" in json.dumps(version["PolicyVersion"]["Document"])


def test_a_list_of_policy_versions_has_no_documents(client):
    arn = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    versions = client("iam").list_policy_versions(PolicyArn=arn)["Versions"]
    assert set(versions[-1]) == {"VersionId", "IsDefaultVersion", "CreateDate"}


def test_the_caller_has_a_legal_arn(client):
    identity = client("sts").get_caller_identity()
    assert identity["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/moto"
    assert identity["Account"] == ACCOUNT


def test_the_end_of_a_key_can_say_the_account(client):
    identity = client("sts", key="AKIATEST111122223333").get_caller_identity()
    assert identity["Arn"] == "arn:aws:iam::111122223333:user/moto"


def test_a_session_in_another_account(client):
    sts = client("sts")
    credentials = sts.assume_role(
        RoleArn="arn:aws:iam::111122223333:role/reader", RoleSessionName="session"
    )["Credentials"]
    identity = client("sts", key=credentials["AccessKeyId"]).get_caller_identity()
    assert identity["Arn"] == "arn:aws:sts::111122223333:assumed-role/reader/session"


def test_an_encoded_denial_is_decoded(client):
    document = {"allowed": False, "explicitDeny": True, "context": {"action": "ec2:RunInstances"}}
    decoded = client("sts").decode_authorization_message(EncodedMessage=encode_message(document))
    assert json.loads(decoded["DecodedMessage"]) == document


@pytest.mark.parametrize("message", ["no message", "bm8ganNvbg"])
def test_what_is_no_encoded_denial_is_refused(client, message):
    with pytest.raises(ClientError) as error:
        client("sts").decode_authorization_message(EncodedMessage=message)
    assert error_code(error) == "InvalidAuthorizationMessageException"
