"""Stage 2, resume: the journal's entries on these steps and disks, and the machine without stale signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from raidplan.apply.decide.marked_volumes import with_marked_volumes
from raidplan.apply.decide.stale_signatures import without_stale
from raidplan.apply.journal.past import Past, Rest
from raidplan.apply.journal.step_fingerprints import marks, marks_of_added, marks_of_disks, of_these_disks
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.facts import Machine

NOTHING: Mapping[str, Rest] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Resumed:
    """The work of an interrupted run on these disks."""

    past: Past
    machine: Machine
    """The machine without the stale signatures in devices that the run made."""
    passed_over: frozenset[str]
    """The devices that the run made, as steps name them; stale signatures in them count for nothing."""
    rests: Mapping[str, Rest] = field(default_factory=dict)
    """The rests of interrupted clearings, by device as steps name it."""


def past_of_these(asked: Asked, matched: Matched, past: Past) -> Past:
    """The journal without what it says of other steps, or of other disks."""
    kinds = ("change", "clear", "teardown")
    added = {step: past.marks[step] for step in past.marks if past.origin(step).kind in kinds}
    now = {
        **marks_of_added(asked.layout, matched.disks, added),
        **marks(asked.layout, matched.disks),
    }
    of_these = of_these_disks(past, now, marks_of_disks(asked.layout, matched.disks))
    return with_marked_volumes(of_these, asked.layout, matched.machine)


def resume(
    asked: Asked, matched: Matched, past: Past, machine: Machine, rests: Mapping[str, Rest] = NOTHING
) -> Resumed:
    """`past` as of `past_of_these`; `machine` and `rests` with what a closer look at interrupted steps has found."""
    passed_over, without = without_stale(asked.layout, machine, matched.disks, past)
    return Resumed(past, without, passed_over, rests)
