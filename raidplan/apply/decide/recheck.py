"""A second look at the devices of interrupted steps, before they are cleared: data that has no signature, hidden users.

Data that a person put there without a file system is found by this alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from raidplan.apply.decide.cut_clearing import without_own_rest
from raidplan.apply.decide.half_made_arrays import others_on
from raidplan.apply.decide.maker import BegunDevice, first_written, foreign, pristine
from raidplan.apply.decide.own_sectors import of_table
from raidplan.apply.decide.stale_signatures import with_old_bytes
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.sectors import front_of, sectors_before
from raidplan.base.identity import Identity
from raidplan.base.reader import Reader, unerased, without
from raidplan.facts import DiskFact, Machine
from raidplan.facts.block import read_at, read_blocks
from raidplan.facts.device_stack import Stack
from raidplan.facts.in_use import used_by_others
from raidplan.facts.machine import BlockFact, Properties, Trace
from raidplan.facts.ranges import BACK, FRONT
from raidplan.facts.swap_area import is_swap
from raidplan.facts.traces import Place, read_all, read_small, read_traces, words
from raidplan.facts.uses import as_text
from raidplan.facts.written import reader_of
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Run, Step, Value

Found = dict[tuple[str, str], Properties]
"""Properties to add to an object, by its kind and key."""


def look_closer(plan: Plan, machine: Machine, disks: Mapping[str, DiskFact], past: Past) -> Machine:
    """The machine with further properties in the `content` of each such device (`stain`, `used`, `filled`), and of each such file."""
    found: Found = {}
    made, old = made_nodes(plan), with_old_bytes(plan, Stack(machine, disks), past)
    for step in plan.steps:
        ours = [node for node in step.guard if node in past.ours.get(step.id, ())]
        if step.proof and step.proof.file and ours:
            found |= _file(step.proof.file, machine)
        elif step.proof and step.id in past.begun:
            identities = {identity_of(node, made): node for node in ours}
            if step.proof.kind == "array" and ours:
                identities[str(step.proof.identity)] = ""
            for one, node in identities.items():
                found |= _device(step, one, node, machine, disks, past, old)
    return machine.with_more({**found, **_users(found, machine)})


def _users(found: Found, machine: Machine) -> Found:
    """The content of those devices that somebody uses. Every process is read once for all, and only where there are users once for each."""
    # Of two with one identity, as of a copied partition, the first is the one that was read.
    nodes = {("content", block.identity): f"/dev/{block.name}" for block in reversed(machine.blocks)}
    looked_at = [key for key in nodes if key in found]
    if not [*used_by_others(*(nodes[key] for key in looked_at))]:
        return {}
    return {key: {**found[key], "used": [*map(as_text, used_by_others(nodes[key]))]} for key in looked_at}


def _device(
    step: Step,
    identity: str,
    target: str,
    machine: Machine,
    disks: Mapping[str, DiskFact],
    past: Past,
    old: frozenset[str],
) -> Found:
    """The further properties of one device; `target` is its name in the step, empty for the array that the step makes; `old` are
    the devices on which bytes may be old, by kernel name.
    """
    block = next((block for block in machine.blocks if block.identity == identity), None)
    if block is None or not block.size:
        return {}
    looked, more = machine, Found()
    try:
        device = _begun(step, block, target, machine, past, block.name in old)
        more = _as_made(step, device, machine)
        looked = machine.with_more(more)
        amiss: dict[str, Value] = {
            "stain": next(_stains(step, device, looked, disks.get(Identity.read(identity).disk)), "")
        }
        if device.front_known and first_written(partial(unerased, device.read), front_of(step)) is not None:
            amiss["filled"] = True
    except OSError as error:
        amiss, more = {"stain": f"what cannot be read ({error.strerror})"}, {}
    return more | {
        ("content", identity): {"carries": [], **(looked.observe("content", identity) or {}), **amiss}
    }


def _begun(step: Step, block: BlockFact, target: str, machine: Machine, past: Past, old: bool) -> BegunDevice:
    read: Reader = partial(read_at, f"/dev/{block.name}")
    if _on_encryption(block, machine):
        read = reader_of(Path("/"), block.name, read_blocks(Path("/")))
    # Of members not all that is read has a fingerprint, for they may hold tables.
    known = past.sectors.get(step.id) and step.proof and step.proof.kind not in ("array", "encryption")
    return BegunDevice(
        identity=block.identity,
        size=block.size,
        read=read,
        since=without_own_rest(read, past, step, target),
        clock=past.clocks.get(step.id, 0),
        old=old,
        known=bool(known),
        erased=step.id in past.erased or _is_joined(block),
        front_known=_is_front_known(step, past, old),
    )


def _on_encryption(block: BlockFact, machine: Machine) -> bool:
    """Whether the device lies on an encryption, where unwritten sectors do not read as zeroes."""
    blocks = {each.name: each for each in machine.blocks}
    waiting, seen = [block.name], set[str]()
    while waiting:
        each = blocks.get(waiting.pop())
        if each and each.kind == "mapping":
            return True
        if each and each.name not in seen:
            seen.add(each.name)
            waiting += each.below
    return False


def _is_joined(block: BlockFact) -> bool:
    """Whether the kernel builds the device from others, of which each is blank in its own way (`facts/unrecognised.py`)."""
    return bool(block.below) and block.kind != "partition"


def _is_front_known(step: Step, past: Past, old: bool) -> bool:
    """Whether the journal has all that was in front of the data of an encryption right before; nothing, but on a disk with old bytes."""
    before, front = sectors_before(past, step.id), front_of(step)
    return bool(front and before and (before.was_read_before(front) if old else before.blank_before(front)))


def _as_made(step: Step, device: BegunDevice, machine: Machine) -> Found:
    """Marks a file system of ours as pristine where its superblock alone does not show it. Raises OSError."""
    assert step.proof is not None
    found = machine.observe(step.proof.kind, step.proof.key) or {}
    if step.proof.kind != "filesystem" or found.get("device") != device.identity or found.get("untouched"):
        return {}
    if not pristine(step, device):
        return {}
    return {(step.proof.kind, step.proof.key): {**found, "untouched": True}}


def _stains(step: Step, device: BegunDevice, machine: Machine, disk: DiskFact | None) -> Iterator[str]:
    """The stains, in words."""
    assert step.proof is not None
    old = device.old and not device.known
    if step.proof.kind == "table" and disk:
        traces = _beside_table(step, device, disk)
        kept = not old
    elif step.proof.kind == "array" and device.identity != str(step.proof.identity):
        journal = device.identity == step.proof.expect.get("journal")
        traces = others_on(device.read, device.size, step.proof, journal=journal, since=device.since)
        kept = not old
    else:
        carried = bool(machine.carried(device.identity))
        if carried and not _fresh(step, device.identity, machine):
            return  # a loss already
        traces = foreign(step, device, carried=carried)
        kept = not (old and carried)
    # Of a disk that was wiped, both ends were cleared, and not what lies between.
    between = range(FRONT, device.size - BACK)
    counted = (
        trace
        for trace in traces
        if kept or (trace.type, trace.where) != ("data", "disk") or trace.offset not in between
    )
    yield from map(words, counted)


def _beside_table(step: Step, device: BegunDevice, disk: DiskFact) -> Iterator[Trace]:
    """Content of a disk beside the table that the step makes, also in the partitions, which it has just made."""
    assert step.proof is not None and isinstance(step.action, Run)
    own = of_table(step.proof, step.action.stdin, device.size, disk.logical_block, erased=device.erased)
    beside = partial(without, own, device.unerased(device.since))
    ranges = {*step.new_partitions, *((part.start, part.size) for part in disk.partitions)}
    places = [
        Place(*place, f"the range from byte {place[0]} on", where="partition") for place in sorted(ranges)
    ]
    yield from read_traces(beside, disk.logical_block, Place(0, device.size), places)
    yield from read_small(beside, device.size)


def _fresh(step: Step, identity: str, machine: Machine) -> bool:
    """The device carries what the step makes there, which nobody has used."""
    assert step.proof is not None
    found = machine.observe(step.proof.kind, step.proof.key) or {}
    return found.get("device") == identity and (
        step.proof.kind != "filesystem" or bool(found.get("untouched"))
    )


def _bytes(read: Reader, size: int) -> Iterator[str]:
    return map(words, read_all(read, size))


def _file(file: str, machine: Machine) -> Found:
    """The stain of a swap file: swap itself is worth nothing to anybody, other content may be."""
    found = machine.observe("file", file)
    if found is None or not found.get("size"):
        return {}
    read = partial(read_at, file)
    try:
        stain = "" if is_swap(read) else next(_bytes(read, int(str(found["size"]))), "")
    except OSError as error:
        stain = f"what cannot be read ({error.strerror})"
    return {("file", file): {**found, "stain": stain}}
