"""Rules about the physical sectors of disks."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.findings import Severity
from raidplan.base.words import listed
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.engine import Hit, rule
from raidplan.topology import Topology
from raidplan.topology.kept import kept
from raidplan.topology.resolve import DISKS

LARGE = 2 * 10**12
"""Bytes from which on nearly every disk writes 4096 bytes as one."""


@rule(Severity.NOTE)
def physical_block_not_stated(topology: Topology) -> Iterator[Hit]:
    """A large disk's physical sector is not written down, and what is made on it counts with 512 bytes.

    Why: `mkfs.xfs` and `cryptsetup luksFormat` take the physical sector for what the disk writes as one, and
    keep it for good. raidplan gives them the one of the layout, 512 bytes where it says none, so that a plan is
    the same on every machine; the machine's own is not asked. Nearly every disk of 2 TB and more writes 4096
    bytes as one: each write of 512 is then a read and a write, in XFS's log for one. One note for all disks
    of a model and size.

    Bad:
        hardware:
          disks:
            d<0-1>: {size: 4TB}    # <-- here
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        filesystems:
          data: {device: s0, type: xfs, mount: /srv}

    Good:
        hardware:
          disks:
            d<0-1>: {size: 4TB, physical_block: 4096}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        filesystems:
          data: {device: s0, type: xfs, mount: /srv}

    Source: mkfs.xfs(8), `-s size`; cryptsetup-luksFormat(8), `--sector-size`; Seagate and Western
    Digital, "Advanced Format"; the threshold is raidplan's own.
    """
    above = {disk: name for name, device in _bound_to_512(topology) for disk in topology.disks_below(device)}
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, disk in topology.layout.hardware.disks.items():
        if name in above and not disk.keep and _has_unknown_sectors(disk):
            groups.setdefault((disk.model, disk.size), []).append(name)
    for disks in groups.values():
        things = list(dict.fromkeys(above[disk] for disk in disks))
        yield Hit(
            (*DISKS, disks[0]),
            f"the physical sector of {listed(disks, last=' and ')} is not written: {listed(things, last=' and ')} will be made for "
            "sectors of 512 bytes, and nearly every disk of this size writes 4096 as one",
            "write physical_block: 4096 if `lsblk -o NAME,PHY-SEC` says so; what is made now cannot be changed later",
        )


def _has_unknown_sectors(disk: Disk) -> bool:
    return (disk.size or 0) >= LARGE and disk.physical_block is None and disk.logical_block is None


def _bound_to_512(topology: Topology) -> Iterator[tuple[str, str]]:
    """The things that take the physical sector for good, and are made for 512 bytes, each with the device below it."""
    layout = topology.layout
    takes = {
        ("filesystems", name): each.device
        for name, each in layout.filesystems.items()
        if FILESYSTEMS[each.type].keeps_sector
    }
    takes |= {
        ("encryption", name): each.device
        for name, each in layout.encryption.items()
        if each.sector_size is None and not each.is_random
    }
    for path, device in takes.items():
        below = topology.devices.get(device)
        if below is not None and below.physical_block == 512 and path not in kept(topology):
            yield path[1], device
