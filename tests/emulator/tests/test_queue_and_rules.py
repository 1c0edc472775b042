"""SQS, EventBridge, KMS and SSM as the checks read them."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError
from conftest import ACCOUNT, REGION, error_code

QUEUE_ARN = f"arn:aws:sqs:{REGION}:{ACCOUNT}:C"
POLICY = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*",
                     "Action": "sqs:SendMessage", "Resource": QUEUE_ARN}]})


def attributes(sqs):
    url = sqs.get_queue_url(QueueName="C")["QueueUrl"]
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]


def set_attributes(sqs, **values):
    url = sqs.get_queue_url(QueueName="C")["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes=values)


def test_a_missing_queue_has_both_of_its_codes(client):
    with pytest.raises(ClientError) as error:
        client("sqs").get_queue_url(QueueName="C")
    headers = error.value.response["ResponseMetadata"]["HTTPHeaders"]
    assert headers["x-amzn-errortype"].endswith("#QueueDoesNotExist")
    assert headers["x-amzn-query-error"] == "AWS.SimpleQueueService.NonExistentQueue;Sender"
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_queue_keeps_its_policy_when_something_else_is_set(client):
    sqs = client("sqs")
    sqs.create_queue(QueueName="C", Attributes={"Policy": POLICY})
    set_attributes(sqs, MessageRetentionPeriod="300")
    assert json.loads(attributes(sqs)["Policy"]) == json.loads(POLICY)
    assert attributes(sqs)["MessageRetentionPeriod"] == "300"


def test_a_queue_has_one_kind_of_encryption(client):
    sqs = client("sqs")
    sqs.create_queue(QueueName="C")
    assert attributes(sqs)["SqsManagedSseEnabled"] == "true"
    set_attributes(sqs, KmsMasterKeyId="alias/aws/sqs")
    assert attributes(sqs)["SqsManagedSseEnabled"] == "false"
    assert attributes(sqs)["KmsMasterKeyId"] == "alias/aws/sqs"
    set_attributes(sqs, SqsManagedSseEnabled="true")
    assert attributes(sqs)["SqsManagedSseEnabled"] == "true"
    assert "KmsMasterKeyId" not in attributes(sqs)


def test_rules_are_found_by_their_target(client):
    events = client("events")
    pattern = json.dumps({"source": ["aws.ec2"]})
    events.put_rule(Name="spot", EventPattern=pattern)
    events.put_targets(Rule="spot", Targets=[{"Id": "KarpenterInterruptionQueueTarget", "Arn": QUEUE_ARN}])
    assert events.list_rule_names_by_target(TargetArn=QUEUE_ARN)["RuleNames"] == ["spot"]
    assert events.list_rule_names_by_target(TargetArn=QUEUE_ARN + "x")["RuleNames"] == []
    events.disable_rule(Name="spot")
    rule = events.describe_rule(Name="spot")
    assert (rule["State"], rule["EventPattern"]) == ("DISABLED", pattern)
    with pytest.raises(ClientError) as error:
        events.describe_rule(Name="gone")
    assert error_code(error) == "ResourceNotFoundException"


def test_a_key_that_aws_manages(client):
    kms = client("kms")
    key = kms.describe_key(KeyId="alias/aws/sqs")["KeyMetadata"]
    assert key["KeyManager"] == "AWS"
    policy = kms.get_key_policy(KeyId=key["KeyId"], PolicyName="default")["Policy"]
    assert "events.amazonaws.com" not in policy
    assert kms.create_key()["KeyMetadata"]["KeyManager"] == "CUSTOMER"


@pytest.mark.parametrize(
    "name",
    [
        "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id",
        "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/nvidia/recommended/image_id",
        "/aws/service/bottlerocket/aws-k8s-1.35/arm64/latest/image_id",
        "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.35/image_id",
    ],
)
def test_public_parameters_name_images_that_exist(client, name):
    value = client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
    image = client("ec2").describe_images(ImageIds=[value], Owners=["amazon"])["Images"][0]
    assert image["State"] == "available"


def test_a_parameter_that_does_not_exist(client):
    with pytest.raises(ClientError) as error:
        client("ssm").get_parameter(Name="/aws/service/eks/optimized-ami/0.1/x")
    assert error_code(error) == "ParameterNotFound"
