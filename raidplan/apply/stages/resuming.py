"""Stage 3, resume: the work of an interrupted run on these disks, and the machine without stale signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raidplan.apply.decide.stale_signatures import without_stale
from raidplan.apply.journal.past import Past, Rest
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.facts import Machine

if TYPE_CHECKING:  # for the type alone: what makes the value reads devices, which no function here can
    from raidplan.apply.stages.rechecking import Rechecked


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


def resume(asked: Asked, matched: Matched, past: Past, rechecked: Rechecked) -> Resumed:
    """The interrupted run on the machine as it was read twice; `past` as of `match_journal`."""
    passed_over, without = without_stale(asked.layout, rechecked.machine, matched.disks, past)
    return Resumed(past, without, passed_over, rechecked.rests)
