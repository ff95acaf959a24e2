"""Signatures that are left from earlier content in devices which the interrupted run made: they count for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from raidplan.apply.journal.past import Past
from raidplan.apply.teardown.cleared import may_be_wiped
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact
from raidplan.facts.ranges import BACK, FRONT
from raidplan.plan import Plan
from raidplan.plan.identities import identity_of, made_nodes


def written_over(left: Plan, passed_over: frozenset[str]) -> frozenset[str]:
    """What the steps write over and was there before them, as they call it; but what is `passed_over`."""
    guarded = {node for step in left.steps for node in step.guard}
    # What only gets its name, or is activated, was there before.
    ours = {node for step in left.steps for node in (*(() if step.changes else step.awaits), *step.clears)}
    return frozenset(guarded - ours - passed_over)


def without_stale(
    plan: Plan, machine: Machine, disks: Mapping[str, DiskFact], past: Past
) -> tuple[frozenset[str], Machine]:
    """What the run that is not closed made on disks that may be wiped, as steps call it; and the machine without what
    shows in it of the time before: of those disks both ends were cleared, and not what lies between. Of arrays and volumes as
    well, once their `ghosts.` step has ended: what stands at an end of one since is somebody's.
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
    cleared = {
        step.awaits for step in plan.steps if step.awaits and f"ghosts.{step.targets[0]}" in past.ended
    }
    stack = Stack(machine, disks)
    ours = {
        block.name
        for block in machine.blocks
        if block.identity in nodes
        and may_be_wiped(plan, stack, block.name)
        and not ((nodes[block.identity],) in cleared and _at_an_end(block))
    }
    blocks = tuple(
        replace(block, content=()) if block.name in ours and not block.found else block
        for block in machine.blocks
    )
    return frozenset(nodes[stack.blocks[name].identity] for name in ours), replace(machine, blocks=blocks)


def _at_an_end(block: BlockFact) -> bool:
    """What nobody recognises begins within what is cleared of a device, and not deeper in it; or it is not said where."""
    return bool(block.content) and not FRONT <= block.unknown_from < block.size - BACK
