"""Stage 2, resume: what of the journal speaks of these steps on these disks, and what shows there of the time before."""

from __future__ import annotations

from dataclasses import dataclass

from raidplan.apply.decide.stale_signatures import without_stale
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks, of_these_disks
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.facts import Machine


@dataclass(frozen=True, slots=True)
class Resumed:
    """What an interrupted run has done on these disks."""

    past: Past
    machine: Machine
    """As it was read, without the stale signatures that show in what that run has made."""
    passed_over: frozenset[str]
    """What that run has made, and in which stale signatures count for nothing, as steps call it."""


def past_of_these(asked: Asked, matched: Matched, past: Past) -> Past:
    """The journal without what it says of other steps, or of other disks."""
    return of_these_disks(past, marks(asked.layout, matched.disks))


def resume(asked: Asked, matched: Matched, past: Past, machine: Machine) -> Resumed:
    """`past` as of `past_of_these`; `machine` with what a closer look at interrupted steps has found."""
    passed_over, without = without_stale(asked.layout, machine, matched.disks, past)
    return Resumed(past, without, passed_over)
