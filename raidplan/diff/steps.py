"""The plan of a change: the steps of the new layout that the old one does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from raidplan.base.findings import dotted
from raidplan.diff.result import Diff, Fate
from raidplan.plan.phases import NEW_CONTENTS
from raidplan.plan.step import Plan, Step

IN_PLACE = (Fate.CHANGED, Fate.RESHAPED, Fate.RENAMED)
MAKING = frozenset((*NEW_CONTENTS, "sync"))
"""The phases in which things are made that hold data; after them, lines are written and things brought up."""


def plan_of_change(made: Diff, old: Plan, new: Plan) -> Plan:
    """The new plan without what stands already, and without what is changed in place: the command for that is in the diff."""
    before = {step.id: (step.action, step.proof) for step in old.steps}
    kept = {
        dotted(thing.path)
        for thing in made.things
        if thing.fate in IN_PLACE and all(change.how for change in thing.changes)
    }
    lost = {dotted(thing.path) for thing in made.things if thing.fate.loses}
    steps = [step for step in new.steps if not _stands(step, before, lost) and not _in_place(step, kept)]
    known = {step.id for step in steps}
    return replace(new, steps=tuple(step.among(known) for step in steps))


def _stands(step: Step, before: Mapping[str, tuple[object, object]], lost: set[str]) -> bool:
    """A step of the old plan made it, and it is not made anew; only tables and lines in files are written anew where they differ."""
    if step.because in lost or step.id not in before:
        return False
    return step.phase in MAKING - {"partition"} or before[step.id] == (step.action, step.proof)


def _in_place(step: Step, kept: set[str]) -> bool:
    """The step would make what stands: only lines in files are written anew for it."""
    return step.phase in MAKING and step.because in kept
