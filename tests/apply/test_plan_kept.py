"""An apply is cut off, and one of a changed layout after it: the plan that can finish what the first began stays."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from shutil import copytree
from typing import TypeVar

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.plan.codec import plan_digest, plan_from_json, plan_to_json
from raidplan.plan.step import Plan
from tests.apply.cut_off import JOURNAL, LAYOUT, again, cut
from tests.apply.runs import apply, impatient
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.stacks import plan_of

__all__ = ["impatient"]

T = TypeVar("T")
MAKES = "filesystem.data.make"
FEWEST, NEVER = 30, 10**6
"""The second run has more effects than the one, and fewer than the other."""


class Opened(Simulated):
    """Killed at the first effect after its plan is in the folder: nothing of it is begun."""

    over = False

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        if self.over:
            self._die()
        result = super().effect(kind, what, act)
        self.over |= kind == "rename" and what.endswith("/plan.json")
        return result


@pytest.fixture
def first(tmp_path: Path) -> tuple[Plan, State]:
    """Cut off right before its file system is made."""
    plan = plan_of(LAYOUT, tmp_path)
    return plan, cut(plan, tmp_path / "root", "mke2fs")


@pytest.fixture
def second(tmp_path: Path) -> Plan:
    (tmp_path / "second").mkdir()
    return plan_of(LAYOUT.replace("label: data", "label: other"), tmp_path / "second")


@pytest.fixture
def third(tmp_path: Path) -> Plan:
    """Without the file system."""
    (tmp_path / "third").mkdir()
    lines = (line for line in LAYOUT.splitlines() if not line.startswith("filesystems"))
    return plan_of("\n".join(lines).replace(", file: {file: /srv/data/swapfile, size: 64MiB}", ""), tmp_path / "third")  # fmt: skip


def refused(plan: Plan, root: Path, state: State) -> tuple[Refusal, ...]:
    world = Simulated(plan, root, state)
    return decide(plan, world.read(plan), read_past(root / JOURNAL), here=False).refusals


def kept(root: Path) -> dict[str, str]:
    """The plans in the journal's folder: file to digest."""
    files = sorted((root / JOURNAL).glob("plan*.json"))
    return {file.name: plan_digest(plan_from_json(file.read_text())) for file in files}


def test_the_plan_that_began_a_step_stays_and_is_named_and_finishes_it(
    first: tuple[Plan, State], second: Plan, third: Plan, tmp_path: Path
) -> None:
    (plan, state), root = first, tmp_path / "root"
    begun = read_past(root / JOURNAL).plan_digest
    with pytest.raises(Killed):
        apply(second, Opened(second, root, state))
    name = f"plan-{begun.removeprefix('sha256:')[:12]}.json"
    now = read_past(root / JOURNAL).plan_digest
    assert now != begun and kept(root) == {name: begun, "plan.json": now}
    (lost,) = refused(third, root, state)
    assert (lost.code, lost.figures["steps"]) == ("interrupted-elsewhere", (MAKES,))
    assert name in str(lost.figures["files"]) and not again(third, root, state)[1]
    old = plan_from_json((root / JOURNAL / name).read_text())
    assert again(old, root, state)[0] == "done"
    assert kept(root) == {"plan.json": begun}, "when all is done, nobody needs the other"
    assert again(plan, root, state) == ("nothing to do", [])


def test_what_the_first_one_made_is_finished_by_its_own_plan(
    first: tuple[Plan, State], second: Plan, tmp_path: Path
) -> None:
    """The file system turns out to be there, when the changed layout looks again."""
    (plan, state), root = first, tmp_path / "root"
    with pytest.raises(Killed):
        apply(second, Opened(second, root, state))
    made = cut(plan, tmp_path / "other", "mke2fs", "during")
    state.objects["filesystem"], state.content = made.objects["filesystem"], made.content
    (name,) = kept(root).keys() - {"plan.json"}
    (found,) = (each for each in refused(second, root, state) if each.code == "not-of-that-step")
    assert found.case == "other-apply" and name in str(found.figures["file"])
    assert not again(second, root, state)[1]
    assert again(plan_from_json((root / JOURNAL / name).read_text()), root, state)[0] == "done"


def test_a_plan_that_goes_on_is_held_to_less_than_a_new_one(second: Plan, tmp_path: Path) -> None:
    """Also where another was tried in between: what it began itself, and a reboot, are no other machine."""
    plan, folder = plan_of(LAYOUT, tmp_path), tmp_path / JOURNAL
    world = Simulated(plan, tmp_path, State())
    left = decide(plan, world.read(plan), read_past(folder), here=False).left
    old = replace(left, machine={**left.machine, "kernel": "5.10"})
    for each in (old, second):
        journal = open_journal(folder, world)
        journal.begin(plan_to_json(each), plan_digest(each))
        if each is old:
            journal.record_intent(MAKES)

    def refused(past: Past) -> bool:
        reasons = decide(old, world.read(old), past, here=False).refusals
        return ("machine-changed", "kernel") in [(each.code, each.place) for each in reasons]

    assert refused(Past()) and not refused(read_past(folder))


def test_wherever_a_run_is_killed_the_plan_of_each_begun_step_is_in_its_file(
    first: tuple[Plan, State], second: Plan, tmp_path: Path, dice: Random | None
) -> None:
    (_, state), root = first, tmp_path / "root"
    files = set()
    for n in count(1) if dice is None else [*sorted(dice.sample(range(1, FEWEST), 5)), NEVER]:
        for how in ("before", "after"):
            here, then = tmp_path / f"{how}{n}", deepcopy(state)
            copytree(root, here)
            try:
                assert apply(second, Simulated(second, here, then, (n, how))) == "done"
            except Killed:
                past = read_past(here / JOURNAL)
                files |= {past.plan_file(step)[:5] for step in past.begun}
                told = kept(here)
                assert {step: told[past.plan_file(step)] for step in past.begun} == past.plans
                assert again(second, here, then)[0] in ("done", "nothing to do")
            else:
                assert (
                    n > FEWEST
                    and (dice or files == {"plan-", "plan."})
                    and kept(here).keys() == {"plan.json"}
                )
                return


def test_no_plan_is_kept_that_began_nothing(tmp_path: Path, second: Plan) -> None:
    plan, root, state = plan_of(LAYOUT, tmp_path), tmp_path / "root", State()
    for each in (plan, second):
        with pytest.raises(Killed):
            apply(each, Opened(each, root, state))
    assert kept(root).keys() == {"plan.json"}


def test_a_plan_that_is_not_there_any_more_is_not_waited_for(
    first: tuple[Plan, State], second: Plan, tmp_path: Path
) -> None:
    (_, state), root = first, tmp_path / "root"
    (root / JOURNAL / "plan.json").unlink()
    assert again(second, root, state)[0] == "done"
    assert not open_journal(root / JOURNAL, Simulated(second, root, state)).past.is_open
