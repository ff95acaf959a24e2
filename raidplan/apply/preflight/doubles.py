"""UUIDs and names of the plan that stand on a disk outside it already, or twice.

They follow from the layout, so a disk that had the same place in it before, or a copy of one, brings them along.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from raidplan.apply.decide.member_names import identified
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.filesystems import uuid_modes
from raidplan.base.identity import Identity, disk_word
from raidplan.base.magic import MEMBER
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import texts
from raidplan.plan.disk_identity import STRONG
from raidplan.plan.step import Plan, Proof, Step, Value


def doubles(
    steps: Iterable[Step], due: Container[str], machine: Machine, own: Iterable[DiskFact]
) -> Iterator[Refusal]:
    """Members of an array of the steps, and partitions of a table of theirs, on disks other than our `own`. `due`: the steps
    that will run.

    mdadm believes the superblock with more events, which can be that of the other disk. A copy of a whole disk is no matter
    here: `copied` says that.
    """
    tables = [found for found in machine.objects.get("table", {}).values() if found.get("also")]
    known = {disk.node for disk in own}.union(
        *({str(found["disk"]), *texts(found["also"])} for found in tables)
    )
    others = [disk for disk in machine.disks if disk.node not in known]
    made = {step.id: step.proof for step in steps if step.creates and step.proof}
    arrays = {id: proof for id, proof in made.items() if proof.kind == "array"}
    told = {*_exchanged((proof for id, proof in arrays.items() if id not in due), machine)}
    uuids = {proof.key for proof in arrays.values()}
    partitions = {row.uuid for proof in made.values() for row in proof.partitions}
    for disk in others:
        mark = identified(disk, STRONG)
        for trace in disk.traces:
            if trace.type == MEMBER and trace.uuid in uuids and (trace.uuid, disk.kernel_name) not in told:
                place = disk.node
                yield refusal(
                    "uuid-taken", "member", place=place, part=trace.place, uuid=trace.uuid, mark=mark
                )
        for part in disk.partitions:
            if part.uuid in partitions:
                yield refusal("uuid-taken", "partition", place=part.node, uuid=part.uuid, mark=mark)


def _exchanged(arrays: Iterable[Proof], machine: Machine) -> Iterator[tuple[str, str]]:
    """Arrays, and the disks of devices that they have in place of planned ones: how the array differs says what becomes of
    those, and nobody is to unplug one before."""
    stack = Stack(machine, {})
    for proof in arrays:
        found = machine.observe("array", proof.key) or {}
        others = _working(found) - _working(proof.expect)
        if texts(found.get("members")) != texts(proof.expect.get("members")):
            others |= {*texts(found.get("faulty"))}  # never mended in place
        for array in machine.blocks:
            if array.kind == "array" and array.key == proof.key:
                inside = (stack.blocks[name] for name in array.below if name in stack.blocks)
                below = (stack.base(block.name) for block in inside if block.identity in others)
                yield from ((proof.key, disk) for disks in below for disk in disks)


def _working(array: Mapping[str, Value]) -> set[str]:
    """The devices in the slots of an array, its spares, and its journal; not those that failed."""
    return {*texts(array.get("members")), *texts(array.get("spares")), str(array.get("journal", ""))}


LUKS_UUID = "cryptsetup luksUUID --uuid"
WHERE = {
    "table": ("disk", "disk GUID", "sfdisk --disk-id"),
    "filesystem": ("device", "file system UUID", ", ".join(uuid_modes())),
    "encryption": ("device", "LUKS UUID", LUKS_UUID),
    "mapping": ("node", "LUKS UUID", LUKS_UUID),
}
"""By kind: the property with its place, the name of its UUID, and the program that gives it another one."""


def copied(plan: Plan, machine: Machine) -> Iterator[Refusal]:
    """Objects of the plan, or disks of it, that exist twice, so that nobody can tell the copy. A snapshot of something else does not matter."""
    ours = {(step.proof.kind, step.proof.key) for step in plan.steps if step.proof}
    disks = {disk_word(disk.name) for disk in plan.disks}
    for kind, (where, called, tool) in WHERE.items():
        for uuid, found in machine.objects.get(kind, {}).items():
            devices = _apart([str(found.get(where)), *texts(found.get("also"))], machine)
            if len(devices) > 1 and ((kind, uuid) in ours or not disks.isdisjoint(devices)):
                names = tuple(Identity.read(device).disk or device for device in devices)
                # Of disks, the layout has the serial number of the one that is meant.
                others = {*devices} - disks if kind == "table" and not disks.isdisjoint(devices) else ()
                disks_of = {disk.node: identified(disk, STRONG) for disk in machine.disks}
                copies = tuple(
                    f"{each} ({disks_of.get(each) or 'without a serial'})" for each in sorted(others)
                )
                yield refusal(
                    "uuid-taken", "copy", devices=names, name=called, uuid=uuid, command=tool, copies=copies
                )


def _apart(devices: list[str], machine: Machine) -> list[str]:
    """The devices but those that stand on another one of them and show what is on that, as a layer of device-mapper does.

    A snapshot, which also stands on the device with what was written since, is a copy.
    """
    names = {each: [b.name for b in machine.blocks if each in (b.identity, b.node)] for each in devices}
    above = Stack(machine, {}).above([name for of in names.values() for name in of])
    higher = {block.name for block in above if len(block.below) == 1}
    return [each for each in devices if not names[each] or not higher.issuperset(names[each])]


def names_of_arrays(machine: Machine, own: Iterable[DiskFact]) -> dict[str, tuple[str, set[str]]]:
    """The place of each array, and its names: those of its links and of the kernel too if it runs.

    To one that does not run and has no member on our `own` disks, a boot gives a name without a host only if our host made it.
    """
    ours = {disk.node for disk in own}
    found = {
        trace.uuid: (disk.node, {trace.label if ":" in trace.label else f"{trace.label}_0"})
        for disk in machine.disks
        for trace in disk.traces
        if disk.node not in ours and trace.type == MEMBER
    }
    for uuid, array in machine.objects.get("array", {}).items():
        names = {str(array.get("name", "")).rpartition(":")[2], *texts(array.get("links"))}
        number = re.fullmatch(r"md\d+", str(array.get("device", "")))
        found[uuid] = str(array.get("node", "inactive")), names | ({number[0]} if number else set())
    return found
