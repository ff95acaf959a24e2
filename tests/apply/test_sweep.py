"""What `diff` and `apply` say of pairs of layouts, side by side: a person who reads both columns sees where they differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.apply.change.obsolete import Mounted, Obsolete, Prioritised, Tuned
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.diff import Diff, diff
from raidplan.plan.changes.answer import VALUE
from raidplan.plan.step import Run
from tests.apply.earlier import plan_of_text
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated
from tests.apply.swept import SWEPT
from tests.diff.layouts import side

__all__ = ["impatient"]

DISKS = "hardware: {disks: {d<0-4>: {serial: S<1>, size: 8GiB, partitions: {p: {size: 2GiB, type: raid}, q: {size: 2GiB, type: linux}}}}}\n"
MODES = {"cryptsetup": 1, "btrfs": 2}
"""Programs whose mode is so many words without a hyphen."""


@pytest.mark.drawn(12)
@pytest.mark.parametrize("pair", SWEPT)
def test_both_columns(pair: str, tmp_path: Path) -> None:
    before, after, by_diff, by_apply = SWEPT[pair]
    assert columns(DISKS + before, DISKS + after, tmp_path) == (by_diff, by_apply)


def columns(before: str, after: str, root: Path) -> tuple[str, str]:
    """What both say, each in one line."""
    state, old, new = machine(root), plan_of_text(before, root), plan_of_text(after, root)
    assert apply(old, Simulated(old, root, state)) == "done"
    past = read_past(root / "var/lib/raidplan")
    decided = decide(new, Simulated(new, root, state).read(new), past, here=False)
    return _of_diff(diff(side(before), side(after))), _of_apply(decided)


def _of_diff(made: Diff) -> str:
    said = []
    for thing in made.things:
        ways = (each.how.command if each.how else "impossible" for each in thing.changes)
        said.append(f"{thing.path[-1]} {thing.fate}: {', '.join(dict.fromkeys(ways))}".removesuffix(": "))
    return "; ".join(said)


def _of_apply(decided: Decision) -> str:
    said = []
    for refusal in decided.refusals:
        listed = refusal.figures.get("commands")
        modes = map(_mode, listed) if isinstance(listed, tuple) else ()
        place = refusal.place.rpartition(".")[2]
        said.append(f"{place} {refusal.case or refusal.code}: {', '.join(modes)}".removesuffix(": "))
    for step in decided.left.steps:
        is_change = step.origin is not None and step.origin.kind == "change"
        if isinstance(step.action, Run) and step.phase != "configure" and (is_change or not decided.refusals):
            program, command = step.action.argv[0], " ".join(step.action.argv)
            said.append(f"step {_mode(command) if is_change else program}")
    said += _left(decided.obsolete)
    if decided.left.steps and not said:
        said.append("configuration")
    return "; ".join(dict.fromkeys(said))


def _left(obsolete: tuple[Obsolete, ...]) -> Iterator[str]:
    """The settings that stay in effect until the next boot."""
    for each in obsolete:
        match each:
            case Mounted(point):
                yield f"left mount {point}"
            case Prioritised(_, priority):
                yield f"left priority {priority}"
            case Tuned(_, attribute, value):
                yield f"left {attribute} {value}"


def _mode(command: object) -> str:
    """The program and its mode: the words before the first that is a value."""
    program, *words = str(command).split()
    count = MODES.get(program, 0)
    rest = re.sub(r"(^| )(?!--?[a-z]).*", "", " ".join(words[count:])).split()
    return " ".join([program, *words[:count], *(VALUE.sub("", word) for word in rest)])
