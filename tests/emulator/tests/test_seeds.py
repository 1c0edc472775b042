"""Each seed runs against a fresh account, in every partition, and leaves what it promises."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from botocore.exceptions import ClientError
from conftest import ACCOUNT, ROOT, make_client

from seeds import auto_mode, broken, eksctl_irsa, fixed, getting_started, terraform_module
from seeds.account import Account

MANAGED_POLICY_LIMIT = 6144


@pytest.fixture()
def account(endpoint):
    return Account(endpoint, "demo", "us-west-2")


def role_trust(account, name):
    return account.client("iam").get_role(RoleName=name)["Role"]["AssumeRolePolicyDocument"]


def entry_types(account):
    eks = account.client("eks")
    entries = eks.list_access_entries(clusterName="demo")["accessEntries"]
    return {
        arn: eks.describe_access_entry(clusterName="demo", principalArn=arn)["accessEntry"]["type"]
        for arn in entries
    }


def free_addresses(account):
    subnets = account.client("ec2").describe_subnets(
        Filters=[{"Name": "tag:karpenter.sh/discovery", "Values": ["demo"]}]
    )["Subnets"]
    return sorted(subnet["AvailableIpAddressCount"] for subnet in subnets)


@pytest.mark.parametrize(
    ("region", "partition", "suffix"),
    [
        ("us-west-2", "aws", "amazonaws.com"),
        ("us-east-1", "aws", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
    ],
)
def test_getting_started(endpoint, region, partition, suffix):
    account = Account(endpoint, "demo", region)
    made = getting_started.seed(account)
    iam, eks, sqs = (account.client(name) for name in ("iam", "eks", "sqs"))

    assert made["nodeRole"] == f"arn:{partition}:iam::{ACCOUNT}:role/KarpenterNodeRole-demo"
    trust = role_trust(account, "KarpenterNodeRole-demo")
    assert trust["Statement"][0]["Principal"] == {"Service": f"ec2.{suffix}"}
    attached = iam.list_attached_role_policies(RoleName="demo-karpenter")["AttachedPolicies"]
    assert len(attached) == 6
    for policy in attached:
        assert policy["PolicyArn"].startswith(f"arn:{partition}:iam::{ACCOUNT}:policy/")
        document = iam.get_policy_version(PolicyArn=policy["PolicyArn"], VersionId="v1")
        text = json.dumps(document["PolicyVersion"]["Document"], separators=(",", ":"))
        assert len(text) <= MANAGED_POLICY_LIMIT
        assert partition == "aws" or "arn:aws:" not in text

    association = eks.list_pod_identity_associations(
        clusterName="demo", namespace="kube-system", serviceAccount="karpenter"
    )["associations"][0]
    found = eks.describe_pod_identity_association(
        clusterName="demo", associationId=association["associationId"]
    )["association"]
    assert found["roleArn"] == made["controllerRole"]
    assert "eks-pod-identity-agent" in eks.list_addons(clusterName="demo")["addons"]
    assert entry_types(account)[made["nodeRole"]] == "EC2_LINUX"

    url = sqs.get_queue_url(QueueName="demo")["QueueUrl"]
    queue = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert queue["SqsManagedSseEnabled"] == "true"
    assert queue["MessageRetentionPeriod"] == "300"
    assert len(json.loads(queue["Policy"])["Statement"]) == 2
    rules = account.client("events").list_rule_names_by_target(TargetArn=queue["QueueArn"])
    assert len(rules["RuleNames"]) == 5
    assert len(free_addresses(account)) == 3
    groups = account.client("ec2").describe_security_groups(
        Filters=[{"Name": "tag:karpenter.sh/discovery", "Values": ["demo"]}]
    )["SecurityGroups"]
    assert [group["GroupId"] for group in groups] == [made["clusterSecurityGroup"]]
    assert iam.get_role(RoleName="AWSServiceRoleForEC2Spot")
    assert len(iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]) == 1


def test_broken_has_every_mistake(account):
    made = broken.seed(account)
    statement = role_trust(account, "AmazonEKSAutoClusterRole")["Statement"][0]
    assert statement["Action"] == "sts:AssumeRole"
    cluster = account.client("eks").describe_cluster(name="demo")["cluster"]
    assert cluster["computeConfig"]["enabled"]
    assert cluster["accessConfig"] == {"authenticationMode": "API"}
    defaults = account.client("ec2").get_instance_metadata_defaults()["AccountLevel"]
    assert (defaults["InstanceMetadataTags"], defaults["HttpEndpoint"]) == ("enabled", "disabled")
    assert made["nodeRole"] not in entry_types(account)
    assert free_addresses(account)[0] == 3
    with pytest.raises(ClientError):
        account.client("sqs").get_queue_url(QueueName="demo")
    assert account.client("events").list_rules()["Rules"] == []
    with pytest.raises(ClientError):
        account.client("iam").get_role(RoleName="AWSServiceRoleForEC2Spot")


def test_fixed_mends_all_of_it(account):
    made = broken.seed(account)
    fixed.seed(account)
    statement = role_trust(account, "AmazonEKSAutoClusterRole")["Statement"][0]
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    defaults = account.client("ec2").get_instance_metadata_defaults()["AccountLevel"]
    assert defaults == {"ManagedBy": "account"}
    assert entry_types(account)[made["nodeRole"]] == "EC2_LINUX"
    assert free_addresses(account)[0] > 8000
    cluster = account.client("eks").describe_cluster(name="demo")["cluster"]
    assert made["fullSubnet"] not in cluster["resourcesVpcConfig"]["subnetIds"]
    assert account.client("sqs").get_queue_url(QueueName="demo")
    assert account.client("iam").get_role(RoleName="AWSServiceRoleForEC2Spot")


def test_auto_mode(account):
    made = auto_mode.seed(account)
    assert entry_types(account)[made["nodeRole"]] == "EC2"
    attached = account.client("iam").list_attached_role_policies(RoleName=auto_mode.CLUSTER_ROLE)
    assert len(attached["AttachedPolicies"]) == 5
    statement = role_trust(account, auto_mode.CLUSTER_ROLE)["Statement"][0]
    assert "sts:TagSession" in statement["Action"]


def test_terraform_module(account):
    made = terraform_module.seed(account)
    assert made["queue"] == "Karpenter-demo"
    assert f":role/Karpenter-demo-{terraform_module.TIME}" in made["nodeRole"]
    assert entry_types(account)[made["nodeRole"]] == "EC2_LINUX"
    rules = account.client("events").list_rule_names_by_target(
        TargetArn=account.arn("sqs", "Karpenter-demo")
    )
    assert len(rules["RuleNames"]) == 5


def test_eksctl_irsa(account):
    made = eksctl_irsa.seed(account)
    cluster = account.client("eks").describe_cluster(name="demo")["cluster"]
    host = cluster["identity"]["oidc"]["issuer"].removeprefix("https://")
    statement = role_trust(account, "eksctl-demo-iamservice-role")["Statement"][0]
    assert statement["Principal"]["Federated"].endswith(f":oidc-provider/{host}")
    providers = account.client("iam").list_open_id_connect_providers()
    arns = [item["Arn"] for item in providers["OpenIDConnectProviderList"]]
    assert arns == [statement["Principal"]["Federated"]]
    associations = account.client("eks").list_pod_identity_associations(clusterName="demo")
    assert associations["associations"] == []
    assert made["nodeRole"] not in entry_types(account)


def test_the_command_says_what_it_made(endpoint):
    command = [sys.executable, "-m", "preflight_emulator.seed", "auto-mode",
               "--endpoint", endpoint, "--cluster", "named", "--region", "eu-west-1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["cluster"] == "named"
    eks = make_client(endpoint, "eks", region="eu-west-1")
    assert eks.list_clusters()["clusters"] == ["named"]


def test_a_seed_needs_an_endpoint():
    command = [sys.executable, "-m", "preflight_emulator.seed", "auto-mode"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={"PATH": ""})
    assert done.returncode == 2
    assert "never go to the real AWS" in done.stderr
