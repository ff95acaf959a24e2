"""Devices that are never taken apart, whatever the layout says: those in use, of unknown formats, or shared with other disks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidplan.apply.configuration.aliases import aliases, of_content
from raidplan.apply.configuration.lines import Key, Line, device, fstab, numbered, rows, unit
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.teardown.cleared import Cleared
from raidplan.apply.teardown.losses import group_called
from raidplan.base.groups import by_key
from raidplan.base.magic import MEMBER, PHYSICAL_VOLUME
from raidplan.facts.contents import SEVERAL_DEVICES
from raidplan.facts.machine import BlockFact, Trace
from raidplan.facts.traces import place_words
from raidplan.plan.places import CRYPTTAB, FSTAB

SHARED = (MEMBER, *SEVERAL_DEVICES)
"""Formats with one UUID for all of their devices."""
ANY_MEMBER = "_raid_member"
"""The end of libblkid's words for members, of md and of firmware alike."""
BCACHE = "bcache"
GROUP = re.compile(r"\w{6}(-\w{4}){5}-\w{6}", re.ASCII)


def reasons_to_keep(cleared: Cleared) -> Iterator[Refusal]:
    """Every reason why the targets must not be cleared, with what and where; nothing if they may."""
    if not cleared.targets:
        return
    stack = cleared.stack
    blocks = [*cleared.above, *(stack.blocks[name] for name in cleared.targets if name in stack.blocks)]
    for block in blocks:
        called = stack.called(block)
        for use in block.uses:
            yield refusal("in-use", place=called, use=str(use))
        yield from _not_understood(cleared, block)
        yield from _hidden_from_lvm(cleared, block)
    yield from _shared_arrays(cleared)
    yield from _shared_groups(cleared)
    yield from _shared_traces(cleared)
    yield from _of_firmware(cleared)
    yield from _unreadable(cleared)
    yield from _named_at_boot(cleared)


def _not_understood(cleared: Cleared, block: BlockFact) -> Iterator[Refusal]:
    called = cleared.stack.called(block)
    if block.kind not in ("disk", "partition", "array", "mapping", "volume"):
        on = tuple(cleared.stack.named(disk) for disk in sorted(cleared.stack.base(block.name)))
        yield refusal("not-understood", "layer", place=called, disks=on)
    elif not block.node:
        yield refusal("not-understood", "name", place=called)
    elif block.kind == "array":
        array = cleared.stack.machine.observe("array", block.key) or {}
        if str(array.get("metadata", "")).startswith("external"):
            yield refusal("not-understood", "external", place=called, metadata=str(array["metadata"]))


def _hidden_from_lvm(cleared: Cleared, block: BlockFact) -> Iterator[Refusal]:
    """A physical volume that a filter or the devices file of LVM leaves out: its group may stand on others as well."""
    own = [one.content for one in block.found if not one.partition]
    if any(each.type.endswith(ANY_MEMBER) for each in own):
        return  # of an array that does not run: LVM looks at arrays, and not at their members
    shown = cleared.stack.machine.objects.get("physical_volume", {})
    for kind, uuid in own:
        if kind == PHYSICAL_VOLUME and uuid and uuid not in shown:
            yield refusal("hidden-from-lvm", place=cleared.stack.called(block), uuid=uuid)


def _shared_arrays(cleared: Cleared) -> Iterator[Refusal]:
    """Running arrays that stand on other devices too."""
    for block in cleared.above:
        outside = [name for name in block.below if not _inside(cleared, name)]
        if outside:
            others = tuple(_where(cleared, name) for name in sorted(outside))
            yield refusal("shared", place=cleared.stack.called(block), others=others)


def _shared_groups(cleared: Cleared) -> Iterator[Refusal]:
    """A volume group with physical volumes elsewhere."""
    by_identity = {block.identity: block.name for block in cleared.stack.machine.blocks}
    physical = cleared.stack.machine.objects.get("physical_volume", {}).values()
    devices = by_key((str(each["group"]), str(each.get("device"))) for each in physical if each.get("group"))
    for group, places in devices.items():
        inside = [place for place in places if _inside(cleared, by_identity.get(place, ""))]
        outside = [by_identity.get(place, "") for place in places if place not in inside]
        if inside and outside:
            others = tuple(_where(cleared, name) for name in outside)
            yield refusal("shared", place=group_called(group, ""), others=others)


def _shared_traces(cleared: Cleared) -> Iterator[Refusal]:
    """Members of one array or file system on what is given up and elsewhere, whether it runs or not."""
    within = {
        (trace.type, trace.uuid): trace
        for name in cleared.targets
        for trace in cleared.stack.traces(name)
        if trace.type in SHARED and trace.uuid
    }
    for disk in cleared.stack.machine.disks:
        for trace in disk.traces:
            ours = within.get((trace.type, trace.uuid))
            if ours and not _covers(cleared, disk.kernel_name, trace):
                yield refusal(
                    "shared",
                    "member",
                    place=cleared.stack.named(disk.kernel_name),
                    part=place_words(trace),
                    kind="array" if trace.type == SHARED[0] else trace.type,
                    name=ours.label,
                    uuid=trace.uuid,
                )


def _of_firmware(cleared: Cleared) -> Iterator[Refusal]:
    """Members of arrays of firmware, and of bcache: neither says which others belong to it, whether it runs or not."""
    stack, said = cleared.stack, set[tuple[str, str]]()
    for name in cleared.targets:
        for kind in (trace.type for trace in stack.traces(name)):
            others = tuple(
                stack.named(disk.kernel_name)
                for disk in stack.machine.disks
                for trace in disk.traces
                if trace.type == kind and not _covers(cleared, disk.kernel_name, trace)
            )
            of_firmware = kind.endswith(ANY_MEMBER) and kind != MEMBER
            if (name, kind) in said or not (of_firmware or (kind == BCACHE and others)):
                continue
            said.add((name, kind))
            block = stack.blocks.get(name)
            called = stack.called(block) if block else stack.named(name)
            case = "raid" if of_firmware else "cache"
            yield refusal("firmware", case, place=called, format=kind, others=others)


def _covers(cleared: Cleared, disk: str, trace: Trace) -> bool:
    """The trace lies on a target."""
    if disk in cleared.targets:
        return True
    parts = (cleared.stack.blocks[name] for name in cleared.targets if name in cleared.stack.blocks)
    return any(
        disk in part.below and part.start <= trace.offset < part.start + part.size
        for part in parts
        if part.kind == "partition"
    )


def _unreadable(cleared: Cleared) -> Iterator[Refusal]:
    """Disks that fail already, or take no writes."""
    machine = cleared.stack.machine
    below = {disk for name in cleared.targets for disk in cleared.stack.base(name)}
    for disk in (disk for disk in machine.disks if disk.kernel_name in below):
        name, node = cleared.stack.named(disk.kernel_name), disk.node
        if disk.read_only:
            yield refusal("disk-unreadable", "read-only", place=name, node=node)
        for trace in disk.traces:
            if trace.type == "unreadable":
                yield refusal(
                    "disk-unreadable",
                    place=name,
                    node=node,
                    part=place_words(trace),
                    byte=trace.start,
                    error=trace.detail,
                )


def _named_at_boot(cleared: Cleared) -> Iterator[Refusal]:
    """A line for what will be removed would stop the next boot, or let it wait: of fstab or crypttab, or a unit."""
    removed = _names_removed(cleared)
    for number, keys in fstab(_lines(cleared, FSTAB)):
        source, word = next(iter(keys.items()))
        if source in removed:
            yield refusal("needed-at-boot", "mount", place=FSTAB, number=number, word=word)
    for file, found in cleared.stack.machine.objects.get("unit_file", {}).items():
        if lost := [word for key, word in unit(file, str(found.get("what", ""))).items() if key in removed]:
            yield refusal("needed-at-boot", "unit", place=file, word=lost[0])
    for number, row in rows(_lines(cleared, CRYPTTAB)):
        if len(row) > 1 and device(row[1]) in removed:
            yield refusal("needed-at-boot", "crypttab", place=CRYPTTAB, number=number, word=row[1])


def _lines(cleared: Cleared, file: str) -> Iterator[Line]:
    return numbered(str((cleared.stack.machine.observe("file", file) or {}).get("content", "")))


def _names_removed(cleared: Cleared) -> set[Key]:
    """Every name of what will be removed, and not be made again under it."""
    stack, made = (
        cleared.stack,
        {device(f"UUID={step.proof.key}") for step in cleared.left.steps if step.proof},
    )
    names = {
        key
        for name in (*cleared.targets, *(block.name for block in cleared.above))
        for key in aliases(stack, name)
    }
    for kind in ("filesystem", "swap"):
        after = cleared.after.machine.objects.get(kind, {})
        for uuid, found in stack.machine.objects.get(kind, {}).items():
            names |= set(of_content(uuid, str(found.get("label") or ""))) if uuid not in after else set()
    return names - made


def _inside(cleared: Cleared, name: str) -> bool:
    return name in cleared.targets or any(name == block.name for block in cleared.above)


def _where(cleared: Cleared, name: str) -> str:
    block = cleared.stack.blocks.get(name)
    return cleared.stack.called(block) if block else f"/dev/{name}" if name else "a device that is not here"
