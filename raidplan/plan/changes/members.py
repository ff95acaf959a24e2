"""The members of an array, old against new: which stay, are exchanged, join, leave or change their size, and by which commands.

Sources: mdadm(8), MANAGE MODE; `raid1_add_disk` in drivers/md/raid1.c of Linux, by which a member takes the first empty slot.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from raidplan.base.levels import LEVELS, Copies
from raidplan.plan.changes.answer import Answer, Before, Reason, by_hand, impossible, short
from raidplan.plan.changes.arrays import AT_END, EXCHANGED, FIXED, REBUILT, REORDERED, WHOLE, resize
from raidplan.plan.changes.shape import Shape, slot_after


class Pairing(NamedTuple):
    """The members of an array before and after a change, by their slots."""

    exchanged: tuple[tuple[int, int], ...]
    """(old slot, new slot) where another member takes the place of one."""
    joining: tuple[int, ...]
    """The new slots of members that are added for a larger number of members."""
    leaving: tuple[int, ...]
    """The old slots of members that leave, with none in their place."""
    held: tuple[int, ...]
    """The new slots in the order in which a mirror will have their members; empty for all other levels."""
    answer: Answer | None
    """The answer for members that are not what they were; None where members join or leave, at most."""


def pair(stays: Sequence[int | None], old: Shape, new: Shape, lost: Collection[int] = ()) -> Pairing:
    """The members of two shapes.

    `stays`: for each old slot, the new slot of the same member, whatever its number; `lost`: the old slots whose
    members nobody can read any more.
    """
    if old.level == new.level and LEVELS[new.level].copies is Copies.EVERY:
        return _of_mirror(stays, old, new, lost)
    return _slot_by_slot(stays, old, new, lost)


def _of_mirror(stays: Sequence[int | None], old: Shape, new: Shape, lost: Collection[int]) -> Pairing:
    """Every member has all data: any that comes takes the place of any that leaves, of one that is lost first."""
    left = [slot for slot, after in enumerate(stays) if after is None]
    left.sort(key=lambda slot: slot not in lost)
    came = [slot for slot in range(new.count) if slot not in stays]
    exchanged, joining = tuple(zip(left, came, strict=False)), tuple(came[len(left) :])
    filled = dict(exchanged)
    there = (filled.get(slot, after) for slot, after in enumerate(stays))
    held = (*(slot for slot in there if slot is not None), *joining)
    only_order_differs = not (left or came) and list(held) != sorted(held)
    answer = REORDERED if only_order_differs else _exchange(exchanged, old, new, lost)
    return Pairing(exchanged, joining, tuple(left[len(came) :]), held, answer)


def _slot_by_slot(stays: Sequence[int | None], old: Shape, new: Shape, lost: Collection[int]) -> Pairing:
    """Each slot has data of its own; of a pair of copies, one member is enough."""
    afters = [slot_after(slot, old, new) for slot in range(old.count)]
    fits = {now for now, after in zip(stays, afters, strict=True) if now is not None and now == after}
    found: dict[int, int] = {}
    for slot, after in enumerate(afters):
        if after is not None and after not in fits:
            found.setdefault(after, slot)
    exchanged = tuple((before, after) for after, before in found.items())
    joining = tuple(slot for slot in range(new.count) if slot not in afters)
    leaving = tuple(slot for slot, now in enumerate(stays) if now is None and slot not in found.values())
    moved = any(now not in (None, after) for now, after in zip(stays, afters, strict=True))
    answer = impossible(Reason.OTHER_SLOTS) if moved else _exchange(exchanged, old, new, lost)
    return Pairing(exchanged, joining, leaving, (), answer)


def _exchange(exchanged: Collection[object], old: Shape, new: Shape, lost: Collection[int]) -> Answer | None:
    """The answer for another device in place of a member; from one that is lost, nothing can be copied."""
    if not exchanged:
        return None
    if not all(level in LEVELS and LEVELS[level].redundant for level in (old.level, new.level)):
        return impossible(Reason.NOTHING_TWICE)
    return REBUILT if lost else EXCHANGED


def member_grown(grown: Answer, array: Shape | None) -> Answer:
    """The answer for a device that `grown` makes larger, and that may be a member of an array, {array} in commands."""
    if array is None or (array.metadata not in AT_END and array.level not in FIXED):
        return grown
    taken = resize(array, smaller=False)
    if not taken.possible:
        return taken
    commands = [command.replace("{node}", "{array}") for command in taken.commands]
    at = taken.commands.index(WHOLE)
    first, last = by_hand(*commands[:at]), by_hand(*commands[at:])
    return by_hand(
        *(*first.commands, *grown.commands, *last.commands),
        before=tuple(each for each in taken.before if each is not Before.LARGER),
        called=", ".join(filter(None, map(short, (first, grown, last)))),
    )


def member_shrunk(shrunk: Answer, array: Shape | None) -> Answer:
    """The answer for a device that `shrunk` makes smaller, and that may be a member of an array, which is made smaller before."""
    taken = resize(array, smaller=True) if array else shrunk
    return shrunk if taken.possible else taken
