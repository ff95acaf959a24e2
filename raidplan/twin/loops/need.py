"""The bytes of the sparse files that setting a layout up fills: a rough estimate, on the safe side."""

from __future__ import annotations

from fractions import Fraction

from raidplan.base.size import MIB
from raidplan.layout.kinds.device import Device
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.topology import Topology
from raidplan.twin.loops.record import record_of

PER_DISK = 3 * MIB
"""Partition tables, a superblock and a bitmap, LVM's metadata."""
LITTLE = 4 * MIB
"""Superblocks, group descriptors, a folder or two."""


def bytes_needed(topology: Topology) -> int:
    """Bytes that end up in the files: metadata of disks and file systems, swap files; without any data.

    The initial sync is not in it. It writes nothing where parity agrees, as on new files it does; on RAID1
    and RAID10 it copies, and fills the files of all mirrors but the first.
    """
    sizes = [file.size for file in record_of(topology).files]
    inside = sum(_metadata(item.name, item.kind, topology) for item in topology.items)
    swap = sum(entry.size or 0 for entry in topology.layout.swap.values() if entry.file)
    return min(sum(sizes), len(sizes) * PER_DISK + inside) + swap


def _metadata(name: str, kind: object, topology: Topology) -> int:
    """Journals and logs, and inode tables, which the kernel zeroes after the mount; as they lie on the disks."""
    if not isinstance(kind, Filesystem):
        return 0
    device = topology.taken(next(iter(kind.uses(name, ("filesystems", name)))))
    inside = kind.format.metadata(kind, device)
    return int((inside + LITTLE) * _spread(device, topology))


def _spread(device: Device, topology: Topology) -> Fraction:
    """Bytes on disks for each byte of a device: 2 on a mirror of two, 8/6 on a RAID6 of eight."""
    parts = [topology.devices[name] for name in device.on if device.kind != "partition"]
    if not parts:
        return Fraction(1)
    raw = sum(part.size for part in parts) if device.kind == "array" else device.size
    return max(Fraction(raw, device.size), Fraction(1)) * max(_spread(part, topology) for part in parts)
