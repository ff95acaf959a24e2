"""An array that is not assembled, or that a boot did not start: nothing is taken for gone, and one sentence says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.decide.not_started import not_started as asleep
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import md_form
from raidplan.cli import REFUSED
from raidplan.cli.adopt import _record
from raidplan.plan.origin import id_of_stop
from tests.apply.asleep import not_assembled, not_started, unchanged, wiping
from tests.apply.earlier import plan_of, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.sentences import sentences
from tests.apply.simulated import Killed, Simulated, State

__all__ = ["impatient"]


def decided(
    folder: Path, root: Path, state: State, change: Callable[[dict[str, Any]], None] = unchanged
) -> Decision:
    plan = plan_of(folder, change)
    return decide(
        plan, Simulated(plan, root, state).read(plan), read_past(root / "var/lib/raidplan"), here=False
    )


def reason(found: Refusal, there: int, *missing: str) -> tuple[str, str, bool]:
    """Code, case and place of a reason about an array of three devices, all that is known of which is told."""
    assert (found.figures["there"], found.figures["devices"], found.figures["missing"]) == (there, 3, missing)
    return found.code, found.case, found.place == "arrays.a" and found.line > 0


def test_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    state, root = standing(tmp_path, tmp_path / "root"), tmp_path / "root"
    not_started(state, "a")
    decision = decided(tmp_path, root, state)
    (refusal,) = decision.refusals
    assert reason(refusal, 3) == ("not-started", "inactive", True)
    assert refusal.figures["node"] == "/dev/md_a" and not decision.left.steps
    world = Simulated(plan_of(tmp_path), root, state)
    assert [apply(plan_of(tmp_path), world)] == sentences([refusal]) and not world.effects


def test_a_member_that_is_away_is_named(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    away = not_started(state, "a")["spares"].pop()
    state.content[away] = []
    (refusal,) = decided(tmp_path, tmp_path / "root", state).refusals
    node = away.replace("partition:", "/dev/disk/by-partuuid/")
    assert reason(refusal, 2, node) == ("not-started", "inactive-incomplete", True)


@pytest.mark.parametrize("change", [unchanged, wiping])
@pytest.mark.parametrize("journal", ["there", "lost"])
def test_an_array_that_is_not_assembled_is_not_taken_for_gone(
    change: Callable[[dict[str, Any]], None], journal: str, tmp_path: Path
) -> None:
    state, root = standing(tmp_path, tmp_path / "root"), tmp_path / "root"
    if journal == "lost":
        (root / "var/lib/raidplan/journal").unlink()
    (uuid,) = (u for u, found in state.objects["array"].items() if found["name"] == "pair:a")
    members = not_assembled(state, "a")["spares"]
    decision = decided(tmp_path, root, state, change)
    (refusal,) = decision.refusals
    assert reason(refusal, 3) == ("not-started", "not-assembled", True) and not decision.left.steps
    assert (refusal.figures["node"], refusal.figures["uuid"]) == ("/dev/md/a", md_form(uuid))
    state.content[members[0]] = []
    (refusal,) = decided(tmp_path, root, state, change).refusals
    node = members[0].replace("partition:", "/dev/disk/by-partuuid/")
    assert reason(refusal, 2, node) == ("not-started", "not-assembled-incomplete", True)
    assert (refusal.figures["node"], refusal.figures["uuid"]) == ("/dev/md/a", md_form(uuid))


def test_an_array_of_which_nothing_is_left_is_none(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    (uuid,) = (u for u, found in state.objects["array"].items() if found["name"] == "pair:a")
    not_assembled(state, "a")
    state.content = {
        device: words for device, words in state.content.items() if words != [f"linux_raid_member {uuid}"]
    }
    found = decided(tmp_path, tmp_path / "root", state).refusals
    assert "not-started" not in {each.code for each in found}


def test_what_was_given_up_and_stopped_is_cleared_by_the_run_that_goes_on(tmp_path: Path) -> None:
    """Of the members that `wipe: true` lets be cleared, a kill left some that carry the UUID of the array."""
    state, plan = standing(tmp_path, tmp_path / "root"), plan_of(tmp_path)
    (uuid,) = (u for u, found in state.objects["array"].items() if found["name"] == "pair:a")
    not_assembled(state, "a")
    (create,) = (step.id for step in plan.steps if step.proof and step.creates and step.proof.key == uuid)
    machine = Simulated(plan, tmp_path / "root", state).read(plan)
    stopped = frozenset({id_of_stop(uuid)})
    assert not list(asleep(plan, machine, Past(is_open=True, begun=stopped)))
    assert not list(asleep(plan, machine, Past(is_open=True, ended=stopped)))
    assert list(asleep(plan, machine, Past(is_open=True, ended=stopped | {create}))), "it was made since"


@pytest.mark.parametrize("how", [not_started, not_assembled])
@pytest.mark.parametrize("journal", ["closed", "open"])
def test_adopt_takes_nothing_for_gone(
    how: Callable[[State, str], Any], journal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What stands on the array is out of sight; forgotten, it would be made anew."""
    state, root, plan = standing(tmp_path, tmp_path / "root"), tmp_path / "root", plan_of(tmp_path)
    if journal == "open":
        file = root / "var/lib/raidplan/journal"
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    how(state, "a")
    world = Simulated(plan, root, state)
    before = read_past(root / "var/lib/raidplan")
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    assert _record(plan, named, open_journal(root / "var/lib/raidplan", world)) == REFUSED
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
    assert cleared == [f"array.a.create+clear.{number}" for number in range(1, len(cleared) + 1)] != []
    world = Simulated(plan_of(tmp_path), tmp_path / "root", state)
    assert apply(plan_of(tmp_path), world) == "done"
    programs = [what for kind, what in world.effects if kind == "run" and what.startswith("mdadm")]
    assert [what.split()[1] for what in programs if node in what or what == create] == ["--stop", "--create"]
