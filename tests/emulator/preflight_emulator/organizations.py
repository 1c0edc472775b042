"""Organizations: members may read what their management account delegates to them, and no more.

moto looks into the caller's own account, where a member has nothing.
"""

from __future__ import annotations

from moto.core.exceptions import JsonRESTError
from moto.organizations.models import (
    FakeAccount,
    OrganizationsBackend,
    organizations_backends,
)
from moto.organizations.responses import OrganizationsResponse

_delegated: set[str] = set()
"""Members that may read policies: with AWS by a resource policy of the organisation, which moto
lacks."""


class CompleteOrganizationsResponse(OrganizationsResponse):
    @property
    def organizations_backend(self) -> OrganizationsBackend:
        """The management account's, for a member that it lets in."""
        own = super().organizations_backend
        masters = organizations_backends.master_accounts
        if own.org is not None or self.current_account not in masters:
            return own
        if self._get_action() == "DescribeOrganization":
            return own
        if self.current_account not in _delegated:
            raise JsonRESTError(
                "AccessDeniedException",
                "You don't have permissions to access this resource.",
            )
        management, partition = masters[self.current_account]
        return organizations_backends[management][partition]


def join(management: str, partition: str, account: str, delegated: bool) -> None:
    """Make an account that is there already a member, as an accepted invitation does."""
    backend = organizations_backends[management][partition]
    if backend.org is None:
        raise ValueError(f"{management} owns no organization")
    member = FakeAccount(
        backend.org, AccountName=f"member-{account}", Email=f"{account}@example.com"
    )
    member.id = account
    backend.accounts.append(member)
    for policy in ("p-FullAWSAccess", "p-RCPFullAWSAccess"):
        backend.attach_policy(PolicyId=policy, TargetId=account)
    organizations_backends.master_accounts[account] = (management, partition)
    _delegated.discard(account)
    if delegated:
        _delegated.add(account)
