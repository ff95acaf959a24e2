"""Members of arrays that run: an empty slot, which the layout's member on a new disk fills, and a member that is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from raidplan.apply.change.change_array import forget_member, runs
from raidplan.apply.change.difference import Difference
from raidplan.apply.change.halves import newer_outside
from raidplan.apply.journal.past import Past
from raidplan.apply.note import Note, note
from raidplan.base.identity import DISK, Identity
from raidplan.base.levels import LEVELS, Copies, survives
from raidplan.base.magic import MEMBER, member_of
from raidplan.base.sync_action import HELD, IDLE, RECOVERS
from raidplan.base.words import listed
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact, texts
from raidplan.facts.prove import differing
from raidplan.plan.changes import MEMBER_ADDED, fill
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.loss import everything_on
from raidplan.plan.origin import Origin
from raidplan.plan.read_by_grub import read_by_grub
from raidplan.plan.step import Plan, Proof, SetAttribute, Step, Value

MISSING = "missing"
SYNC = "/sys/block/{{{}}}/md/sync_action"
FILLED = "add"
"""The verb of the step that fills the empty slots of an array."""


def members(difference: Difference) -> Iterator[Step]:
    """The step that adds the layout's members for the empty slots, after what a killed one left on them is cleared."""
    runs(difference)
    found, step, node = difference.found, difference.step, difference.node
    in_it = texts(found.get("spares"))
    empty = {identity: device for identity, device in _empty(difference).items() if identity not in in_it}
    begun, action = _was_begun(difference.past, step), str(found.get("sync_action", IDLE))
    if not empty and not (begun and action == HELD):
        raise difference.after_sync("rebuilt")
    if action != IDLE and not begun:
        raise difference.after_sync("syncing")
    forgetting = [
        forget_member(step, identity, device, difference.machine)
        for identity, device in empty.items()
        if difference.machine.carried(identity)
    ]
    yield from forgetting
    added = [_added(difference, node, [*empty.values()], forgetting)] if empty else []
    yield from added
    release = SetAttribute(SYNC.format(node), IDLE)
    if action == HELD and all(each.action != release for each in difference.plan.steps):
        yield _released(step, release, added)


def _added(difference: Difference, node: str, devices: list[str], forgetting: list[Step]) -> Step:
    """Adds all members in one command, so that one rebuild covers them."""
    step = difference.step
    # Last, as syncs are: until md has rebuilt the member, GRUB could not be installed from the array.
    names = [step.targets[1 + step.guard.index(device)] for device in devices]
    filled = difference.then(
        FILLED,
        f"add member {listed(names, last=' and ')} to array {step.targets[0]}, which rebuilds it",
        fill(MEMBER_ADDED.commands[0], {"node": node, "new": " ".join(devices)}).split(),
        after=[each.id for each in forgetting],
        targets=names,
        guard=devices,
        destroys=[everything_on(device) for device in devices],
    )
    return replace(filled, phase="sync")


def _released(step: Step, release: SetAttribute, added: list[Step]) -> Step:
    """The step that lets the rebuild begin: mdadm freezes the array while it adds members, and leaves it so if it is killed."""
    return Step(
        id=step.added("release"),
        phase="sync",
        say=f"let the rebuild of {step.targets[0]} begin, which the interrupted step holds",
        action=release,
        because=step.because,
        line=step.line,
        needs=(*step.needs, *(each.id for each in added)),
        targets=(step.targets[0],),
        origin=Origin("change", step.id),
    )


def can_be_filled(difference: Difference) -> bool:
    """Every other slot has the layout's member, the array lost no more than it may, and what comes into the empty slots is new."""
    found, expect = difference.found, _expect(difference)
    now, planned = texts(found.get("members")), texts(expect.get("members"))
    if MISSING not in now or len(now) != len(planned) or texts(found.get("faulty")):
        return False
    pairs = list(zip(now, planned, strict=True))
    empty, spares = _empty(difference), texts(found.get("spares"))
    others_fit = all(one in (MISSING, other) for one, other in pairs)
    return (
        others_fit
        and {*spares} <= {*empty}
        and _survives(expect, [slot for slot, (one, _) in enumerate(pairs) if one == MISSING])
        and all(identity in spares or _is_new(identity, difference) for identity in empty)
        and not [*_elsewhere(difference, ours=[*empty])]
    )


def is_rebuilt(proof: Proof, machine: Machine) -> bool:
    """Whether the array is as planned except for a running rebuild."""
    found = machine.observe(proof.kind, proof.key)
    if proof.kind != "array" or not found or found.get("sync_action") != RECOVERS:
        return False
    if not {*(differing(proof, machine) or ("",))} <= {"degraded", "members", "spares"}:
        return False
    now, planned = texts(found.get("members")), texts(proof.expect.get("members"))
    if texts(found.get("faulty")) or len(now) != len(planned):
        return False
    waiting = {each for one, each in zip(now, planned, strict=True) if one == MISSING}
    in_slots = all(one in (MISSING, each) for one, each in zip(now, planned, strict=True))
    return in_slots and {*texts(found.get("spares"))} == {*texts(proof.expect.get("spares"))} | waiting


def rebuilding(plan: Plan, machine: Machine) -> Iterator[Note]:
    """A note on each array of the plan that is redundant again only once md has rebuilt a member."""
    boots = [step.id for step in read_by_grub(plan)]
    for step in plan.steps:
        if step.creates and step.proof and is_rebuilt(step.proof, machine):
            found = machine.observe("array", step.proof.key) or {}
            boot = step.id in boots
            yield note(
                "rebuilds", place=step.because, line=step.line, node=str(found.get("node")), boots=boot
            )


MIRRORS = frozenset(name for name, level in LEVELS.items() if level.copies is not Copies.ONE)
"""The levels whose new arrays md resyncs, so that a recovery is that of a later member; raid5 begins with one."""


def unreadable_by_grub(plan: Plan, machine: Machine) -> Iterator[tuple[Step, str]]:
    """The steps of mirrors from which GRUB might read a member that md rebuilds, and their nodes."""
    for step in read_by_grub(plan):
        found = (machine.observe("array", step.proof.key) if step.proof else None) or {}
        if found.get("sync_action") == RECOVERS and str(found.get("level")) in MIRRORS:
            yield step, str(found.get("node"))


def _was_begun(past: Past, step: Step) -> bool:
    """Whether the open run started to add members to this array."""
    return step.added(FILLED) in past.begun | past.ended


def _elsewhere(difference: Difference, ours: list[str]) -> Iterator[str]:
    """Devices with a superblock of the array that are not members now, since such a member may be away only for a while.

    Superblocks that this step left on `ours` when it was killed do not count.
    """
    machine, found = difference.machine, difference.found
    uuid = difference.step.proof.key if difference.step.proof else ""
    listed_in = ("members", "spares", "faulty", "journal")
    inside = {each for name in listed_in for each in _listed(found.get(name))} | {
        each for each in ours if _was_ours(each, difference)
    }
    blocks = {block.name: block for block in machine.blocks}
    below = _below([block for block in machine.blocks if block.identity in inside], blocks)
    named = {block.identity: block.name for block in machine.blocks}
    for identity in machine.objects.get("content", {}):
        carried = member_of(uuid) in machine.carried(identity)
        if carried and identity not in inside and named.get(identity, "") not in below:
            yield identity
    for disk in machine.disks:
        traces = [trace for trace in disk.traces if trace.type == MEMBER and trace.uuid == uuid]
        if traces and disk.kernel_name not in below:
            yield disk.node


def _below(found: list[BlockFact], blocks: Mapping[str, BlockFact]) -> set[str]:
    names: set[str] = set()
    while found:
        block = found.pop()
        names.add(block.name)
        found += [blocks[name] for name in block.below if name in blocks and name not in names]
    return names


def _listed(value: Value) -> list[str]:
    """The devices of a property that is one or several."""
    return [value] if isinstance(value, str) else texts(value)


def _expect(difference: Difference) -> Mapping[str, Value]:
    return difference.step.proof.expect if difference.step.proof else {}


def _empty(difference: Difference) -> dict[str, str]:
    """The layout's members for the empty slots, to the devices by their names in steps."""
    made = made_nodes(difference.plan)
    nodes = {identity_of(node, made): node for node in difference.step.guard}
    now, planned = texts(difference.found.get("members")), texts(_expect(difference).get("members"))
    return {
        each: nodes[each] for one, each in zip(now, planned, strict=False) if one == MISSING and each in nodes
    }


def _survives(expect: Mapping[str, Value], lost: list[int]) -> bool:
    layout = expect.get("layout")
    return survives(
        str(expect["level"]), len(texts(expect.get("members"))), str(layout) if layout else None, lost
    )


def _is_new(identity: str, difference: Difference) -> bool:
    """Nothing is on the device, or it is a partition that the plan is about to make; or what is on it is this step's own."""
    if Identity.read(identity).kind not in ("partition", DISK):
        return False
    block = next((block for block in difference.machine.blocks if block.identity == identity), None)
    if difference.machine.carried(identity):
        return _was_ours(identity, difference)
    return block is None or not (block.content or block.uses)


def _was_ours(identity: str, difference: Difference) -> bool:
    """The open run began to add this device, on this very disk, and nothing is on it but the superblock of the array; where md
    had rebuilt it, the members that run have been written since."""
    step, past = difference.step, difference.past
    node = _empty(difference).get(identity, "")
    uuid = step.proof.key if step.proof else ""
    only = {*difference.machine.carried(identity)} <= {member_of(uuid)}
    newer = {each.device for each in newer_outside(uuid, difference.found, difference.machine)}
    return only and node in past.ours.get(step.added(FILLED), ()) and identity not in newer
