"""Make a fresh account cheap: tests ask for many.

Measured on two busy cores, a reset and the first calls after it took 2 s without this.
"""

from __future__ import annotations

import gc
import re

import moto.eks.models
from moto.core.base_backend import AccountSpecificBackend, BaseBackend
from moto.eks.exceptions import InvalidParameterException

COLLECT_AFTER_ALLOCATIONS = 200_000
ROLE_ARN = re.compile(r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+")


def install() -> None:
    AccountSpecificBackend.reset = _reset_only_what_needs_it  # type: ignore[assignment,method-assign]
    moto.eks.models.validate_role_arn = _validate_role_arn


def calm_the_garbage_collector() -> None:
    """Call once everything is imported: those objects never need to be looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER_ALLOCATIONS, 50, 100)


def _reset_only_what_needs_it(account: AccountSpecificBackend[BaseBackend]) -> None:
    """moto builds each backend anew, then drops it: only those with a reset of their own matter."""
    for backend in account.values():
        if type(backend).reset is not BaseBackend.reset:
            backend.reset()


def _validate_role_arn(arn: str) -> None:
    """moto reads botocore's whole list of services to learn the names of the partitions."""
    if not ROLE_ARN.match(arn):
        raise InvalidParameterException(message=f"Invalid Role Arn: '{arn}'")
