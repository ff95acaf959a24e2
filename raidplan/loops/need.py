"""How much of the sparse files setting a layout up fills: a rough estimate, on the safe side."""

from __future__ import annotations

from fractions import Fraction

from raidplan.kinds.device import Device
from raidplan.kinds.filesystem import Filesystem
from raidplan.kinds.formats import Ext, Xfs
from raidplan.kinds.swap import Swap
from raidplan.size import MIB
from raidplan.topology import Topology

PER_DISK = 3 * MIB
"""Partition tables, a superblock and a bitmap, LVM's metadata."""
OTHER_FORMATS = 16 * MIB


def bytes_needed(topology: Topology) -> int:
    """Bytes that end up in the files: metadata of disks and file systems, swap files; without any data.

    The initial sync is not in it. It writes nothing where parity agrees, as on new files it does; on RAID1
    and RAID10 it copies, and fills the files of all mirrors but the first.
    """
    disks = topology.layout.hardware.disks
    used = [name for name, disk in disks.items() if disk.partitions or name in topology.used_by]
    return len(used) * PER_DISK + sum(_of(item.name, item.kind, topology) for item in topology.items)


def _of(name: str, kind: object, topology: Topology) -> int:
    match kind:
        case Filesystem():
            device = topology.taken(next(iter(kind.uses(name, ("filesystems", name)))))
            return int(_metadata(kind, device) * _spread(device, topology))
        case Swap(file=str(), size=int() as size):
            # Written in full, somewhere; perhaps in a file system of this layout.
            return size
        case _:
            return MIB


def _metadata(wanted: Filesystem, device: Device) -> int:
    """Journals and logs, and inode tables, which the kernel zeroes after the mount."""
    match wanted.format:
        case Ext() as kind:
            made = kind.geometry(wanted, device)
            return made.journal_blocks * made.block_size + made.inodes * made.inode_size + OTHER_FORMATS
        case Xfs() as kind:
            log = kind.geometry(device)
            return log.log_blocks * log.block_size + OTHER_FORMATS
        case _:
            return OTHER_FORMATS


def _spread(device: Device, topology: Topology) -> Fraction:
    """Bytes on disks for each byte of a device: 2 on a mirror of two, 8/6 on a RAID6 of eight."""
    parts = [topology.devices[name] for name in device.on if device.kind != "partition"]
    if not parts:
        return Fraction(1)
    raw = sum(part.size for part in parts) if device.kind == "array" else device.size
    return max(Fraction(raw, device.size), Fraction(1)) * max(_spread(part, topology) for part in parts)
