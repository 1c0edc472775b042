"""The policy simulator says what it was told to say."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from conftest import REGION, error_code, make_client, make_role

from seeds import simulation
from seeds.account import Account

KEY = "AKIATEST731000000098"


def test_it_allows_all_but_what_it_was_told(endpoint):
    iam = make_client(endpoint, "iam", key=KEY)
    role = make_role(iam, "demo-karpenter")
    simulation.seed(Account(endpoint, "demo", REGION, KEY))
    results = iam.simulate_principal_policy(
        PolicySourceArn=role,
        ActionNames=["ec2:CreateFleet", "ec2:DescribeImages", "ec2:TerminateInstances"],
        ResourceArns=["*"],
        ContextEntries=[
            {
                "ContextKeyName": "aws:TagKeys",
                "ContextKeyValues": ["a", "b"],
                "ContextKeyType": "stringList",
            }
        ],
    )["EvaluationResults"]
    decisions = {result["EvalActionName"]: result["EvalDecision"] for result in results}
    assert decisions == {
        "ec2:CreateFleet": "explicitDeny",
        "ec2:DescribeImages": "allowed",
        "ec2:TerminateInstances": "implicitDeny",
    }
    assert results[0]["OrganizationsDecisionDetail"] == {"AllowedByOrganizations": False}
    assert results[2]["MissingContextValues"] == ["aws:PrincipalTag/team"]


def test_a_role_that_is_not_there(endpoint):
    iam = make_client(endpoint, "iam", key=KEY)
    with pytest.raises(ClientError) as error:
        iam.simulate_principal_policy(
            PolicySourceArn="arn:aws:iam::731000000098:role/x", ActionNames=["ec2:RunInstances"]
        )
    assert error_code(error) == "NoSuchEntity"
