"""Pages of a list, with an opaque token."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from moto.eks.exceptions import InvalidParameterException

DEFAULT_PAGE = 100


def page(items: list[Any], maximum: int | None, token: str | None) -> tuple[list[Any], str | None]:
    start = _start(token)
    end = start + (maximum or DEFAULT_PAGE)
    following = _token(end) if end < len(items) else None
    return items[start:end], following


def _token(start: int) -> str:
    return base64.urlsafe_b64encode(f"start={start}".encode()).decode()


def _start(token: str | None) -> int:
    if not token:
        return 0
    try:
        return int(base64.urlsafe_b64decode(token).decode().removeprefix("start="))
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise InvalidParameterException(message="The nextToken is not valid.") from None
