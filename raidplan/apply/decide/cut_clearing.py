"""The rest that clearings which were cut off have left on their devices, compared with the sectors before."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from raidplan.apply.journal.past import Past
from raidplan.apply.journal.sectors import sectors_before
from raidplan.apply.teardown.cleared import Rest
from raidplan.base.reader import Reader, without
from raidplan.facts import Machine
from raidplan.facts.block import read_at
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.origin import TEARDOWN
from raidplan.plan.step import Plan


def left_to_clear(plan: Plan, machine: Machine, past: Past) -> dict[str, Rest]:
    """The rest of content that a person gave up, by device as steps name it, where there is any and no step has written since."""
    nodes = {block.identity: f"/dev/{block.name}" for block in machine.blocks}
    made = made_nodes(plan)
    since = {node for step in plan.steps if step.id in past.begun | past.ended for node in step.guard}
    rests: dict[str, Rest] = {}
    for step in past.begun:
        before = sectors_before(past, step) if past.origin(step) == TEARDOWN else None
        for device in past.ours.get(step, frozenset()) - since if before else ():
            read = partial(read_at, nodes.get(identity_of(device, made), ""))
            with suppress(OSError):  # what cannot be read is a reason of its own
                if before and before.remains(read):
                    rests[device] = Rest(before.ranges, before.foreign(read))
    return rests


def without_own_rest(read: Reader, past: Past, step: str, device: str) -> Reader:
    """The bytes of a device without those that were on it when it began to be cleared for an interrupted step."""
    for clearing in past.begun:
        ours = past.origin(clearing) == ("clear", step) and device in past.ours.get(clearing, ())
        if ours and (before := sectors_before(past, clearing)):
            return partial(without, before.own, read)
    return read
