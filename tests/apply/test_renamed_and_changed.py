"""Arrays that run as md127 and differ as well: they get their names before a command calls them so, or nothing is begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.recheck_target import Decided
from raidplan.facts.uses import use
from raidplan.plan.step import Plan, Run, SetAttribute, Step
from tests.apply.earlier import IN_PLACE, boot_that_knows_no_names, plan_of, set_to, standing
from tests.apply.left import Kills
from tests.apply.runs import apply, gone_on, impatient
from tests.apply.sentences import sentences
from tests.apply.simulated import Simulated, State

pytestmark = pytest.mark.in_turn(13)

__all__ = ["impatient"]

Found = dict[str, Any]
STRANGER = "0f0f0f0f-1111-4222-8333-123456789abc"


def found(state: State, name: str) -> Found:
    return next(each for each in state.objects["array"].values() if each["name"] == f"pair:{name}")


def renamed(folder: Path, **of_a: object) -> State:
    """The machine after a boot that knew no names; `of_a`: what the array a is besides."""
    state = standing(folder / "plan", folder / "root")
    boot_that_knows_no_names(state)
    found(state, "a").update(of_a)
    return state


def decided(plan: Plan, folder: Path, state: State) -> Decision:
    world = Simulated(plan, folder / "root", state)
    return decide(plan, world.read(plan), read_past(folder / "root/var/lib/raidplan"), here=False)


def takes(name: str, state: State, node: str = "/dev/md9") -> None:
    """Somebody's array gets the link /dev/md/NAME."""
    stranger = {"name": "far:x", "node": node, "device": node.removeprefix("/dev/"), "links": [name]}
    state.objects["array"][STRANGER] = {**stranger, "members": ["/dev/sdx"], "state": "clean"}


REBUILT = {"sync_action": "recover", "degraded": 1}
DIFFER: Mapping[str, tuple[str, Found]] = {
    "bitmap": ("no bitmap", {}), "spare": ("spare", {}), "no spare": ("no spare", {}), "other": ("another spare", {}),
    "rebuilt": ("label", REBUILT), "read-auto": ("label", {"state": "read-auto"}), "tuning": ("stripe cache", {}),
}  # fmt: skip
"""The change of the layout, and what the array a is besides."""


@pytest.mark.parametrize("case", DIFFER)
def test_it_gets_its_name_before_it_is_changed(case: str, tmp_path: Path) -> None:
    name, more = DIFFER[case]
    state, (change, command) = renamed(tmp_path, **more), IN_PLACE[name]
    later = plan_of(tmp_path / "later", change)
    world = Simulated(later, tmp_path / "root", state)
    assert apply(later, world) == "done"
    named = [at for at, line in enumerate(world.executed) if "--name-match /dev/md12" in line]
    changed = [at for at, line in enumerate(world.executed) if command in line and at not in named]
    assert len(named) == 3 and max(named) < max(changed), world.executed
    assert apply(later, Simulated(later, tmp_path / "root", state)) == "nothing to do"


def test_one_that_lacks_a_member_is_filled_by_its_name(tmp_path: Path) -> None:
    state, plan = renamed(tmp_path), plan_of(tmp_path / "plan")
    array = found(state, "p")
    state.content.pop(array["members"][2])
    array |= {"members": [*array["members"][:2], "missing"], "degraded": 1}
    world = Simulated(plan, tmp_path / "root", state)
    assert apply(plan, world) == "done"
    assert [line for line in world.executed if line.startswith("mdadm /dev/md/p --add /dev/")]
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "nothing to do"


@pytest.mark.parametrize("case", [*DIFFER, "by hand"])
def test_nothing_is_begun_while_another_array_has_the_name(case: str, tmp_path: Path) -> None:
    name, more = DIFFER.get(case, ("", {}))
    state = renamed(tmp_path, **more)
    takes("a", state)
    change = (
        IN_PLACE[name][0] if name else set_to("arrays", "a", "members", ["d0.data", "d1.data", "d3.data"])
    )
    later = plan_of(tmp_path / "later", change)
    refusals = [each for each in decided(later, tmp_path, state).refusals if each.place == "arrays.a"]
    codes = [each.code for each in refusals]
    assert codes == ["runs-under-other-name"] + (["differs"] if case == "by hand" else [])
    assert (refusals[0].figures["planned"], refusals[0].figures["other"]) == ("/dev/md/a", "/dev/md9")
    world = Simulated(later, tmp_path / "root", state)
    assert apply(later, world) not in ("done", "nothing to do") and not world.effects


def test_two_arrays_of_the_layout_that_have_each_others_names(tmp_path: Path) -> None:
    state = renamed(tmp_path)
    found(state, "a")["links"], found(state, "b")["links"] = ["b"], ["a"]
    later = plan_of(tmp_path / "later", IN_PLACE["no bitmap"][0])
    refusals = decided(later, tmp_path, state).refusals
    assert {(each.code, each.place) for each in refusals} == {
        ("runs-under-other-name", f"arrays.{each}") for each in "ab"
    }


ADVICE: Mapping[str, tuple[Callable[[Found], None], Found]] = {
    "another member": (set_to("arrays", "a", "members", ["d0.data", "d1.data", "d3.data"]), {}),
    "while it syncs": (IN_PLACE["no bitmap"][0], {"sync_action": "check"}),
    "read-only": (IN_PLACE["no bitmap"][0], {"state": "readonly"}),
}  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_a_person_is_told_the_name_that_it_has_now(case: str, tmp_path: Path) -> None:
    change, more = ADVICE[case]
    state = renamed(tmp_path, **more)
    told = " ".join(sentences(decided(plan_of(tmp_path / "later", change), tmp_path, state).refusals))
    assert "exists already, but not as planned" in told and "/dev/md126" in told and "/dev/md/a" not in told


def test_a_file_system_is_grown_by_the_name_that_its_array_has_now(tmp_path: Path) -> None:
    state, plan = renamed(tmp_path), plan_of(tmp_path / "plan")
    (on_a,) = (each for each in state.objects["filesystem"].values() if each.get("label") == "old")
    on_a["blocks"] //= 2
    told = " ".join(sentences(decided(plan, tmp_path, state).refusals))
    assert "resize2fs" in told and "/dev/md126" in told and "/dev/md/a" not in told


def test_a_spare_that_failed_is_removed_by_the_name_that_it_has_now(tmp_path: Path) -> None:
    state, plan = renamed(tmp_path), plan_of(tmp_path / "plan")
    array = found(state, "a")
    array["spares"], array["faulty"] = [], array["spares"]
    told = " ".join(sentences(decided(plan, tmp_path, state).refusals))
    assert "mdadm /dev/md126 --remove" in told and "/dev/md/a" not in told


@pytest.mark.drawn(1)
@pytest.mark.parametrize("booted", [False, True], ids=["killed", "killed and booted"])
def test_killed_between_the_names_and_the_changes(booted: bool, tmp_path: Path, dice: Random | None) -> None:
    def several(data: dict) -> None:  # type: ignore[type-arg]
        for name in ("another spare", "bitmap", "reserve"):
            IN_PLACE[name][0](data)

    state, later = renamed(tmp_path), plan_of(tmp_path / "later", several)
    once = Simulated(later, tmp_path / "root", state)
    kills = Kills(once, tmp_path / "killed", dice or Random(1))
    assert apply(later, once) == "done"
    for point, left in kills.machines():
        if " run " in point or " zero " in point:
            if booted:
                boot_that_knows_no_names(left.state)
            gone_on(later, left, point)


class Led(Simulated):
    """The name a leads to somebody's array once everything is decided."""

    def array(self, node: str) -> str:
        return STRANGER if node == "/dev/md/a" else super().array(node)


def on_other_arrays(step: Step, world: Simulated) -> list[object]:
    uuid = next(key for key, each in world.state.objects["array"].items() if each["name"] == "pair:a")
    with ExitStack() as held:
        return [*Decided({}, {"/dev/md/a": uuid}, {}).others(step, world, held)]


@pytest.mark.parametrize("action", [
    Run(("mdadm", "--grow", "--bitmap=none", "/dev/md/a")), Run(("mdadm", "--manage", "/dev/md/a", "--remove", "/dev/x")),
    Run(("mdadm", "/dev/md/a", "--add", "/dev/x")), Run(("e2label", "/dev/md/a", "new")), Run(("mke2fs", "/dev/md/a")),
    SetAttribute("/sys/block/{/dev/md/a}/md/sync_action", "idle"),
])  # fmt: skip
def test_no_step_is_done_on_the_array_that_took_the_name_meanwhile(action: Any, tmp_path: Path) -> None:
    state, plan = standing(tmp_path / "plan", tmp_path / "root"), plan_of(tmp_path / "plan")
    step = Step("array.a.create+x", "array", "change it", action, "arrays.a")
    (other,) = on_other_arrays(step, Led(plan, tmp_path / "root", state))
    assert other == use("other-array", "/dev/md/a", uuid=other.figures["uuid"])  # type: ignore[attr-defined]
    assert not on_other_arrays(step, Simulated(plan, tmp_path / "root", state))
    made = replace(step, awaits=("/dev/md/a",))
    assert not on_other_arrays(made, Led(plan, tmp_path / "root", state)), "it makes it"


def test_an_apply_stops_before_the_array_that_took_the_name_meanwhile(tmp_path: Path) -> None:
    state = renamed(tmp_path)
    later = plan_of(tmp_path / "later", IN_PLACE["no bitmap"][0])
    world = Led(later, tmp_path / "root", deepcopy(state))
    assert apply(later, world).startswith("stopped: not done, because /dev/md/a is no longer the array")
    assert not [line for line in world.executed if line.startswith("mdadm")]
    assert apply(later, Simulated(later, tmp_path / "root", state)) == "done"
