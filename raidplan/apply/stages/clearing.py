"""Stage 3, clear: what is in the way where the layout says `wipe: true`, and the machine as it will be without it."""

from __future__ import annotations

from raidplan.apply.decide.comparison import compare
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.apply.stages.resuming import Resumed
from raidplan.apply.teardown.cleared import Cleared
from raidplan.apply.teardown.teardown import take_apart


def clear(asked: Asked, matched: Matched, resumed: Resumed) -> Cleared:
    """The steps that are left once nothing is in their way, and those that clear it; or why it must stay."""
    layout, past = asked.layout, resumed.past
    return take_apart(
        layout, resumed.machine, matched.disks, lambda machine: compare(layout, machine, past), past.made
    )
