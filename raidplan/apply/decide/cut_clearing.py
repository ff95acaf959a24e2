"""The rest that clearings which were cut off have left on their devices, compared with the sectors before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from raidplan.apply.journal.past import Past, Rest
from raidplan.apply.journal.sectors import Sectors, sectors_before
from raidplan.base.magic import member_of
from raidplan.base.reader import Own, Reader, without
from raidplan.facts import Machine
from raidplan.facts.block import read_at
from raidplan.facts.device_stack import BY_ID
from raidplan.facts.members import length, superblocks
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.origin import TEARDOWN
from raidplan.plan.step import Plan, Step


def left_to_clear(plan: Plan, machine: Machine, past: Past) -> dict[str, Rest]:
    """The rest of content that a person gave up, by device as steps name it, where there is any and no step has written since."""
    nodes = _nodes(machine)
    # An array or a volume that is cleared through itself has a link that tells its UUID.
    nodes |= {block.node: f"/dev/{block.name}" for block in machine.blocks if block.node.startswith(BY_ID)}
    made = made_nodes(plan)
    since = {node for step in plan.steps if step.id in past.begun | past.ended for node in step.guard}
    rests: dict[str, Rest] = {}
    for step in past.begun:
        if past.origin(step) == TEARDOWN:
            for device, before in _before(past, step):
                read = partial(read_at, nodes.get(identity_of(device, made), ""))
                rest = None if device in since else _rest(before, read)
                rests |= {device: rest} if rest else {}
    return rests


def with_rests_of_members(plan: Plan, machine: Machine, past: Past) -> Machine:
    """The machine in which a device counts as a member of the array that it was forgetting, as long as anything is left of that
    and nothing came since; what came is `later` in its content, with its place. Not where a later step of ours wrote to it.
    """
    nodes, made = _nodes(machine), made_nodes(plan)
    sizes = {block.identity: block.size for block in machine.blocks}
    keys = {step.id: step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array"}
    imagined = machine
    for step in past.begun:
        origin = past.origin(step)
        if origin.kind != "change" or origin.step not in keys:
            continue
        since = {device for other in _begun_since(past, step) for device in past.ours.get(other, ())}
        for device, before in (each for each in _before(past, step) if each[0] not in since):
            identity = identity_of(device, made)
            read = partial(read_at, nodes.get(identity, ""))
            rest = _rest(before, _without_superblock(read, sizes.get(identity, 0), keys[origin.step]))
            carried = imagined.carried(identity)
            found = {**(imagined.observe("content", identity) or {"carries": []})}
            if rest and rest.foreign is not None:
                found["later"] = rest.foreign
            elif rest and not carried:
                found["carries"] = [str(member_of(keys[origin.step]))]
            imagined = imagined.with_more({("content", identity): found})
    return imagined


def without_own_rest(read: Reader, past: Past, step: Step, device: str) -> Reader:
    """The bytes of a device without those that were on it when an interrupted step was begun, or when it was cleared for that; `device`
    is empty for the array that the step makes.
    """
    ours = [each for each in past.begun if not device or device in past.ours.get(each, ())]
    for each in ours:
        of_it = each == step.id or (bool(device) and past.origin(each) == ("clear", step.id))
        if of_it and (before := sectors_before(past, each)):
            read = partial(without, _own_before(before, step, device, each), read)
    return read


def _own_before(before: Sectors, step: Step, device: str, interrupted: str) -> Own:
    """A function that recognises on a device of `step` the sectors that the interrupted step, which cleared it or is the same, found."""
    if not device:
        return before.own_anywhere()
    if interrupted != step.id:
        return before.own_of(0)
    is_array = bool(step.proof and step.proof.kind == "array")
    return before.own_across() if is_array else before.own_of(step.guard.index(device))


def _before(past: Past, step: str) -> Iterator[tuple[str, Sectors]]:
    """The device that an interrupted step cleared, if that is still on the same disk, and its sectors before."""
    for device in past.ours.get(step, ()):
        if before := sectors_before(past, step):
            yield device, before


def _begun_since(past: Past, step: str) -> list[str]:
    """The interrupted steps that were begun after this one."""
    begun = [*past.plans]
    return begun[begun.index(step) + 1 :] if step in begun else []


def _rest(before: Sectors, read: Reader) -> Rest | None:
    """The rest on a device; None also where that cannot be read, which is a reason of its own."""
    with suppress(OSError):
        return before.rest(read)
    return None


def _without_superblock(read: Reader, size: int, uuid: str) -> Reader:
    """The bytes of a device without a whole superblock of this array. It is cleared last, so until then udev may give the array the
    device back (mdadm --incremental), and md writes another one.
    """
    try:
        blocks = [each for each in superblocks(read, size) if not each.problem and each.uuid == uuid]
        ranges = [(each.offset, each.offset + length(read, each)) for each in blocks]
    except OSError:
        return read
    return partial(without, lambda at, sector: any(start <= at < end for start, end in ranges), read)


def _nodes(machine: Machine) -> dict[str, str]:
    return {block.identity: f"/dev/{block.name}" for block in machine.blocks}
