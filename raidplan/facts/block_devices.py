"""Every block device of the machine, read: the devices below it, its users and its content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity, lvm_form
from raidplan.base.magic import Content, SignatureAt
from raidplan.facts.arrays import Array
from raidplan.facts.block import Block, Names, text_of
from raidplan.facts.loop_devices import loops_on_devices
from raidplan.facts.machine import BlockFact
from raidplan.facts.readings import Readings
from raidplan.facts.traces import words
from raidplan.facts.unrecognised import read_unrecognised
from raidplan.facts.uses import User

SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""Kernel names of arrays can come from a disk; one that a command may name has nothing special in it."""
LINKS = {
    "array": re.compile(r"/dev/disk/by-id/md-uuid-[0-9a-f]{8}(:[0-9a-f]{8}){3}"),
    "volume": re.compile(r"/dev/disk/by-id/dm-uuid-LVM-\w{64}(-[a-z]+)?", re.ASCII),
}


def read_block_devices(readings: Readings, names: Names, md: Iterable[Array]) -> tuple[BlockFact, ...]:
    """Every block device, by kernel name."""
    links, uses = links_of(readings.root), direct_uses(readings)
    silent = read_unrecognised(readings, names, uses)

    def fact(block: Block) -> BlockFact:
        kind, traces = _kind(block), silent.get(block.name, ())
        group = re.match(r"LVM-(\w{32})", block.dm_uuid, re.ASCII)
        return BlockFact(
            name=block.name,
            identity=names.of(block.name),
            node=_node(block, kind, links.get(block.name, [])),
            kind=kind,
            size=block.size,
            start=block.start,
            below=block.below,
            uses=tuple(uses.get(block.name, ())),
            found=tuple(_signatures_of(readings, block)),
            content=tuple(map(words, traces)) or tuple(_content(readings, block)),
            unknown_from=next(
                (one.offset for one in traces[:1] if one.type == "data" and one.where == "disk"), -1
            ),
            state=text_of(readings.root / "sys/block" / block.name / "md/array_state") if block.is_md else "",
            group=lvm_form(group[1]) if group else "",
        )

    # An array that is assembled and not started has no size yet.
    idle = [_idle(array) for array in md if array.block.name not in readings.blocks]
    return tuple(sorted([*map(fact, readings.blocks.values()), *idle], key=lambda fact: fact.name))


def _idle(array: Array) -> BlockFact:
    return BlockFact(
        name=array.block.name,
        identity=str(Identity("array", array.uuid)),
        node=_node(array.block, "array", ()),
        kind="array",
        size=0,
        below=tuple(member.name for member in array.members),
        state=text_of(array.sys / "md/array_state"),
    )


def _kind(block: Block) -> str:
    if block.partition:
        return "partition"
    if block.is_md:
        return "array"
    if block.dm_uuid.startswith("LVM-"):
        return "volume"
    if block.mapping:
        return "mapping"
    return "disk" if block.whole else block.dm_name or block.name


def _node(block: Block, kind: str, links: Sequence[str]) -> str:
    if kind == "mapping":
        return f"/dev/mapper/{block.dm_name}" if SAFE_NAME.fullmatch(block.dm_name) else ""
    pattern = LINKS.get(kind)
    link = next((link for link in sorted(links) if pattern and pattern.fullmatch(link)), "")
    return link or (block.node if SAFE_NAME.fullmatch(block.name) else "")


def _signatures_of(readings: Readings, block: Block) -> Iterator[SignatureAt]:
    """The device's own signatures, then those of its partitions."""
    parts = [other for other in readings.blocks.values() if other.disk == block.name]
    for one in (block, *sorted(parts, key=lambda part: part.partition)):
        number = 0 if one is block else one.partition
        for signature in readings.signatures.get(one.node, ()):
            yield signature_at(number, signature.offset, signature.type, signature.uuid)


def _content(readings: Readings, block: Block) -> Iterator[str]:
    """The device's own signatures for a person, in the order of `found`."""
    if block.node in readings.unreadable:
        yield f"cannot be read: {readings.unreadable[block.node]}"
    for one in readings.signatures.get(block.node, ()):
        yield escaped(one.type) + (f" '{escaped(one.label)}'" if one.label else "")


def signature_at(partition: int, offset: str, kind: str, uuid: str) -> SignatureAt:
    """A signature as `wipefs --output=OFFSET,TYPE,UUID` says it, of plain characters alone."""
    plain = re.sub(r"[^A-Za-z0-9 :._-]", "", f"{kind} {uuid}").rstrip()
    return SignatureAt(partition, int(offset, 16), Content.read(plain))


def direct_uses(readings: Readings) -> dict[str, list[User]]:
    """Kernel name to the users of a device other than block devices above it: mounts, swap, btrfs, loop devices."""
    found: dict[str, list[User]] = {}
    for mount in readings.mounts:
        found.setdefault(mount.device, []).append(User("mounted", escaped(mount.point)))
    for area in readings.swaps:
        found.setdefault(area.device, []).append(User("swap"))
    # mountinfo names one device of a btrfs only, and a loop device is no holder.
    for entry in (readings.root / "sys/fs/btrfs").glob("*/devices/*"):
        found.setdefault(entry.name, []).append(User("btrfs", entry.parent.parent.name))
    loops = loops_on_devices(readings.root)
    for block in readings.blocks.values() if loops else ():
        for loop in loops.get(block.number, ()):
            found.setdefault(block.name, []).append(User("loop", loop))
    return found


def links_of(root: Path) -> dict[str, list[str]]:
    """Kernel name to the links below /dev/disk."""
    found: dict[str, list[str]] = {}
    for link in sorted((root / "dev/disk").glob("by-*/*")):
        if link.is_symlink():
            found.setdefault(link.readlink().name, []).append(f"/{link.relative_to(root)}")
    return found
