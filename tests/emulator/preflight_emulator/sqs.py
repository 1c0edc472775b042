"""SQS: what moto's queues get wrong when their attributes are set.

moto drops a queue's policy when any other attribute is set, and leaves both kinds of encryption on.
"""

from __future__ import annotations

from typing import Any

from moto.sqs.models import Queue

_set_attributes = Queue._set_attributes


def install() -> None:
    Queue._set_attributes = _complete  # type: ignore[method-assign]


def _complete(queue: Queue, attributes: dict[str, Any], now: float | None = None) -> None:
    wanted = dict(attributes)
    if "Policy" not in wanted and hasattr(queue, "_policy_json"):
        wanted["Policy"] = queue.policy
    if wanted.get("KmsMasterKeyId"):
        wanted["SqsManagedSseEnabled"] = False
    elif str(wanted.get("SqsManagedSseEnabled", "")).lower() == "true":
        wanted["KmsMasterKeyId"] = None
    _set_attributes(queue, wanted, now)
