"""The changes in place that are possible, from which shape of an array or a partition table to which, by which commands: `diff`,
`plan` and `apply` ask here.

Standard library only: the half that writes imports it.
"""

from raidplan.plan.changes.answer import (
    Answer,
    Before,
    Kind,
    Reason,
    argv,
    by_apply,
    by_hand,
    fill,
    impossible,
    short,
)
from raidplan.plan.changes.arrays import ArrayChange, changes, member_grown, member_shrunk, resize
from raidplan.plan.changes.members import (
    EXCHANGED,
    FAILED_REMOVED,
    MEMBER_ADDED,
    MISSING_FILLED,
    REBUILT,
    REORDERED,
    SPARE_ADDED,
    SPARE_AGAIN,
    SPARE_REMOVED,
)
from raidplan.plan.changes.pairing import Pairing, pair
from raidplan.plan.changes.policies import JOURNAL_ADDED, JOURNAL_EXCHANGED
from raidplan.plan.changes.shape import Shape, slot_after
from raidplan.plan.changes.superblocks import RENAMED

__all__ = [
    "EXCHANGED",
    "FAILED_REMOVED",
    "JOURNAL_ADDED",
    "JOURNAL_EXCHANGED",
    "MEMBER_ADDED",
    "MISSING_FILLED",
    "REBUILT",
    "RENAMED",
    "REORDERED",
    "SPARE_ADDED",
    "SPARE_AGAIN",
    "SPARE_REMOVED",
    "Answer",
    "ArrayChange",
    "Before",
    "Kind",
    "Pairing",
    "Reason",
    "Shape",
    "argv",
    "by_apply",
    "by_hand",
    "changes",
    "fill",
    "impossible",
    "member_grown",
    "member_shrunk",
    "pair",
    "resize",
    "short",
    "slot_after",
]
