"""Which account an access key belongs to.

moto knows the keys that it issued and gives every other key the default account. Tests of
several accounts need more: a key of 20 characters that ends in 12 digits, such as
``AKIATEST111122223333``, belongs to the account with that number.
"""

from __future__ import annotations

import re

import moto.iam.models
from moto.core import DEFAULT_ACCOUNT_ID

ACCOUNT_KEY = re.compile(r"^A[A-Z]{7}(?P<account>[0-9]{12})$")


def account_of_key(access_key: str) -> str:
    # moto's own look-up builds the IAM of every partition; only those in use can know the key.
    for account, partitions in list(moto.iam.models.iam_backends.items()):
        if any(access_key in backend.access_keys for backend in partitions.values()):
            return account
    match = ACCOUNT_KEY.match(access_key)
    return match["account"] if match else DEFAULT_ACCOUNT_ID


def install() -> None:
    moto.iam.models.get_account_id_from = account_of_key
