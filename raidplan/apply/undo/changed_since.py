"""A disk compared with its safety copy: each block is as it was, or as the run left it, or somebody else has written there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from raidplan.apply.decide.leftovers import TABLE_SIGNATURES
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.undo.copies import Copy
from raidplan.base.figures import Figures
from raidplan.base.identity import disk_word
from raidplan.facts import DiskFact, Machine
from raidplan.facts.prove import differences
from raidplan.facts.tables import extent, read_table
from raidplan.facts.traces import Place, read_traces, words
from raidplan.plan.step import Step

if TYPE_CHECKING:
    from raidplan.apply.world import World


CHANGED: Final = "changed-since"
Reason = Callable[..., Refusal]
"""Makes a refusal about the disk of its case and its figures."""


def compare_with_copy(
    copy: Copy, disk: DiskFact, steps: Mapping[str, Step], past: Past, machine: Machine, world: World
) -> tuple[dict[int, bytes], list[Refusal]]:
    """The bytes to write back to have the disk as it was, by start; or the reasons not to write them."""
    back: dict[int, bytes] = {}
    return back, list(_reasons(back, copy, disk, steps, past, machine, world))


def _reasons(
    back: dict[int, bytes],
    copy: Copy,
    disk: DiskFact,
    steps: Mapping[str, Step],
    past: Past,
    machine: Machine,
    world: World,
) -> Iterator[Refusal]:
    reason: Reason = partial(refusal, CHANGED, place=copy.disk, node=disk.node)
    if disk.size != copy.size or disk.logical_block != copy.sector:
        before: Figures = {"size_before": copy.size, "block_before": copy.sector}
        yield reason("size", size=disk.size, block=disk.logical_block, **before)
        return
    if not copy.is_of(disk):
        before = {"serial_before": copy.serial, "wwn_before": copy.wwn}
        yield reason("other-disk", serial=disk.serial, wwn=disk.wwn, **before)
        return
    table = steps.get(copy.table) if copy.table in past.run else None
    yield from _other_table(table, copy, past, machine, reason) if table else ()
    # Of a disk that was cleared, the middle was not: what shows there may be as old as the disk.
    if table and not past.undoing and not copy.zeroed.keys() & set(past.run):
        yield from _put_there(table, disk, world, reason)
    cleared = [one for step, ranges in copy.zeroed.items() if step in past.run for one in ranges]
    front, backup = extent(copy.size, copy.sector)
    for start, kept in copy.pieces.items():
        found = world.bytes_at(disk.node, start, len(kept))
        for at in range(0, len(kept), copy.sector):
            old, new = kept[at : at + copy.sector], found[at : at + copy.sector]
            if old == new:
                continue
            place = start + at
            ours = not any(new) and any(first <= place < first + size for first, size in cleared)
            if not ours and not (table and not front <= place < backup):
                yield reason("byte", byte=place)
                return
            back[place] = old
    if back and disk.users:
        yield reason("in-use", users=tuple(map(str, disk.users)))


def _other_table(step: Step, copy: Copy, past: Past, machine: Machine, reason: Reason) -> Iterator[Refusal]:
    """Why the table on the disk is not the one that the step wrote, or must stay."""
    assert step.proof is not None
    name = disk_word(copy.disk)
    before = read_table(lambda at, size: _bytes_of_copy(copy, at, size), copy.sector)
    tables = [key for key, found in machine.objects.get("table", {}).items() if found.get("disk") == name]
    for key in tables:
        if key not in (step.proof.key, before.uuid if before else ""):
            yield reason("other-table", uuid=key)
        elif key == step.proof.key and step.id not in past.begun and not past.undoing:
            differ = differences(step.proof, machine) or ()
            yield from (replace(reason("table"), deviations=(each,)) for each in differ)
    others = [str(each) for each in machine.carried(name) if each.type not in TABLE_SIGNATURES]
    if others and not past.undoing:
        yield reason("content", found=tuple(others))
    for row in step.proof.partitions:
        if carried := machine.carried(row.identity):
            yield reason("partition", uuid=row.uuid, found=tuple(map(str, carried)))


def _put_there(step: Step, disk: DiskFact, world: World, reason: Reason) -> Iterator[Refusal]:
    """Unrecognised data in partitions that were blank when the step made them: without the table, nobody would find it."""
    for start, size in step.new_partitions:
        for trace in read_traces(
            partial(_shifted, world, disk.node, start), disk.logical_block, Place(0, size)
        ):
            if trace.type == "data":
                yield reason("data", start=start, found=words(trace))


def _shifted(world: World, node: str, first: int, offset: int, size: int) -> bytes:
    return world.bytes_at(node, first + offset, size)


def _bytes_of_copy(copy: Copy, at: int, size: int) -> bytes:
    for start, data in copy.pieces.items():
        if start <= at < start + len(data):
            return data[at - start : at - start + size]
    return b""
