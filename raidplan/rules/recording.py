"""Rules about how disks record: shingled disks in arrays."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, arrays, guarded_disks, places
from raidplan.topology import Topology

SHINGLED = (
    "WD20EFAX", "WD30EFAX", "WD40EFAX", "WD60EFAX", "WD20EZAZ", "WD60EZAZ",
    "ST2000DM008", "ST3000DM007", "ST4000DM004", "ST6000DM003", "ST8000DM004",
)  # fmt: skip
"""Drive-managed SMR by their makers' own words in 2020; no whole line is, so models are named one by one."""


@rule(Severity.WARNING)
def smr_member(topology: Topology) -> Iterator[Hit]:
    """A redundant array has shingled disks (SMR) among its members or spares.

    Why: shingled tracks overlap, so a drive rewrites whole zones behind the scenes. It takes writes into a
    conventional cache; a rebuild, or other writes that do not end, fill it, and the drive then stalls for
    seconds to minutes, which can look like a failure. Replacing a disk of a four-disk ZFS array took a
    4 TB WD40EFAX nine days, and conventional disks sixteen hours; md, which writes a rebuild in order, did
    better, until the writes became small. Said where `recording` is dm-smr or ha-smr, or the model is known.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 4TB, recording: dm-smr}}
        arrays:
          s0:
            level: raid6
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 4TB, recording: cmr}}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}

    Source: https://blocksandfiles.com/2020/04/15/shingled-drives-have-non-shingled-zones-for-caching-writes/;
    https://arstechnica.com/gadgets/2020/06/western-digitals-smr-disks-arent-great-but-theyre-not-garbage/;
    the makers' lists of models of 2020.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        shingled = [disk for disk in guarded_disks(topology, array) if _is_shingled(disks[disk])]
        if shingled:
            stated = all(disks[disk].recording for disk in shingled)
            yield Hit(
                (*path, "members"),
                f"{listed(shingled, last=' and ')} of {name} {_records(shingled)} in shingles"
                f"{'' if stated else ' by the model'}: during a rebuild their writes stall for seconds to minutes",
                "take conventional disks (CMR)"
                + ("" if stated else "; if the model tells wrong, write recording: cmr"),
                related=places("disk", ("hardware", "disks"), shingled),
            )


def _is_shingled(disk: Disk) -> bool:
    if disk.recording is not None:
        return disk.recording in ("dm-smr", "ha-smr")
    return disk.model is not None and any(model in disk.model.upper() for model in SHINGLED)


def _records(disks: list[str]) -> str:
    return agreeing(disks, "records", "record")


@rule(Severity.ERROR)
def zoned_member(topology: Topology) -> Iterator[Hit]:
    """An array is to be made of zoned disks, which take no writes out of order.

    Why: a disk whose zones the host manages refuses every write that does not go to the end of what was
    written in its zone. md knows nothing of zones: it updates superblock, bitmap and stripes in place, and
    those writes fail, by which the disk does. dm-zoned or a file system that knows zones (btrfs, f2fs,
    XFS since 6.15) can use such a disk.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 20TB, recording: zoned}}
        arrays:
          s0:
            level: raid1
            members: [d<0-1>]    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 20TB, recording: cmr}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: https://docs.kernel.org/admin-guide/device-mapper/dm-zoned.html; the ZBC and ZAC standards.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        own = [d for d in (*array.named_members, *array.spares) if d not in topology.layout.arrays]
        below = {disk for device in own for disk in topology.disks_below(device)}
        zoned = sorted(disk for disk in below if disks[disk].recording == "zoned")
        if zoned:
            yield Hit(
                (*path, "members"),
                f"{listed(zoned, last=' and ')} of {name} {agreeing(zoned, 'is', 'are')} zoned and "
                f"{agreeing(zoned, 'refuses', 'refuse')} writes out of order, which md makes from the first second",
                "take disks that are not managed by the host",
                related=places("disk", ("hardware", "disks"), zoned),
            )
