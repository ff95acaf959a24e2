"""A teardown killed before and after every effect, then taken up again: the same end, and nothing is held off any more."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copytree, rmtree

import pytest

from raidplan.apply import execute
from raidplan.facts.host import HOLD
from raidplan.facts.run import Result
from tests.apply.left import Kills
from tests.apply.others import Others
from tests.apply.stacks import LAYOUT, plan_of
from tests.apply.wiped import Old, apply, end, machine, undisturbed


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "APPEAR_SECONDS", 0)
    monkeypatch.setattr(execute, "LOOK_AGAIN_SECONDS", 0)


class Failing(Old):
    """Every program does its work, and ends with an error."""

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        return replace(super().run(argv, stdin), returncode=1, stderr="failed after all")


def test_killed_at_every_effect_of_a_teardown(tmp_path: Path, dice: Random | None) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    once = Old(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    wanted, agreed = undisturbed(plan, once)
    assert kills.points == 3 * len(once.effects)
    looks_again = [line for line in once.executed if line.startswith("udevadm trigger")][-1]
    for point, left in kills.machines():
        assert left.state.others.hashes() == Others().hashes(), point
        copytree(left.root, failing := tmp_path / "failing")
        fails = Failing(plan, failing, deepcopy(left.state))
        said = apply(plan, fails, agreed)
        assert said.startswith("stopped: ") or not fails.executed, f"{point}: {said}"
        assert not fails.path(HOLD).exists(), f"{point}: what failed holds off automatic assembly"
        rmtree(failing)
        held = left.path(HOLD).exists()
        world = Old(plan, left.root, left.state)
        said = apply(plan, world, agreed)
        assert said in ("done", "nothing to do"), f"{point}: {said}"
        assert end(world) == wanted, point
        assert not world.path(HOLD).exists(), f"{point}: automatic assembly is still held off"
        assert looks_again in world.executed or not held, f"{point}: udev is not told what it passed over"


@pytest.mark.parametrize("lie", ["no effect", "failed after all"])
def test_a_tool_of_the_teardown_that_lies_is_never_believed(tmp_path: Path, lie: str) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    wanted, agreed = undisturbed(plan, Old(plan, tmp_path / "once", machine(tmp_path / "once")))
    root = tmp_path / "liar"
    state = machine(root)
    liar = Old(plan, root, state, lie={"mdadm --stop /dev/md127": lie})
    if lie == "no effect":
        with pytest.raises(AssertionError, match="running array"):  # as the kernel refuses the exclusive open
            apply(plan, liar, agreed)
    else:
        assert apply(plan, liar, agreed).startswith("stopped: ")
        assert not liar.path(HOLD).exists(), "restored whatever happens"
    world = Old(plan, root, state)
    assert apply(plan, world, agreed) in ("done", "nothing to do")
    assert end(world) == wanted


def test_a_failed_step_ends_the_hold(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    _, agreed = undisturbed(plan, Old(plan, tmp_path / "once", machine(tmp_path / "once")))
    root = tmp_path / "fails"
    world = Old(plan, root, machine(root), lie={"mdadm --stop /dev/md127": "failed after all"})
    assert apply(plan, world, agreed).startswith("stopped: ")
    assert ("remove", str(world.path(HOLD))) in world.effects
    assert world.executed[-1] == "udevadm control --reload"
