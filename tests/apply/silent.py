"""An apply in a process of its own, with a journal that keeps nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from raidplan.apply.decision import Decision
from raidplan.apply.journal.journal import open_journal
from raidplan.apply.world import World
from raidplan.cli import apply as apply_command
from raidplan.facts import Machine
from raidplan.plan.step import Plan


class Silent:
    """A journal that keeps nothing."""

    def record_intent(self, step: str, sectors: bytes = b"", *, erased: bool = False) -> None: ...
    def record_end(self, step: str, seconds: float, made: str = "") -> None: ...
    def record_failure(self, step: str, message: str) -> None: ...
    def record_refusal(self, step: str, message: str) -> None: ...


def carried_out(folder: Path, events: str | None = None) -> int:
    """The exit code of an apply whose steps are done by what stands in for `carry_out`."""
    plan = Plan("h", "", "", (), ())
    decision, arguments = Decision(plan, plan, {}, (), Machine()), argparse.Namespace(events=events)
    return apply_command._execute(decision, open_journal(folder, World()), arguments)
