"""An apply that was cut off in a program, and the one after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from raidplan.plan.step import Plan
from tests.apply.runs import apply, machine
from tests.apply.simulated import Killed, Simulated, State

T = TypeVar("T")
LAYOUT = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>, partitions: {data: {size: 900GB}, swap: {size: 4GiB}}}}}
arrays: {data: {level: raid1, members: [d<0-1>.data]}}
filesystems: {data: {device: data, type: ext4, mount: /srv/data, label: data}}
swap: {swap: {device: d0.swap}, file: {file: /srv/data/swapfile, size: 64MiB}}
"""
JOURNAL = "var/lib/raidplan"


class Cut(Simulated):
    """Killed in the first program whose command line begins with some words."""

    def __init__(self, plan: Plan, root: Path, state: State, words: str, how: str) -> None:
        super().__init__(plan, root, state, (0, how))
        self.words = words

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        if not self.at and kind == "run" and what.startswith(self.words):
            self.at = len(self.effects) + 1
        return super().effect(kind, what, act)


def cut(plan: Plan, root: Path, words: str, how: str = "before") -> State:
    """The machine after an apply that was killed."""
    state = machine(root)
    with pytest.raises(Killed):
        apply(plan, Cut(plan, root, state, words, how))
    return state


def again(plan: Plan, root: Path, state: State) -> tuple[str, list[str]]:
    """What the next apply says, and which programs it ran."""
    world = Simulated(plan, root, state)
    return apply(plan, world), world.executed
