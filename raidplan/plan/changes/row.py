"""A row of the tables of changes: the arrays that it fits, and the answer for them; commands that several tables have."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from raidplan.plan.changes.answer import Answer, Before, by_hand
from raidplan.plan.changes.shape import Shape

RESHAPE = "4.4"
"""The first mdadm with the repairs of reshapes."""
ADD = "mdadm {node} --add {new}"
FAIL, REMOVE = "mdadm {node} --fail {old}", "mdadm {node} --remove {old}"
COUNT = "mdadm --grow --raid-devices={count} {node}"
END = "mdadm --grow --array-size={array_size} {node}"
BITMAP_OFF, BITMAP_ON = (f"mdadm --grow --bitmap={word} {{node}}" for word in ("none", "internal"))

Condition = Callable[[Shape, Shape], bool]
"""A condition on the shape as it is and the one that is wanted."""


def always(old: Shape, new: Shape) -> bool:
    """No condition."""
    return True


def far(old: Shape, new: Shape) -> bool:
    """The kernel moves no far copies."""
    return old.far or new.far


def uneven(old: Shape, new: Shape) -> bool:
    """A RAID0 of several zones, before or after."""
    return old.uneven or new.uneven


class Row(NamedTuple):
    """The answer for arrays of some levels, under a condition; of the rows of a table, the first that fits counts."""

    answer: Answer
    levels: Collection[str] = ()
    """The levels of the array as it is; empty for all."""
    when: Condition = always

    def fits(self, old: Shape, new: Shape) -> bool:
        """Whether the row is about a change between these shapes."""
        return (not self.levels or old.level in self.levels) and self.when(old, new)


def reshape(*commands: str, before: tuple[Before, ...] = ()) -> Answer:
    """An answer that moves data within the members, which needs room beside it."""
    return by_hand(*commands, before=(*before, Before.IDLE, Before.ROOM), since=RESHAPE)
