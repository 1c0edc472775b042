"""What is wrong with an account, and what must be said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from preflight_emulator.seed import SEEDS
from seeds.account import Account

Made = dict[str, Any]
"""What a seed made."""
Finding = tuple[str, str]
"""Id of a check, and a status."""
Break = Callable[[Account, Made], None]
FAIL, WARN = "fail", "warn"


@dataclass(frozen=True)
class Scenario:
    kind: str
    """``check: cause``; several scenarios may be of one kind."""
    base: str
    """The seed of the account before it is broken."""
    break_it: Break
    finds: tuple[Finding, ...]
    cases: tuple[str, ...] = ()
    """Ids of the cases in tests/cases that this one is."""
    arguments: tuple[str, ...] = ()
    arguments_after: tuple[str, ...] = ()
    """Where mending includes telling the tool something else."""
    region: str = "us-west-2"
    blanks: Callable[[Account], dict[str, str]] | None = None
    """What a person would fill in."""
    kubectl: tuple[str, ...] = ()
    """What must have been asked of kubectl, which has no cluster here."""
    not_looped: str = ""
    """Why the remedy cannot be run here; then the account is only judged."""

    @property
    def name(self) -> str:
        return f"{self.kind} ({self.break_it.__name__})"

    def seed(self, account: Account) -> Made:
        return SEEDS[self.base](account)


ALL: list[Scenario] = []


def scenario(kind: str, *finds: Finding, base: str = "getting-started", **more: Any) -> Any:
    """Register a function that breaks an account. The first finding is of the kind's check."""

    def register(break_it: Break) -> Break:
        check = kind.partition(":")[0]
        assert finds[0][0] == check, f"{kind} does not begin with its check"
        ALL.append(Scenario(kind, base, break_it, finds, **more))
        return break_it

    return register
