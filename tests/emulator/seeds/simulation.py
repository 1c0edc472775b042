"""A simulator that does not see things as the policies of the controller's role have them."""

from __future__ import annotations

from typing import Any

from seeds.account import Account, post


def seed(account: Account) -> dict[str, Any]:
    role = f"{account.cluster}-karpenter"
    answers = {
        "ec2:CreateFleet": {
            "EvalDecision": "explicitDeny",
            "OrganizationsDecisionDetail": {"AllowedByOrganizations": False},
        },
        "ec2:TerminateInstances": {
            "EvalDecision": "implicitDeny",
            "MissingContextValues": ["aws:PrincipalTag/team"],
        },
    }
    post(account, "simulation", {"role": role, "answers": answers})
    return {"role": role}
