"""Advice for a partition table that differs: the commands of `plan/changes/partitions.py` in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from raidplan.apply.change.array_shape import shape
from raidplan.apply.change.by_hand import Advice
from raidplan.base.hidden import escaped
from raidplan.facts.machine import Properties
from raidplan.plan.changes import Before, fill, partitions
from raidplan.plan.partitions import TYPE_CODES, PartitionRow, table_lines, table_uuid


class OnDisk(NamedTuple):
    """A disk with the table, and what stands on its partitions, by their identities."""

    node: str
    """The name of the disk in a shell."""
    table: str
    """The UUID that its table has."""
    numbers: Mapping[str, int]
    """The numbers that its partitions have in the table."""
    arrays: Mapping[str, Properties]
    """The arrays that run and are planned, by their members and spares."""
    physical: frozenset[str] = frozenset()
    """The partitions that have a physical volume, and are to have one."""


def table_by_hand(
    found: Sequence[PartitionRow], planned: Sequence[PartitionRow], script: str, disk: OnDisk
) -> Advice:
    """Advice about the partitions of a disk; `script`: the planned table as sfdisk reads it."""

    def sizes(at: int, now: int) -> partitions.Resized | None:
        one, other = found[at], planned[now]
        if one.size == other.size:
            return None
        array = disk.arrays.get(one.identity)
        return partitions.resized(smaller=other.size < one.size, array=shape(array) if array else None)

    def of_lvm(at: int, now: int) -> bool:
        return found[at].identity in disk.physical

    listed = [*partitions.changes([*map(_known, found)], [*map(_known, planned)], sizes, of_lvm)]
    reason = next((each.answer.reason for each in listed if each.answer.reason), None)
    if reason:
        return Advice("table-stays", {"cause": reason})
    commands = tuple(
        fill(command, _values(change, found, planned, script, disk))
        for change, command in partitions.in_order(listed)
    )
    if {each.key for each in listed} == {"type"}:
        return Advice("types", {"kept": _kept(found[each.old] for each in listed), "commands": commands})
    disk_id, _ = partitions.DISK_RENAMED.commands
    if disk.table != table_uuid(script):
        commands = (fill(disk_id, {"node": disk.node, "table": table_uuid(script)}), *commands)
    before: dict[Before, None] = dict.fromkeys(each for change in listed for each in change.answer.before)
    return Advice("commands", {"commands": commands, "conditions": tuple(before)})


def _known(row: PartitionRow) -> partitions.Known:
    return partitions.Known(row.start, row.uuid, row.type)


def _values(
    change: partitions.TableChange,
    found: Sequence[PartitionRow],
    planned: Sequence[PartitionRow],
    script: str,
    disk: OnDisk,
) -> dict[str, str]:
    """The values for the placeholders of commands; an unknown one stays a word in capitals."""
    values = {"node": disk.node}
    if change.old >= 0:
        identity = found[change.old].identity
        if identity in disk.numbers:
            values["number"] = str(disk.numbers[identity])
        if "node" in (array := disk.arrays.get(identity, {})):
            values["array"] = escaped(str(array["node"]))
    if change.new >= 0:
        row = planned[change.new]
        values |= {"uuid": row.uuid, "type": row.type}
        if row.uuid in (lines := table_lines(script)):
            line = lines[row.uuid]
            values |= {"line": line.text, "sectors": line.sectors, "name": line.name}
    return values


def _kept(rows: Iterator[PartitionRow]) -> tuple[str, ...]:
    """The types that are there, where a layout has a word for each: to write these there changes nothing."""
    words = {code.lower(): word for word, code in TYPE_CODES.items()}
    there = dict.fromkeys(words.get(row.type, "") for row in rows)
    return tuple(f"`type: {word}`" for word in there) if all(there) else ()
