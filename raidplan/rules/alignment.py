"""Rules about where an array begins and ends on its members: whole disks, and arrays on arrays."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import exact, human
from raidplan.base.words import counted, listed
from raidplan.geometry.gpt import MOST_SLACK, slack_bytes
from raidplan.geometry.md_member import default_data_offset
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import arrays, places, redundant, striped_over
from raidplan.topology import Topology


def _whole_disks(topology: Topology, array: Array) -> list[str]:
    """The disks that an array takes as they are, without a partition."""
    members = (*array.named_members, *array.spares) if array.whole_disks else ()
    return [name for name in members if name in topology.layout.hardware.disks]


@rule(Severity.WARNING)
def whole_disk_on_uefi(topology: Topology) -> Iterator[Hit]:
    """Disks are members as a whole, without a partition table, on a machine that boots by UEFI.

    Why: firmware takes such a disk for one with a damaged table. Some boards "repaired" it at every start and
    wrote zeroes over bytes 4096 to 16383, which is where md keeps its superblock; the members were gone. A
    GPT partition of type Linux RAID costs nothing: it is as fast, and everybody sees what it is.

    Bad:
        hardware:
          firmware: uefi
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            whole_disks: true    # <-- here

    Good:
        hardware:
          firmware: uefi
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: https://www.joyk.com/dig/detail/1543345252380871 (ASRock boards).
    """
    if topology.layout.hardware.firmware != "uefi":
        return
    for name, path, array in arrays(topology):
        disks = _whole_disks(topology, array)
        if disks:
            gain = "each disk gets a partition of type Linux RAID"
            hint, edits = _in_partitions(topology, name, path, "so that", gain)
            yield Hit(
                (*path, "whole_disks"),
                f"{listed(disks)} of {name} have no partition table, which UEFI firmware may try to repair: "
                "some boards overwrite the superblock",
                hint,
                edits=edits,
            )


@rule(Severity.NOTE)
def no_slack_for_replacement(topology: Topology) -> Iterator[Hit]:
    """A redundant array takes its disks to the last sector, so a replacement must be at least as large.

    Why: disks of one nominal size differ by some MB between makers and models, and md refuses a member that
    is one sector too small. The partition that raidplan makes ends 0.1 % before the disk does, 128 MiB at
    most.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            whole_disks: true    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: mdadm(8), `--size`; http://strugglers.net/~andy/blog/category/business/ (equal disks that differ).
    """
    for name, path, array in arrays(topology):
        disks = _whole_disks(topology, array) if redundant(array) else []
        if disks:
            sizes = [topology.layout.hardware.disks[disk].size for disk in disks]
            slack = slack_bytes(min(size for size in sizes if size)) if any(sizes) else MOST_SLACK
            left = f"a partition leaves {human(slack)} at the end of each disk"
            hint, edits = _in_partitions(topology, name, path, "for", left)
            yield Hit(
                (*path, "whole_disks"),
                f"{name} takes {counted(len(disks), 'disk')} to the last sector: a replacement that is smaller by "
                "one is refused",
                hint,
                edits=edits,
            )


def _in_partitions(
    topology: Topology, name: str, path: Path, why: str, gain: str
) -> tuple[str, tuple[Edit, ...]]:
    """The hint and the edit that give an array partitions of its disks; a decision alone, where a raid0 above needs equal members."""
    if above := striped_over(topology, name):
        together = f"decide for all disks below {above} at once, so that its members have equal sizes"
        return f"{together}: without 'whole_disks' {gain}", ()
    return f"{why} {gain}", (Edit((*path, "whole_disks"), None),)


@rule(Severity.NOTE)
def nested_array_off_stripe(topology: Topology) -> Iterator[Hit]:
    """An array on top of parity arrays begins its data in the middle of one of their stripes.

    Why: md keeps some MiB in front of the data of each member for its superblock and for later reshapes. If
    that is no multiple of the full stripe of the arrays below, all that the upper array lays out in whole
    stripes straddles two of theirs, and each such write has to read first. Metadata 1.0 stands at the end of
    a member, so its data begin at 0; or give the arrays below 2, 4 or 8 data disks.

    Bad:
        hardware:
          disks: {d<0-1><0-5>: {size: 4TB}}
        arrays:
          leg<0-1>: {level: raid5, members: [d<1><0-5>]}
          top:
            level: raid0
            members: [leg<0-1>]    # <-- here

    Good:
        hardware:
          disks: {d<0-1><0-5>: {size: 4TB}}
        arrays:
          leg<0-1>: {level: raid5, members: [d<1><0-5>]}
          top: {level: raid0, members: [leg<0-1>], metadata: "1.0"}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/super1.c (`validate_geometry1`);
    https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c.
    """
    for name, path, array in arrays(topology):
        legs = [leg for leg in array.named_members if _has_stripes(topology, leg)]
        offset = _data_offset(topology, array) if legs else 0
        off = [leg for leg in legs if offset % topology.devices[leg].stripe]
        if off:
            stripe = topology.devices[off[0]].stripe
            # A journal cannot have metadata 1.0, and the members of a raid0 are to have equal sizes.
            kept = array.policy == "journal" or striped_over(topology, name)
            yield Hit(
                (*path, "members"),
                f"the data of {name} begin {exact(offset)} into {listed(off, last=' and ')}, "
                f"{human(offset % stripe)} into a stripe of {exact(stripe)}",
                "choose 2, 4 or 8 data disks for them" if kept else "whose data begin at 0",
                related=places("array", ("arrays",), off),
                edits=() if kept else (Edit((*path, "metadata"), "1.0"),),
            )


def _has_stripes(topology: Topology, member: str) -> bool:
    """A parity array of known size."""
    array = topology.layout.arrays.get(member)
    return array is not None and LEVELS[array.level].parity > 0 and member in topology.devices


def _data_offset(topology: Topology, array: Array) -> int:
    """The start of the data on each member, bytes; 0 where the array cannot be made."""
    first = topology.devices.get(array.named_members[0])
    try:
        return 0 if first is None else default_data_offset(
            first.size, level=array.level, chunk=array.chunk, metadata=array.metadata, ppl=array.policy == "ppl"
        )  # fmt: skip
    except ValueError:
        return 0
