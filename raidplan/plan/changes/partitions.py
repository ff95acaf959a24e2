"""The table of changes of the partitions of a disk: by which commands and in which order, or why there is no way.

Partitions are paired by the place where they begin: none of these commands moves what is on one.

Sources: sfdisk(8), partx(8); `command_fdisk` in disk-utils/sfdisk.c of util-linux 2.38, where `-N` and `--append` refuse a
disk in use without --no-reread; `upd_parts` in disk-utils/partx.c.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal, NamedTuple

from raidplan.plan.changes.answer import Answer, Before, Reason, by_hand, impossible
from raidplan.plan.changes.arrays import member_grown, member_shrunk
from raidplan.plan.changes.shape import Shape

DELETE = "sfdisk --delete {node} {number}"
"""sfdisk counts partitions from 1."""
RESIZE = "echo size={sectors} | sfdisk --no-reread -N {number} {node}"
APPEND = "echo '{line}' | sfdisk --no-reread --append {node}"
"""The other partitions stay as they are; the line says where it begins, behind the last one or between two."""
PART_UUID = "sfdisk --part-uuid {node} {number} {uuid}"
SOME_UUID = "sfdisk --part-uuid {node} {number} $(cat /proc/sys/kernel/random/uuid)"
"""While two partitions change their UUIDs with each other, none has that of the other one."""
PART_LABEL = "sfdisk --part-label {node} {number} {name}"
PART_TYPE = "sfdisk --part-type {node} {number} {type}"
UPDATE = "partx --update {node}"
"""The kernel does not read the table of a disk in use again by itself."""
OF_TABLE = (DELETE, RESIZE, APPEND, PART_UUID, SOME_UUID, PART_LABEL, PART_TYPE)

ADDED = by_hand(APPEND, UPDATE, called="sfdisk --append, partx --update")
REMOVED = by_hand(DELETE, UPDATE, before=(Before.CONTENT_LOST,), called="sfdisk --delete, partx --update")
MOVED = by_hand(
    DELETE, APPEND, UPDATE, before=(Before.CONTENT_LOST,), called="sfdisk --delete, --append, partx --update"
)
GROWN = by_hand(RESIZE, UPDATE, called="sfdisk, partx --update")
SHRUNK = GROWN._replace(before=(Before.SHRUNK_OR_LOST,))
TYPE = by_hand(PART_TYPE)
RENAMED = by_hand(PART_UUID, PART_LABEL, before=(Before.NAMED_ELSEWHERE,))
SWAPPED = by_hand(
    SOME_UUID,
    *RENAMED.commands,
    before=RENAMED.before,
    called="sfdisk --part-uuid, sfdisk --part-label",
)
NAMED_BY_LVM = impossible(Reason.NAMED_BY_LVM)
DISK_RENAMED = by_hand("sfdisk --disk-id {node} {table}", PART_UUID)
"""The table of a disk, too, has a UUID made of names."""

Key = Literal["removed", "moved", "shrunk", "grown", "type", "name", "added"]
Resized = tuple[Literal["shrunk", "grown"], Answer]


class Known(NamedTuple):
    """A partition of one of two tables."""

    start: Hashable
    name: str
    """The name by which it is known: of a layout, or a UUID."""
    type: str
    """Empty where nothing says it."""


class TableChange(NamedTuple):
    """One difference of two tables."""

    key: Key
    old: int
    """The index in the old table; -1 if it is not there."""
    new: int
    answer: Answer


def resized(*, smaller: bool, array: Shape | None) -> Resized:
    """The change of a partition's size; `array`: the one that it is a member of, and that stays."""
    return ("shrunk", member_shrunk(SHRUNK, array)) if smaller else ("grown", member_grown(GROWN, array))


def changes(
    old: Sequence[Known],
    new: Sequence[Known],
    sizes: Callable[[int, int], Resized | None],
    of_lvm: Callable[[int, int], bool],
) -> Iterator[TableChange]:
    """Each difference of two tables, with its answer. Of a pair, by their indexes: `sizes` has the answer where these differ,
    `of_lvm` tells whether the same group has a physical volume on both."""
    begin = {each.start: at for at, each in enumerate(new)}
    pairs = {at: begin[each.start] for at, each in enumerate(old) if each.start in begin}
    came = {each.name: at for at, each in enumerate(new) if at not in pairs.values()}
    for at, each in enumerate(old):
        if at not in pairs:
            now = came.pop(each.name, -1)
            yield TableChange("removed" if now < 0 else "moved", at, now, REMOVED if now < 0 else MOVED)
    wanted = {new[now].name for now in pairs.values()}
    for at, now in pairs.items():
        one, other = old[at], new[now]
        if one.name != other.name:
            renamed = SWAPPED if one.name in wanted else RENAMED
            yield TableChange("name", at, now, NAMED_BY_LVM if of_lvm(at, now) else renamed)
        if (size := sizes(at, now)) is not None:
            yield TableChange(size[0], at, now, size[1])
        if one.type and other.type and one.type != other.type:
            yield TableChange("type", at, now, TYPE)
    yield from (TableChange("added", -1, now, ADDED) for now in came.values())


def in_order(listed: Sequence[TableChange]) -> Iterator[tuple[TableChange, str]]:
    """The commands of all changes of a table, each with its change: what is removed makes room, what has been renamed leaves its
    UUID to another one, and the kernel reads the table where something needs it."""
    due = [
        *_of(listed, DELETE),
        *_of(listed, SOME_UUID),
        *_all(listed, "name", "type"),
        *_all(listed, "shrunk"),
        *_all(listed, "grown"),
        *_of(listed, APPEND),
        *[pair for pair in _of(listed, UPDATE) if pair[0].key not in ("shrunk", "grown")][-1:],
    ]
    for at, (change, command) in enumerate(due):
        again = at + 1 < len(due) and due[at + 1][1] in (*OF_TABLE, UPDATE)
        if command != UPDATE or not again:
            yield change, command


def _of(listed: Sequence[TableChange], command: str) -> Iterator[tuple[TableChange, str]]:
    return ((change, command) for change in listed if command in change.answer.commands)


def _all(listed: Sequence[TableChange], *keys: Key) -> Iterator[tuple[TableChange, str]]:
    changes = (change for change in listed if change.key in keys)
    return (
        (change, command) for change in changes for command in change.answer.commands if command != SOME_UUID
    )
