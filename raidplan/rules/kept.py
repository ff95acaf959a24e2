"""Rules about disks that are described only."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, arrays, places, redundant
from raidplan.topology import Topology
from raidplan.topology.kept import kept_devices, kept_disks
from raidplan.topology.mounts import mounted
from raidplan.topology.resolve import DISKS


@rule(Severity.ERROR)
def kept_in_part(topology: Topology) -> Iterator[Hit]:
    """Something is to be kept and made, or kept and wiped; or a partition beside a kept one has no `uuid`.

    Why: nothing can be both kept and made, and no partition is added to a table that stays.

    Bad:
        hardware:
          disks:
            d0: {size: 1TB, keep: true, partitions: {os: {size: rest}}}
            d1: {size: 1TB, partitions: {os: {size: rest}}}
        arrays:
          os:
            level: raid1
            members: [d0.os, d1.os]    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 1TB, keep: true, partitions: {os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d0.os, d1.os]}

    Source: docs/layout.md, `keep`.
    """
    for name, disk in topology.layout.hardware.disks.items():
        if disk.table_stays and disk.wipe:
            which = name if disk.keep else f"a partition of {name}"
            yield Hit(
                (*DISKS, name, "wipe"), f"{which} is to be kept and {name} may be wiped", "remove one of them"
            )
        yield from (_beside_kept if disk.table_stays else _with_uuid)(name, disk)
    kept, seen = kept_devices(topology), set[frozenset[str]]()
    for item in topology.order if kept else ():
        uses = [*item.kind.uses(item.name, item.path)]
        below = frozenset(use.device for use in uses)
        if below & kept and below - kept and below not in seen:
            seen.add(below)
            yield Hit(
                uses[0].path,
                f"{item.name} stands on {listed(sorted(below & kept))}, which is kept, and on {listed(sorted(below - kept))}, which is not",
                "keep all of its devices, or none",
            )


def _beside_kept(name: str, disk: Disk) -> Iterator[Hit]:
    """Partitions of a table that stays which raidplan uses, and cannot find or size."""
    for part, entry in disk.partitions.items() if not disk.keep else ():
        missing = [*([] if entry.uuid else ["uuid"]), *(["size"] if entry.size == "rest" else [])]
        if missing and not entry.keep:
            yield Hit(
                (*DISKS, name, "partitions", part),
                f"the partition table of {name} stays as it is, and {name}.{part} has no {listed(missing, last=' and no ')}",
                "make the partition by hand, and write what lsblk -b -o PARTUUID,SIZE shows: uuid: …, size: …B",
            )


def _with_uuid(name: str, disk: Disk) -> Iterator[Hit]:
    """A UUID of a partition that raidplan makes, and gives one of its own."""
    for part, entry in disk.partitions.items():
        if entry.uuid:
            yield Hit(
                (*DISKS, name, "partitions", part, "uuid"),
                f"{name}.{part} is made by raidplan, with a UUID of its own",
                "remove uuid, or write keep: true at the partitions of the disk that stay",
            )


@rule(Severity.NOTE, acceptable=True)
def kept_without_content(topology: Topology) -> Iterator[Hit]:
    """A disk is kept and nothing describes what is on it, so no finding tells whether the system is lost with it.

    Why: `discover hardware` writes the disks of the running system with `keep: true`. One system disk beside
    redundant arrays is a single point of failure: the data survive it, and the machine is down until it is
    installed anew. With its partitions and `/` in the layout, `check` and `estimate` count it like any other.

    Bad:
        hardware:
          disks:
            ssd: {size: 240GB, keep: true}    # <-- here
            d<0-3>: {size: 3TB}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}

    Good:
        hardware:
          disks:
            ssd<0-1>: {size: 240GB, keep: true, partitions: {os: {size: rest}}}
            d<0-3>: {size: 3TB}
        arrays:
          os: {level: raid1, members: [ssd<0-1>.os]}
          s0: {level: raid6, members: [d<0-3>]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Source: *Coder Blog, "File Server Upgrade" (2013): the system on a USB stick beside a RAID6.
    """
    used = frozenset[str]().union(*(topology.disks_below(device) for device in topology.used_by))
    alone = sorted(kept_disks(topology) - used)
    safe = [name for name, _, array in arrays(topology) if redundant(array)]
    if alone and safe and "/" not in topology.once(mounted):
        them, one = ("it", "it") if len(alone) == 1 else ("them", "one of them")
        yield Hit(
            (*DISKS, alone[0], "keep"),
            f"{listed(alone, last=' and ')} {agreeing(alone, 'is', 'are')} kept, and nothing says what is on {them}: if the system "
            f"runs from {one}, the machine may stop with that disk, while {listed(safe, last=' and ')} "
            f"{agreeing(safe, 'survives', 'survive')} the loss of a disk",
            f"describe what is on {them}: partitions, arrays, and filesystems with mount: /",
            related=places("disk", DISKS, alone[1:]),
        )
