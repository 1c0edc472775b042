"""STS: a caller whose ARN has a legal shape, and messages of denials that can be decoded."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from moto.core.responses import ActionResult
from moto.sts.responses import TokenResponse

from preflight_emulator.errors import ServiceError
from preflight_emulator.identity import caller_arn


class InvalidAuthorizationMessageError(ServiceError):
    code = "InvalidAuthorizationMessageException"

    def __init__(self) -> None:
        super().__init__("The message is not one that this account was given.")


def encode_message(document: dict[str, Any]) -> str:
    """The emulator's own way to hide a document in one word; AWS's is secret."""
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def decode_message(message: str) -> str:
    try:
        text = base64.urlsafe_b64decode(message + "=" * (-len(message) % 4)).decode()
        json.loads(text)
    except (binascii.Error, ValueError):
        raise InvalidAuthorizationMessageError() from None
    return text


class CompleteStsResponse(TokenResponse):
    def get_caller_identity(self) -> ActionResult:
        identity = super().get_caller_identity().result
        assert isinstance(identity, dict)
        return ActionResult({**identity, "Arn": caller_arn(identity["Arn"])})

    def decode_authorization_message(self) -> ActionResult:
        message = self._get_param("EncodedMessage") or ""
        return ActionResult({"DecodedMessage": decode_message(message)})
