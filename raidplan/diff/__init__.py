"""Two layouts compared by what the change means: what is made, what is lost, what can be done in place."""

from raidplan.diff.diff import diff, forget_layout, nothing
from raidplan.diff.result import Change, Diff, Fate, Figure, LostData, Shrink, Side, Thing, Tolerance
from raidplan.diff.steps import plan_of_change

__all__ = [
    "Change",
    "Diff",
    "Fate",
    "Figure",
    "LostData",
    "Shrink",
    "Side",
    "Thing",
    "Tolerance",
    "diff",
    "forget_layout",
    "nothing",
    "plan_of_change",
]
