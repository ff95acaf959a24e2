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
from raidplan.plan.changes.arrays import (
    EXCHANGED,
    FAILED_REMOVED,
    JOURNAL_ADDED,
    JOURNAL_EXCHANGED,
    MEMBER_ADDED,
    MISSING_FILLED,
    REBUILT,
    RENAMED,
    REORDERED,
    SPARE_ADDED,
    SPARE_AGAIN,
    SPARE_REMOVED,
    Change,
    changes,
    resize,
)
from raidplan.plan.changes.members import Pairing, member_grown, member_shrunk, pair
from raidplan.plan.changes.shape import Shape, slot_after

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
    "Before",
    "Change",
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
