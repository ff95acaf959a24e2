"""Signatures that are left from earlier content in devices which the interrupted run made: they count for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from raidplan.apply.journal.past import Past
from raidplan.apply.teardown.cleared import may_be_wiped
from raidplan.base.identity import Identity, disk_word
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact
from raidplan.facts.ranges import BACK, FRONT
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.origin import id_of_ghost, id_of_zero
from raidplan.plan.step import Plan, Step
from raidplan.plan.validity import makes


def devices_to_overwrite(left: Plan, passed_over: frozenset[str]) -> frozenset[str]:
    """The devices that the steps write over and that existed before them, as steps name them; not those in `passed_over`."""
    guarded = {node for step in left.steps for node in step.guard}
    # What only gets its name, or is activated, was there before.
    ours = {node for step in left.steps for node in (*(() if step.changes else step.awaits), *step.clears)}
    return frozenset(guarded - ours - passed_over)


def without_stale(
    plan: Plan, machine: Machine, disks: Mapping[str, DiskFact], past: Past
) -> tuple[frozenset[str], Machine]:
    """Devices that the open run made on disks that may be wiped, as steps name them; and the machine without the stale
    signatures on them, which are old, since only the ends of those disks were cleared. Of a disk that the run did not clear, since it
    was blank, everything counts. Once the run has cleared the ends of an array, a volume or an encryption, or of the places of
    partitions before it made them, content at an end is new, and stays.
    """
    if not past.is_open:
        return frozenset(), machine
    made = made_nodes(plan)
    nodes = {
        identity_of(node, made): node
        for step in plan.steps
        if step.id in past.begun | past.ended
        for node in step.awaits
    }
    cleared = {node for step in plan.steps if _has_clear_ends(step, past) for node in step.awaits}
    stack = Stack(machine, disks)
    old = with_old_bytes(plan, stack, past)
    ours = {
        block.name
        for block in machine.blocks
        if block.identity in nodes
        and block.name in old
        and not (nodes[block.identity] in cleared and _at_an_end(block))
    }
    blocks = tuple(
        replace(block, content=()) if block.name in ours and not block.found else block
        for block in machine.blocks
    )
    return frozenset(nodes[stack.blocks[name].identity] for name in ours), replace(machine, blocks=blocks)


def with_old_bytes(plan: Plan, stack: Stack, past: Past) -> frozenset[str]:
    """The devices, by kernel name, that the run has begun to clear, and those on top: between the cleared ends bytes may be old.

    So they may be on all members of an array that was begun on one of those: md may have copied them.
    Only where the layout says `wipe: true` for all disks below.
    """
    made = made_nodes(plan)
    names = {block.identity: block.name for block in stack.machine.blocks}
    names |= {disk_word(name): disk.kernel_name for name, disk in stack.disks.items()}
    guards = {step.id: {names.get(identity_of(node, made), "") for node in step.guard} for step in plan.steps}
    arrays = [guards[step.id] for step in plan.steps if step.id in past.begun and makes(step) == "array"]
    found = {names.get(identity_of(node, made), "") for node in _cleared(plan, past)} - {""}
    while True:
        more = found.union(
            (block.name for block in stack.above(list(found))),
            *(members for members in arrays if members & found),
        ) - {""}
        if more == found:
            return frozenset(name for name in found if may_be_wiped(plan, stack, name))
        found = more


def _cleared(plan: Plan, past: Past) -> Iterator[str]:
    """The devices that the run has begun to clear, as steps name them; journals of earlier versions have the name in the id alone."""
    for node in {node for step in plan.steps for node in step.guard}:
        id = id_of_zero(Identity.read(node).key.rpartition("/")[2])
        if id in past.begun | past.ended and (not past.marks.get(id) or node in past.ours.get(id, ())):
            yield node


def _has_clear_ends(step: Step, past: Past) -> bool:
    """Whether the run cleared both ends of what the step makes: of an array, a volume or an encryption behind it, of partitions before."""
    if not step.awaits:
        return False
    cleared = id_of_zero if step.new_partitions else id_of_ghost
    return cleared(step.targets[0]) in past.ended


def _at_an_end(block: BlockFact) -> bool:
    """Whether unrecognised bytes begin within the ends of a device, which are cleared; also if their place is unknown."""
    return bool(block.content) and not FRONT <= block.unknown_from < block.size - BACK
