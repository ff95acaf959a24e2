"""An array that a boot assembled and did not start: nothing is taken for gone, and one sentence says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.decide.redo import CLEARS
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.session import Decision, decide
from raidplan.cli import REFUSED
from raidplan.cli.adopt import _entered
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.test_change import plan_of, standing
from tests.apply.test_kill_matrix import apply, impatient, machine

__all__ = ["impatient"]

OUT_OF_SIGHT = ("filesystem", "swap", "mount", "tuning")


def not_started(state: State, name: str) -> dict[str, Any]:
    """The array as mdadm leaves it, when one of its superblocks is behind: all are spares, and it has neither level nor size."""
    uuid, found = next((u, f) for u, f in state.objects["array"].items() if f["name"] == f"pair:{name}")
    state.objects["array"][uuid] = found = {
        "name": found["name"], "node": f"/dev/md_{name}", "device": f"md_{name}", "links": [], "state": "inactive",
        "level": "", "size": 0, "members": [], "spares": [*found["members"]],
    }  # fmt: skip
    for kind in OUT_OF_SIGHT:
        state.objects[kind] = {
            key: each
            for key, each in state.objects.get(kind, {}).items()
            if f"array:{uuid}" not in (each.get("device"), each.get("source")) and key != uuid
        }
    state.content.pop(f"array:{uuid}", None)
    return found


def decided(folder: Path, root: Path, state: State) -> Decision:
    plan = plan_of(folder)
    return decide(
        plan, Simulated(plan, root, state).read(plan), read_past(root / "var/lib/raidplan"), here=False
    )


def test_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    state, root = standing(tmp_path, tmp_path / "root"), tmp_path / "root"
    not_started(state, "a")
    decision = decided(tmp_path, root, state)
    (refusal,) = decision.refusals
    assert refusal.startswith("arrays.a (line ") and refusal.endswith(
        "3 of its 3 devices are there, but md has not started it, and what stands on it cannot be seen: mdadm starts it "
        "half a minute after the boot, or `mdadm --run /dev/md_a` does; then try again"
    )
    assert not decision.left.steps
    world = Simulated(plan_of(tmp_path), root, state)
    assert apply(plan_of(tmp_path), world) == refusal and not world.effects


def test_a_member_that_is_away_is_named(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    away = not_started(state, "a")["spares"].pop()
    state.content[away] = []
    (refusal,) = decided(tmp_path, tmp_path / "root", state).refusals
    node = away.replace("partition:", "/dev/disk/by-partuuid/")
    assert (
        f"2 of its 3 devices are there, but md has not started it, and what stands on it cannot be seen: bring {node} back and boot, or "
        in refusal
    )


def test_adopt_takes_nothing_for_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands on the array is out of sight; forgotten, it would be made anew."""
    state, root, plan = standing(tmp_path, tmp_path / "root"), tmp_path / "root", plan_of(tmp_path)
    not_started(state, "a")
    world = Simulated(plan, root, state)
    before = read_past(root / "var/lib/raidplan")
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    assert _entered(plan, named, open_journal(root / "var/lib/raidplan", world)) == REFUSED
    assert "refused: arrays.a (line " in capsys.readouterr().err
    assert read_past(root / "var/lib/raidplan") == before


def create_cut_off(tmp_path: Path) -> tuple[State, str]:
    """The power went when `mdadm --create` had ended, and the journal did not know it yet; and the command."""
    plan, root, state = plan_of(tmp_path), tmp_path / "root", machine(tmp_path / "root")
    whole = Simulated(plan, tmp_path / "whole", machine(tmp_path / "whole"))
    assert apply(plan, whole) == "done"
    created = next(
        n for n, (_, what) in enumerate(whole.effects, 1) if what.startswith("mdadm --create /dev/md/a ")
    )
    with pytest.raises(Killed):
        apply(plan, Simulated(plan, root, state, (created, "after")))
    return state, whole.effects[created - 1][1]


@pytest.mark.parametrize("how", ["not started", "under another name"])
def test_what_a_cut_off_step_left_is_stopped_and_made_anew(how: str, tmp_path: Path) -> None:
    state, create = create_cut_off(tmp_path)
    if how == "not started":
        node = not_started(state, "a")["node"]
    else:
        found = next(found for found in state.objects["array"].values() if found["name"] == "pair:a")
        found |= {"node": (node := "/dev/md127"), "device": "md127", "links": ["a_0"]}
    ids = [step.id for step in decided(tmp_path, tmp_path / "root", state).left.steps if ".a." in step.id]
    cleared = ids[: ids.index("array.a.create")]
    assert cleared == [f"array.a.create{CLEARS}{number}" for number in range(1, len(cleared) + 1)] != []
    world = Simulated(plan_of(tmp_path), tmp_path / "root", state)
    assert apply(plan_of(tmp_path), world) == "done"
    programs = [what for kind, what in world.effects if kind == "run" and what.startswith("mdadm")]
    assert [what.split()[1] for what in programs if node in what or what == create] == ["--stop", "--create"]
