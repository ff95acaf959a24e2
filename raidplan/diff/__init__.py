"""Two layouts compared by what the change means: what is made, what is lost, what can be done in place."""

from raidplan.diff.diff import diff, forgotten, nothing
from raidplan.diff.result import Change, Diff, Fate, Figure, Loss, Side, Thing, Tolerance

__all__ = [
    "Change",
    "Diff",
    "Fate",
    "Figure",
    "Loss",
    "Side",
    "Thing",
    "Tolerance",
    "diff",
    "forgotten",
    "nothing",
]
