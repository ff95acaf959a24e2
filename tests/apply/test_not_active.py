"""A volume that is in the metadata of its group, and not in the kernel: activated, or refused while it hides something."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.decide.not_started import not_started
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.plan.step import Plan
from tests.apply.earlier import plan_of, set_to, standing
from tests.apply.runs import apply, end, impatient, machine
from tests.apply.sentences import sentences
from tests.apply.simulated import Killed, Simulated, State

__all__ = ["impatient"]

HOME = "/dev/v/home"


def decided(plan: Plan, root: Path, state: State) -> Decision:
    return decide(
        plan, Simulated(plan, root, state).read(plan), read_past(root / "var/lib/raidplan"), here=False
    )


def deactivated(state: State, *volumes: str) -> None:
    """As after a boot into a rescue system: what stands on them shows nowhere."""
    for name in volumes:
        state.objects["volume"][name]["active"] = False
        state.nodes.discard(f"/dev/{name}")
        for kind in "filesystem", "mount":
            state.objects[kind] = {
                key: found
                for key, found in state.objects.get(kind, {}).items()
                if f"volume:{name}" not in (found.get("device"), found.get("source"))
            }
        state.content.pop(f"volume:{name}", None)


def test_a_volume_that_a_killed_lvcreate_left_is_activated(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    whole = Simulated(plan, tmp_path / "whole", machine(tmp_path / "whole"))
    assert apply(plan, whole) == "done"
    at = next(n for n, (_, what) in enumerate(whole.effects, 1) if "--name=home" in what)
    root = tmp_path / "root"
    state = machine(root)
    with pytest.raises(Killed):
        apply(plan, Simulated(plan, root, state, (at, "during")))
    assert not state.objects["volume"]["v/home"]["active"] and HOME not in state.nodes
    decision = decided(plan, root, state)
    steps = {step.id: step for step in decision.left.steps}
    activate = steps["volume.v.home.create+activate"]
    assert activate.awaits == (HOME,) and "volume.v.home.create" not in steps
    assert activate.id in steps["filesystem.home.make"].needs
    assert HOME in decision.overwrites, "somebody may have used it in between: it is read everywhere"
    world = Simulated(plan, root, state)
    assert apply(plan, world) == "done" and "lvchange --activate y v/home" in world.executed
    assert end(world) == end(whole)


def test_what_a_volume_hides_is_not_made_anew(tmp_path: Path) -> None:
    state, root, plan = standing(tmp_path, tmp_path / "root"), tmp_path / "root", plan_of(tmp_path)
    deactivated(state, "v/home")
    world = Simulated(plan, root, state)
    decision = decided(plan, root, state)
    (refusal,) = decision.refusals
    found = (refusal.code, refusal.case, refusal.place, refusal.figures)
    assert found == ("not-started", "volume", "volume_groups.v.volumes.home", {"volume": "v/home"})
    assert refusal.line and not decision.left.steps
    assert [apply(plan, world)] == sentences([refusal]) and not world.effects
    # Neither does adopt take for gone what it does not see.
    assert [*not_started(plan, decision.machine, read_past(root / "var/lib/raidplan"))] == [refusal]


def test_what_stands_on_it_is_hidden_after_a_reboot_of_the_run_too(tmp_path: Path) -> None:
    """The journal does not say that lvcreate ended, but what it says of the file system counts."""
    plan, root = plan_of(tmp_path), tmp_path / "root"
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    assert apply(plan, once) == "done"
    effects = [what for _, what in once.effects]
    cut = next(n for n, what in enumerate(effects, 1) if "--name=home" in what)
    state = machine(root)
    with pytest.raises(Killed):
        apply(plan, Simulated(plan, root, state, (cut, "during")))
    resume = Simulated(plan, root, state)
    resume.watch = lambda when, kind, what: _end(when, what, "systemctl start ")
    with pytest.raises(Killed):
        apply(plan, resume)
    assert "volume.v.home.create" in read_past(root / "var/lib/raidplan").begun
    deactivated(state, "v/home")
    (refusal,) = decided(plan, root, state).refusals
    assert (refusal.code, refusal.case, refusal.figures) == ("not-started", "volume", {"volume": "v/home"})


def _end(when: str, what: str, command: str) -> None:
    if when == "before" and what.startswith(command):
        raise Killed


def test_a_volume_with_nothing_on_it_is_activated(tmp_path: Path) -> None:
    root = tmp_path / "root"
    bare = plan_of(tmp_path, set_to("filesystems", "x", None))
    state = machine(root)
    assert apply(bare, Simulated(bare, root, state)) == "done"
    deactivated(state, "v/x")
    world = Simulated(bare, root, state)
    assert apply(bare, world) == "done" and world.executed == ["lvchange --activate y v/x"]
    assert apply(bare, Simulated(bare, root, state)) == "nothing to do"


def test_a_volume_of_an_earlier_owner_by_the_same_name_is_not_asked_for(tmp_path: Path) -> None:
    state, root, plan = standing(tmp_path, tmp_path / "root"), tmp_path / "root", plan_of(tmp_path)
    deactivated(state, "v/home")
    state.objects["volume_group"]["v"]["devices"] = ["partition:of somebody else"]
    refusals = decided(plan, root, state).refusals
    assert refusals and "not-started" not in {each.code for each in refusals}
