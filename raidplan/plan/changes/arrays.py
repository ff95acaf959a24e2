"""Changes of an array: the answer for each property that differs between two shapes, found in the tables.

The rows stand in `levels.py`, `sizes.py`, `stripes.py`, `policies.py`, `superblocks.py` and `members.py`. Whatever fits no row is
impossible: a new array, and the data copied. The changelog of mdadm 4.4 has what earlier versions get wrong in a reshape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from raidplan.base.levels import LEVELS
from raidplan.plan.changes import levels, policies, sizes, stripes, superblocks
from raidplan.plan.changes.answer import Answer, Before, Reason, by_hand, impossible, short
from raidplan.plan.changes.row import ADD, COUNT, Row, reshape
from raidplan.plan.changes.shape import Shape


class ArrayChange(NamedTuple):
    """One property that differs between two shapes."""

    key: str
    """level, layout, raid-devices, chunk, metadata, consistency or size."""
    old: object
    new: object
    answer: Answer


def changes(old: Shape, new: Shape) -> Iterator[ArrayChange]:
    """Each difference of two shapes, with its answer. An impossible one makes the array another one."""
    if old.level != new.level:
        yield ArrayChange("level", old.level, new.level, _level(old, new))
    elif not _same_layout(old, new):
        yield ArrayChange("layout", old.layout, new.layout, _found(stripes.LAYOUT, old, new))
    if old.count != new.count:
        yield ArrayChange("raid-devices", old.count, new.count, _count(old, new))
    if old.chunk != new.chunk and old.chunk and new.chunk:
        yield ArrayChange("chunk", old.chunk, new.chunk, _found(stripes.CHUNK, old, new))
    if old.metadata != new.metadata:
        yield ArrayChange("metadata", old.metadata, new.metadata, _found(superblocks.METADATA, old, new))
    if old.policy != new.policy and old.policy and new.policy:
        yield ArrayChange("consistency", old.policy, new.policy, _policy(old, new))
    same = (old.level, old.count, old.chunk) == (new.level, new.count, new.chunk)
    if same and _same_layout(old, new) and old.size and new.size and old.size != new.size:
        yield ArrayChange("size", old.size, new.size, resize(old, smaller=new.size < old.size))


def _same_layout(old: Shape, new: Shape) -> bool:
    """A RAID0 of members of one size has none that matters, and its superblock need not tell it."""
    return old.layout == new.layout or (old.level == "raid0" and None in (old.layout, new.layout))


def resize(old: Shape, *, smaller: bool) -> Answer:
    """The answer for an array that takes more of its members, or less."""
    return _found(sizes.SMALLER if smaller else sizes.LARGER, old, old)


def member_grown(grown: Answer, array: Shape | None) -> Answer:
    """The answer for a device that `grown` makes larger, and that may be a member of an array, {array} in commands."""
    if array is None or (array.metadata not in sizes.AT_END and array.level not in sizes.FIXED):
        return grown
    taken = resize(array, smaller=False)
    if not taken.possible:
        return taken
    commands = [command.replace("{node}", "{array}") for command in taken.commands]
    at = taken.commands.index(sizes.WHOLE)
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


def _found(rows: Iterable[Row], old: Shape, new: Shape) -> Answer:
    """The answer of the first row that fits."""
    return _for_array(next(row.answer for row in rows if row.fits(old, new)), old)


def _for_array(answer: Answer, old: Shape) -> Answer:
    """An answer as it is for one array: metadata 0.90 cannot say where moved data begins, and a log has to go before."""
    if Before.ROOM in answer.before and old.metadata == "0.90":
        return impossible(Reason.OLD_METADATA)
    if Before.IDLE not in answer.before or old.policy not in policies.POLICIES:
        return answer
    return answer._replace(before=(*answer.before, *policies.POLICIES[old.policy].without))


def _level(old: Shape, new: Shape) -> Answer:
    pair = old.level, new.level
    if pair in levels.REFUSED:
        return impossible(levels.REFUSED[pair])
    if old.uneven:
        return impossible(Reason.UNEVEN)
    if set(pair) == {"raid0", "raid10"}:
        return _mirrored(old, new)
    takeover = levels.TAKEOVERS.get(pair)
    if takeover is None:
        return impossible(Reason.LEVEL)
    reached = old.count + takeover.members
    if new.count < reached or (old.level == "raid1" and old.count != 2):
        return impossible(Reason.COUNT)
    later = (COUNT,) if new.count > reached else ()
    level = levels.LEVEL + (f"--raid-devices={reached} " if takeover.members else "") + "{node}"
    if old.level == "raid0":  # it has no spares: members come with the command itself
        commands: tuple[str, ...] = (f"{level} --add {{new}}", *later)
    else:
        commands = (*((ADD,) if new.count > old.count else ()), level, *later)
    before = (*takeover.before, *((Before.ONE_BY_ONE,) if later else ()))
    if takeover.moves or later:
        return _for_array(reshape(*commands, before=before), old)
    return _for_array(by_hand(*commands, before=(*before, Before.IDLE)), old)


def _mirrored(old: Shape, new: Shape) -> Answer:
    """Each member of a RAID0 becomes a pair of a RAID10, or one of each pair stays."""
    mirrored, striped = (old, new) if old.level == "raid10" else (new, old)
    if (mirrored.layout or "n2") != "n2" or mirrored.count != 2 * striped.count:
        return impossible(Reason.COUNT)
    if old.chunk != new.chunk:
        return impossible(Reason.LEVEL)
    if new.uneven:
        return impossible(Reason.UNEVEN)
    more = "{node}" if old is mirrored else "--raid-devices={count} {node} --add {new}"
    return by_hand(levels.LEVEL + more, before=(Before.IDLE,))


def _count(old: Shape, new: Shape) -> Answer:
    if old.level != new.level:
        return _level(old, new)
    return _found(sizes.MORE if new.count > old.count else sizes.FEWER, old, new)


def _policy(old: Shape, new: Shape) -> Answer:
    """The answer where the old policy is taken off, and the new one put on."""
    if switched := policies.SWITCHED.get((old.policy, new.policy)):
        return switched
    before, after = (policies.POLICIES.get(shape.policy, policies.Policy()) for shape in (old, new))
    metadata, both = {old.metadata, new.metadata}, {old.level, new.level}
    if "0.90" in metadata or not LEVELS[new.level].has_stripe_cache:
        return impossible(Reason.POLICY)
    if after.metadata and not metadata <= {*after.metadata}:
        return impossible(Reason.POLICY)
    if any(policy.levels and not both <= {*policy.levels} for policy in (before, after)):
        return impossible(Reason.POLICY)
    conditions = (
        each for policy in policies.POLICIES.values() if policy in (before, after) for each in policy.before
    )
    return by_hand(*before.taken_off, *after.put_on, before=(Before.IDLE, *conditions))
