"""Stage 2, recheck: the devices of interrupted steps, read a second time: data that has no signature, rests of clearings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from raidplan.apply.decide.cut_clearing import left_to_clear, with_rests_of_members
from raidplan.apply.decide.found_before import AsFound
from raidplan.apply.decide.reading_again import as_found
from raidplan.apply.decide.recheck import look_closer
from raidplan.apply.journal.past import Past, Rest
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.facts import Machine


@dataclass(frozen=True, slots=True)
class Rechecked:
    """The machine with what only a second look at the devices of interrupted steps shows."""

    machine: Machine
    rests: Mapping[str, Rest] = field(default_factory=dict)
    """The rests of interrupted clearings, by device as steps name it."""
    found: Mapping[str, AsFound] = field(default_factory=dict)
    """The devices of interrupted steps as they were before, by the same names."""


def recheck(asked: Asked, matched: Matched, past: Past, *, here: bool) -> Rechecked:
    """Reads the devices of the steps that an open run has begun; `past` as of `match_journal`, `here`: the machine is this one."""
    if not here or not past.is_open:
        return Rechecked(matched.machine)
    # Before the closer look: a change between the two is seen in the end.
    found = as_found(asked.layout, matched.machine, matched.disks, past)
    seen = look_closer(asked.layout, matched.machine, matched.disks, past)
    with_members = with_rests_of_members(asked.layout, seen, past)
    return Rechecked(with_members, left_to_clear(asked.layout, matched.machine, past), found)
