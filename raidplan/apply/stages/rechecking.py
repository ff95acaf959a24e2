"""Stage 2, recheck: the devices of interrupted steps, read a second time: data that has no signature, rests of clearings."""

from __future__ import annotations

from raidplan.apply.decide.cut_clearing import left_to_clear, with_rests_of_members
from raidplan.apply.decide.reading_again import as_found
from raidplan.apply.decide.recheck import look_closer
from raidplan.apply.journal.past import Past
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.apply.stages.resuming import Rechecked


def recheck(asked: Asked, matched: Matched, past: Past, *, here: bool) -> Rechecked:
    """Reads the devices of the steps that an open run has begun; `past` as of `match_journal`, `here`: the machine is this one."""
    if not here or not past.is_open:
        return Rechecked(matched.machine)
    # Before the closer look: a change between the two is seen in the end.
    found = as_found(asked.layout, matched.machine, matched.disks, past)
    closer = look_closer(asked.layout, matched.machine, matched.disks, past)
    closer = with_rests_of_members(asked.layout, closer, past)
    return Rechecked(closer, left_to_clear(asked.layout, matched.machine, past), found)
