"""Members of an organisation, and what they may read of it."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from conftest import REGION, error_code, make_client

from seeds import organization
from seeds.account import Account

MEMBER = "731000000099"
KEY = f"AKIATEST{MEMBER}"


@pytest.fixture()
def account(endpoint):
    return Account(endpoint, "demo", REGION, KEY)


def reader(endpoint):
    return make_client(endpoint, "organizations", key=KEY)


def test_an_account_without_an_organization(endpoint):
    with pytest.raises(ClientError) as error:
        reader(endpoint).describe_organization()
    assert error_code(error) == "AWSOrganizationsNotInUseException"


def test_a_delegated_member_reads_every_level(endpoint, account):
    made = organization.seed(account)
    organizations = reader(endpoint)
    found = organizations.describe_organization()["Organization"]
    assert (found["Id"], found["MasterAccountId"]) == (made["organization"], made["management"])
    unit = organizations.list_parents(ChildId=MEMBER)["Parents"][0]["Id"]
    assert unit == made["unit"]
    root = organizations.list_parents(ChildId=unit)["Parents"][0]["Id"]
    assert root.startswith("r-")
    names = {
        (target, kind): {
            policy["Name"]
            for policy in organizations.list_policies_for_target(
                TargetId=target, Filter=f"{kind}_CONTROL_POLICY"
            )["Policies"]
        }
        for target in (root, unit, MEMBER)
        for kind in ("SERVICE", "RESOURCE")
    }
    assert names[(unit, "SERVICE")] == {"FullAWSAccess", "Guardrails"}
    assert names[(root, "RESOURCE")] == {"RCPFullAWSAccess", "Perimeter"}
    assert names[(MEMBER, "SERVICE")] == {"FullAWSAccess"}


def test_another_member_reads_nothing(endpoint, account):
    organization.seed_hidden(account)
    organizations = reader(endpoint)
    assert organizations.describe_organization()["Organization"]["Id"].startswith("o-")
    with pytest.raises(ClientError) as error:
        organizations.list_parents(ChildId=MEMBER)
    assert error_code(error) == "AccessDeniedException"
