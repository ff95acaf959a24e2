"""What undo does with the configuration of a machine in memory."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from raidplan.cli.undo import undo
from raidplan.plan.step import Plan
from tests.apply.runs import apply
from tests.apply.simulated import Killed, Simulated, State

FOLDER = "var/lib/raidplan"
LINK = "etc/mdadm/mdadm.conf"


def undone(plan: Plan, root: Path, state: State) -> int:
    return undone_on(Simulated(plan, root, state))


def undone_on(world: Simulated) -> int:
    host = world.plan.host
    return undo(argparse.Namespace(host=host, state=str(world.root / FOLDER), confirm=host), world)


def killed_before(plan: Plan, root: Path, state: State, chosen: Callable[[str, str], bool]) -> None:
    class World(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            if chosen(kind, what):
                self._die()
            return super().effect(kind, what, act)

    with pytest.raises(Killed):
        apply(plan, World(plan, root, state))
