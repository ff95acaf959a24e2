"""The devices of interrupted steps, read before it is decided to do these again, and compared right before that.

Nothing is written over that came since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial

from raidplan.apply.decide.found_before import AsFound, DeviceAsFound, FileAsFound
from raidplan.apply.decide.half_made_arrays import ours_on, without_ours
from raidplan.apply.decide.stale_signatures import with_old_bytes
from raidplan.apply.devices.guard import state_of_file, written_on
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.sectors import packed, unpacked
from raidplan.base.identity import Identity
from raidplan.base.reader import Reader, all_are, without
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact
from raidplan.facts.ranges import BACK, FRONT, joined
from raidplan.facts.traces import edges_of, places_read
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Proof, Step

Range = tuple[int, int]
"""Start and size in bytes."""


def as_found(plan: Plan, machine: Machine, disks: Mapping[str, DiskFact], past: Past) -> dict[str, AsFound]:
    """The devices of interrupted steps that are there, as steps name them, and the swap files."""
    steps, made = {step.id: step for step in plan.steps}, made_nodes(plan)
    # Of two with one identity the first, as in the closer look.
    blocks, stack = {block.identity: block for block in reversed(machine.blocks)}, Stack(machine, disks)
    old = with_old_bytes(plan, stack, past)
    found: dict[str, AsFound] = dict(_files(plan, past))
    for begun in sorted(past.begun):
        step = steps.get(past.planned_for(begun))
        for target in past.ours.get(begun, ()):
            block = blocks.get(identity_of(target, made))
            if step and step.proof and block and block.size:
                ends_only = block.name in old and _moves(step, block)
                found[target] = _read(
                    step, block, disks.get(Identity.read(block.identity).disk), ends_only=ends_only
                )
    return found


def _files(plan: Plan, past: Past) -> Iterator[tuple[str, FileAsFound]]:
    """The swap files of interrupted steps that are there; one that cannot be looked at is none of ours for the decision."""
    for step in plan.steps:
        if step.proof and step.proof.file in past.ours.get(step.id, ()):
            with suppress(OSError):
                if state := state_of_file(step.proof.file):
                    yield step.proof.file, FileAsFound(state)


def place_of_change(found: DeviceAsFound, read: Reader, size: int) -> int | None:
    """The place of the first sector that is neither blank nor as it was; None if there is none. Raises OSError.

    Blank ones are as good: the step that clears the device comes before the one that writes over it. Of what could not be
    read, nobody knows whether it changed.
    """
    if found.sectors is None:
        return 0
    rest = unpacked(found.sectors).rest(_of_others(read, size, found.array, found.journal))
    return rest.foreign if rest else None


def _moves(step: Step, block: BlockFact) -> bool:
    """Whether old bytes between the ends may change by themselves: md syncs the members of an array, and reads its mirrors in turn."""
    return bool(step.proof and step.proof.kind == "array") or block.kind not in ("disk", "partition")


def _read(step: Step, block: BlockFact, disk: DiskFact | None, *, ends_only: bool) -> DeviceAsFound:
    proof = step.proof
    array = proof if proof and proof.kind == "array" else None
    journal = bool(array and block.identity == array.expect.get("journal"))
    with suppress(OSError):
        read, size = written_on(f"/dev/{block.name}")
        ends = [(0, min(FRONT, size)), (max(0, size - BACK), min(BACK, size))]
        ranges = ends if ends_only else [*places_read(size), *_inside(step, read, size, disk)]
        return DeviceAsFound(packed(_of_others(read, size, array, journal), joined(ranges)), array, journal)
    return DeviceAsFound()


def _inside(step: Step, read: Reader, size: int, disk: DiskFact | None) -> Iterator[Range]:
    """Both ends of all that the device holds or is to hold: partitions, the data of an array, of an encryption. Raises OSError."""
    assert step.proof is not None
    inside = [*step.new_partitions, *((part.start, part.size) for part in (disk.partitions if disk else ()))]
    if step.proof.kind == "array":
        inside += [(one.data_offset, one.data_size or size) for one in ours_on(read, size, step.proof)]
    if start := int(str(step.proof.expect.get("data_offset", 0))):
        inside.append((start, size - start))
    for start, room in inside:
        if start < size:
            yield from edges_of(start, min(room, size - start))


def _of_others(read: Reader, size: int, array: Proof | None, journal: bool) -> Reader:
    """The content without what md writes, and without erased sectors, which a mirror may show as zeroes or as ones. Raises OSError."""
    others = without_ours(read, size, array, journal=journal) if array else read
    return partial(without, lambda offset, sector: all_are(0xFF, sector), others)
