"""Devices that are never taken apart, whatever the layout says: those in use, of unknown formats, or shared with other disks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidplan.apply.configuration.aliases import aliases, of_content
from raidplan.apply.configuration.lines import Key, Line, device, fstab, numbered, rows, unit
from raidplan.apply.refusal import Refusal, refused
from raidplan.apply.teardown.cleared import Cleared
from raidplan.facts.contents import SEVERAL_DEVICES
from raidplan.facts.device_stack import listed
from raidplan.facts.machine import BlockFact, Trace
from raidplan.facts.signatures import plain
from raidplan.plan.places import CRYPTTAB, FSTAB

SHARED = ("linux_raid_member", *SEVERAL_DEVICES)
"""Formats with one UUID for all of their devices."""
MEMBER = "_raid_member"
"""The end of libblkid's words for members, of md and of firmware alike."""
BCACHE = "bcache"
GROUP = re.compile(r"\w{6}(-\w{4}){5}-\w{6}", re.ASCII)


def kept(given: Cleared) -> Iterator[Refusal]:
    """Every reason why the targets must not be cleared, with what and where; nothing if they may."""
    if not given.targets:
        return
    stack = given.stack
    blocks = [*given.above, *(stack.blocks[name] for name in given.targets if name in stack.blocks)]
    for block in blocks:
        called = stack.called(block)
        for use in block.uses:
            yield Refusal("in-use", f"{called} is in use, {use}: what is in use is never cleared", called)
        yield from refused("not-understood", _not_understood(given, block), called)
        yield from refused("hidden-from-lvm", _hidden_from_lvm(given, block), called)
    yield from refused("shared", _shared_arrays(given))
    yield from refused("shared", _shared_groups(given))
    yield from refused("shared", _shared_traces(given))
    yield from refused("firmware", _of_firmware(given))
    yield from refused("disk-unreadable", _unreadable(given))
    yield from refused("needed-at-boot", _named_at_boot(given))


def _not_understood(given: Cleared, block: BlockFact) -> Iterator[str]:
    called = given.stack.called(block)
    if block.kind not in ("disk", "partition", "array", "volume"):
        on = listed(given.stack.named(disk) for disk in sorted(given.stack.base(block.name)))
        yield f"{called} on {on} is no array and no LVM volume: close it before"
    elif not block.node:
        yield f"{called} has a name that no command may hold: stop it before"
    elif block.kind == "array":
        array = given.stack.machine.observe("array", block.identity.partition(":")[2]) or {}
        if str(array.get("metadata", "")).startswith("external"):
            yield f"{called} has the metadata of firmware ({array.get('metadata')}): delete it there"


def _hidden_from_lvm(given: Cleared, block: BlockFact) -> Iterator[str]:
    """A physical volume that a filter or the devices file of LVM leaves out: its group may stand on others as well."""
    own = [line.split(" ") for line in block.found if line.startswith("0 ")]
    if any(words[2].endswith(MEMBER) for words in own):
        return  # of an array that does not run: LVM looks at arrays, and not at their members
    shown = given.stack.machine.objects.get("physical_volume", {})
    for kind, uuid in (words[2:4] for words in own if len(words) == 4):
        if kind == "LVM2_member" and uuid not in shown:
            yield (
                f"{given.stack.called(block)} carries the physical volume {uuid}, which LVM does not show (a filter, or its devices "
                "file), so nobody knows what else its group stands on: let `pvs` see it, or remove it with its own tools"
            )


def _shared_arrays(given: Cleared) -> Iterator[str]:
    """Running arrays that stand on other devices too."""
    for block in given.above:
        outside = [name for name in block.below if not _inside(given, name)]
        if outside:
            others = listed(_where(given, name) for name in sorted(outside))
            yield f"{given.stack.called(block)} stands on {others} as well, which this plan does not write over"


def _shared_groups(given: Cleared) -> Iterator[str]:
    """A volume group with physical volumes elsewhere."""
    by_identity = {block.identity: block.name for block in given.stack.machine.blocks}
    physical = given.stack.machine.objects.get("physical_volume", {}).values()
    devices: dict[str, list[str]] = {}
    for found in physical:
        if found.get("group"):
            devices.setdefault(str(found["group"]), []).append(str(found.get("device")))
    for group, places in devices.items():
        inside = [place for place in places if _inside(given, by_identity.get(place, ""))]
        outside = [by_identity.get(place, "") for place in places if place not in inside]
        if inside and outside:
            others = listed(_where(given, name) for name in outside)
            yield f"the volume group '{plain(group)}' stands on {others} as well, which this plan does not write over"


def _shared_traces(given: Cleared) -> Iterator[str]:
    """Members of one array or file system on what is given up and elsewhere, whether it runs or not."""
    within = {
        (trace.type, trace.uuid): trace
        for name in given.targets
        for trace in given.stack.traces(name)
        if trace.type in SHARED and trace.uuid
    }
    for disk in given.stack.machine.disks:
        for trace in disk.traces:
            ours = within.get((trace.type, trace.uuid))
            if ours and not _covers(given, disk.kernel_name, trace):
                name = f" '{plain(ours.label)}'" if ours.label else ""
                place = f"{trace.place} of " if trace.place else ""
                yield (
                    f"the {'array' if trace.type == SHARED[0] else trace.type}{name} ({trace.uuid}) has a member on "
                    f"{place}{given.stack.named(disk.kernel_name)} as well, which this plan does not write over"
                )


def _of_firmware(given: Cleared) -> Iterator[str]:
    """Members of arrays of firmware, and of bcache: neither says which others belong to it, whether it runs or not."""
    stack, said = given.stack, set[tuple[str, str]]()
    for name in given.targets:
        for kind in (trace.type for trace in stack.traces(name)):
            others = [
                stack.named(disk.kernel_name)
                for disk in stack.machine.disks
                for trace in disk.traces
                if trace.type == kind and not _covers(given, disk.kernel_name, trace)
            ]
            of_firmware = kind.endswith(MEMBER) and kind != SHARED[0]
            if (name, kind) in said or not (of_firmware or (kind == BCACHE and others)):
                continue
            said.add((name, kind))
            block = stack.blocks.get(name)
            also = f", as {listed(others)} does, which this plan does not write over" if others else ""
            what = (
                "an array of firmware: delete it there"
                if of_firmware
                else "a cache has its other half elsewhere: detach it before"
            )
            yield f"{stack.called(block) if block else stack.named(name)} carries {plain(kind)}{also}; {what}"


def _covers(given: Cleared, disk: str, trace: Trace) -> bool:
    """The trace lies on a target."""
    if disk in given.targets:
        return True
    parts = (given.stack.blocks[name] for name in given.targets if name in given.stack.blocks)
    return any(
        disk in part.below and part.start <= trace.offset < part.start + part.size
        for part in parts
        if part.kind == "partition"
    )


def _unreadable(given: Cleared) -> Iterator[str]:
    """Disks that fail already, or take no writes."""
    machine = given.stack.machine
    below = {disk for name in given.targets for disk in given.stack.base(name)}
    for disk in (disk for disk in machine.disks if disk.kernel_name in below):
        called = f"{given.stack.named(disk.kernel_name)} ({disk.node})"
        if disk.read_only:
            yield f"{called} is read-only"
        for trace in disk.traces:
            if trace.type == "unreadable":
                place = trace.place or "the disk"
                yield f"{called}: {place} cannot be read at byte {trace.start} ({trace.detail}): replace the disk"


def _named_at_boot(given: Cleared) -> Iterator[str]:
    """A line for what will be gone would stop the next boot, or let it wait: of fstab or crypttab, or a unit."""
    gone = _names_gone(given)
    for number, keys in fstab(_lines(given, FSTAB)):
        source, word = next(iter(keys.items()))
        if source in gone:
            yield f"{FSTAB} line {number} mounts {plain(word)}, which this plan would destroy: remove the line before"
    for file, found in given.stack.machine.objects.get("unit_file", {}).items():
        if lost := [word for key, word in unit(file, str(found.get("what", ""))).items() if key in gone]:
            yield f"{plain(file)} mounts {plain(lost[0])}, which this plan would destroy: remove that unit before"
    for number, row in rows(_lines(given, CRYPTTAB)):
        if len(row) > 1 and device(row[1]) in gone:
            yield f"{CRYPTTAB} line {number} opens {plain(row[1])}, which this plan would destroy: remove the line before"


def _lines(given: Cleared, file: str) -> Iterator[Line]:
    return numbered(str((given.stack.machine.observe("file", file) or {}).get("content", "")))


def _names_gone(given: Cleared) -> set[Key]:
    """Every name of what will be gone, and not be made again under it."""
    stack, made = given.stack, {device(f"UUID={step.proof.key}") for step in given.left.steps if step.proof}
    gone = {
        key
        for name in (*given.targets, *(block.name for block in given.above))
        for key in aliases(stack, name)
    }
    for kind in ("filesystem", "swap"):
        after = given.after.machine.objects.get(kind, {})
        for uuid, found in stack.machine.objects.get(kind, {}).items():
            gone |= set(of_content(uuid, str(found.get("label") or ""))) if uuid not in after else set()
    return gone - made


def _inside(given: Cleared, name: str) -> bool:
    return name in given.targets or any(name == block.name for block in given.above)


def _where(given: Cleared, name: str) -> str:
    block = given.stack.blocks.get(name)
    return given.stack.called(block) if block else f"/dev/{name}" if name else "a device that is not here"
