"""File systems as they will be made: on which device, with how many blocks and inodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from raidplan.base.filesystems.ext import Ext
from raidplan.base.filesystems.xfs import Xfs
from raidplan.base.findings import Path
from raidplan.geometry.ext import ExtGeometry
from raidplan.geometry.xfs import XfsGeometry
from raidplan.layout.kinds.device import Device
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.topology import Topology


class Made(NamedTuple):
    """A file system on a device whose size is known; a geometry where the tools would make it."""

    name: str
    entry: Filesystem
    device: Device
    ext: ExtGeometry | None = None
    xfs: XfsGeometry | None = None

    @property
    def path(self) -> Path:
        """The path in the layout."""
        return ("filesystems", self.name)

    @property
    def inodes_key(self) -> str:
        """The key that says how many inodes to make; empty where mke2fs decides."""
        if self.entry.inodes is not None:
            return "inodes"
        return "inode_ratio" if self.entry.inode_ratio is not None else ""


def filesystems(topology: Topology) -> Iterator[Made]:
    """Every file system whose device is known."""
    yield from topology.once(_all)


def ext_filesystems(topology: Topology) -> Iterator[tuple[Made, ExtGeometry]]:
    """Every ext2, ext3 and ext4 that mke2fs would make."""
    return ((made, made.ext) for made in topology.once(_all) if made.ext is not None)


def xfs_filesystems(topology: Topology) -> Iterator[tuple[Made, XfsGeometry]]:
    """Every XFS that mkfs.xfs would make."""
    return ((made, made.xfs) for made in topology.once(_all) if made.xfs is not None)


def can_be_made(entry: Filesystem, device: Device) -> bool:
    """Whether mke2fs would make it, with inodes for all files that are expected."""
    try:
        return isinstance(entry.format, Ext) and entry.format.geometry(entry, device).inodes >= (
            entry.files or 0
        )
    except ValueError:
        return False


def _all(topology: Topology) -> list[Made]:
    found = []
    for name, entry in topology.layout.filesystems.items():
        use = next(entry.uses(name, ("filesystems", name)))
        if use.device in topology.devices and topology.used_by.get(use.device) == use:
            found.append(_geometry_of(name, entry, topology.taken(use)))
    return found


def _geometry_of(name: str, entry: Filesystem, device: Device) -> Made:
    try:
        match entry.format:
            case Ext() as ext:
                return Made(name, entry, device, ext=ext.geometry(entry, device))
            case Xfs() as xfs:
                return Made(name, entry, device, xfs=xfs.geometry(device))
    except ValueError:
        pass  # What the tools would refuse is said elsewhere.
    return Made(name, entry, device)
