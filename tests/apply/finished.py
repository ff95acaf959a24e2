"""The journal of a run that did all of a plan, as raidplan writes it."""

from __future__ import annotations

from pathlib import Path

from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks, marks_of_disks
from raidplan.apply.world import World
from raidplan.facts.match import match
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.step import Plan
from tests.apply.stacks import Box


def past_of(plan: Plan, box: Box, folder: Path, *, closed: bool = True) -> Past:
    """The journal of an apply of all of it to these disks."""
    disks, _ = match(plan.disks, box.machine())
    journal = open_journal(folder / "journal", World())
    journal.marks, journal.disk_marks = marks(plan, disks), marks_of_disks(plan, disks)
    journal.begin(plan_to_json(plan), plan_digest(plan))
    for step in plan.steps:
        journal.record_intent(step.id)
        journal.record_end(step.id, 0.1, made_by(step))
    if closed:
        journal.close()
    return read_past(journal.folder)
