"""Stage 1, match: which disk of the machine is which disk of the layout, and the journal's entries on these steps and disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from raidplan.apply.decide.marked_volumes import with_marked_volumes
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks, marks_of_added, marks_of_disks, of_these_disks
from raidplan.apply.refusal import Refusal, refusal, unmatched
from raidplan.facts import DiskFact, Machine
from raidplan.facts.kept import unlike_described
from raidplan.facts.match import match
from raidplan.plan.step import Plan, Step


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan as it was given, and its parts."""

    given: Plan
    entire: Plan
    """The plan as for a blank machine."""
    layout: Plan
    """The plan without the steps that take configuration back: those depend on the machine."""
    back: tuple[Step, ...]
    """The steps that take configuration back, as a plan in a file names them."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The disks of the layout by name; the machine as it was read, with its disks under these names."""

    disks: Mapping[str, DiskFact]
    machine: Machine
    refusals: tuple[Refusal, ...]


def asked_for(plan: Plan) -> Asked:
    """The plan in its parts."""
    entire = plan.complete
    back = tuple(step for step in entire.steps if step.origin.kind == "taken_back")
    layout = replace(entire, steps=tuple(step for step in entire.steps if step.origin.kind != "taken_back"))
    return Asked(plan, entire, layout, back)


def match_disks(asked: Asked, machine: Machine) -> Matched:
    """Each disk of the layout that is found without doubt, and the reasons why the others are not."""
    disks, mismatches = match(asked.layout.disks, machine)
    named = machine.named({disk.node: name for name, disk in disks.items()})
    refusals = (*map(unmatched, mismatches), *_kept_disks(asked.layout, disks, named))
    return Matched(disks, named, refusals)


def match_journal(asked: Asked, matched: Matched, past: Past) -> Past:
    """The journal without what it says of other steps, or of other disks."""
    kinds = ("change", "clear", "teardown")
    added = {step: past.marks[step] for step in past.marks if past.origin(step).kind in kinds}
    now = {
        **marks_of_added(asked.layout, matched.disks, added),
        **marks(asked.layout, matched.disks),
    }
    of_these = of_these_disks(past, now, marks_of_disks(asked.layout, matched.disks))
    return with_marked_volumes(of_these, asked.layout, matched.machine)


def _kept_disks(plan: Plan, disks: Mapping[str, DiskFact], machine: Machine) -> Iterator[Refusal]:
    """Kept disks that are not as described, and steps that would write to one: no plan of this raidplan has any."""
    for unlike in unlike_described(plan.disks, disks, machine, here=not plan.target):
        yield Refusal("kept-differs", unlike.way, unlike.disk, figures=unlike.figures)
    kept = frozenset(disk.name for disk in plan.disks if disk.keep)
    parts = frozenset(part.name for disk in plan.disks for part in disk.partitions if part.keep)
    tables = frozenset(disk.name for disk in plan.disks if disk.partitions)
    for step in plan.steps:
        written = (step.disks | {*step.targets}) & (kept | parts) | ({*step.targets} & tables)
        for name in sorted(written):
            yield refusal("kept-differs", "written", place=name, step=step.id)
