"""STS: a caller whose ARN has a legal shape."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.sts.responses import TokenResponse

from preflight_emulator.identity import caller_arn


class CompleteStsResponse(TokenResponse):
    def get_caller_identity(self) -> ActionResult:
        identity = super().get_caller_identity().result
        assert isinstance(identity, dict)
        return ActionResult({**identity, "Arn": caller_arn(identity["Arn"])})
