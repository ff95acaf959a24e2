"""A mirror that went on in two halves: the half that does not run is never cleared, and no command says to add it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.step_fingerprints import marks, marks_of_added, marks_of_disks
from raidplan.apply.world import World
from raidplan.facts.match import match
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.origin import Origin
from raidplan.plan.step import Zero
from raidplan.render.refusals import refusal_text
from tests.apply.drifted import carrying, standing, superblocks, the_array
from tests.apply.drifted import plan as plan_for

STATES = ["not begun", "begun", "ended"]


def decided(adding: str, running: int, outside: int, tmp_path: Path) -> Decision:
    """The first half runs, the second is not in the array; how far the open run came with adding it, and their numbers of updates."""
    plan = plan_for(tmp_path, "raid1", 2)
    box = standing(plan)
    disks, _ = match(plan.disks, box.machine())
    create = next(step for step in plan.steps if step.proof and step.proof.kind == "array" and step.creates)
    add = create.added("add")
    added = {add: (create.guard[1],)}
    journal = open_journal(tmp_path / "state", World())
    journal.marks = {**marks_of_added(plan, disks, added), **marks(plan, disks)}
    journal.disk_marks, journal.origins = marks_of_disks(plan, disks), {add: Origin("change", create.id)}
    journal.begin(plan_to_json(plan), plan_digest(plan))
    for step in plan.steps:
        journal.record_intent(step.id)
        journal.record_end(step.id, 0.1, made_by(step))
    if adding != "not begun":
        journal.record_intent(add)
    if adding == "ended":
        journal.record_end(add, 0.1)
    first, second = the_array(box)["members"]
    superblocks(box, "raid1", {0: first, 1: second})
    for found in box.objects["superblock"].values():
        found["events"] = running if found["device"] == first else outside
    carrying(box)
    the_array(box).update({"members": [first, "missing"], "degraded": 1})
    box.blocks["md127"] = replace(box.blocks["md127"], below=("sdb1",))
    box.disks["sdc"] = replace(box.disks["sdc"], users=())
    return decide(plan, box.machine(), read_past(journal.folder), here=False)


@pytest.mark.parametrize("adding", STATES)
@pytest.mark.parametrize("outside", [100, 90], ids=["later", "as late"])
def test_the_half_that_may_be_newer_stays(adding: str, outside: int, tmp_path: Path) -> None:
    """A boot started the half that had been away; each start counts, so equal numbers tell nothing."""
    decision = decided(adding, 90, outside, tmp_path)
    (reason,) = (each for each in decision.refusals if each.place == "arrays.data")
    assert (reason.code, reason.case) == ("differs", "member-newer")
    newer, running = reason.figures["newer"], reason.figures["running"]
    assert isinstance(newer, tuple) and isinstance(running, tuple)
    assert (len(newer), len(running)) == (1, 1) and str(outside) in newer[0] and "90" in running[0]
    assert "mdadm /dev" not in refusal_text(reason)
    assert not any(isinstance(step.action, Zero) for step in decision.left.steps)


def test_what_a_run_that_was_cut_off_left_is_added_again(tmp_path: Path) -> None:
    """The members that run have been written since, so they have all that it has."""
    decision = decided("begun", 100, 90, tmp_path)
    assert not [each for each in decision.refusals if each.place == "arrays.data"]
    assert "array.data.create+add" in {step.id for step in decision.left.steps}


def test_one_that_fell_behind_is_added_by_a_person(tmp_path: Path) -> None:
    (reason,) = (
        each for each in decided("not begun", 100, 90, tmp_path).refusals if each.place == "arrays.data"
    )
    assert reason.case == "member-missing"
