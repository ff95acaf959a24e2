"""Rules about read-ahead: what the kernel fetches before a sequential reader asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.size import KIB, MIB, PAGE, align_down, align_up, exact
from raidplan.geometry.md_shape import io_opt
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import arrays
from raidplan.rules.workloads import RANDOM, work_on
from raidplan.topology import Topology

LARGE = 32 * MIB


def _stripe(topology: Topology, name: str, array: Array) -> int:
    """Bytes of data in a full stripe, even where sizes are not known; 0 without stripes."""
    if name in topology.devices:
        return topology.devices[name].stripe
    if any(member in topology.layout.arrays for member in array.named_members):
        return 0
    try:
        return io_opt(array.level, len(array.named_members), array.effective_chunk, array.effective_layout)
    except ValueError:
        return 0


def _is_read_through(topology: Topology, name: str) -> bool:
    """Somebody reads the array with its own read-ahead, not with that of what stands on it."""
    user = topology.used_by.get(name)
    if user is None or user.path[0] not in ("arrays", "swap", "volume_groups"):
        return True
    group = topology.layout.volume_groups.get(str(user.path[1])) if user.role == "lvm" else None
    if group is None or group.devices[0] != name:
        return False
    return any(volume.read_ahead == "auto" for volume in group.volumes.values())


@rule(Severity.WARNING)
def read_ahead_below_stripe(topology: Topology) -> Iterator[Hit]:
    """An array reads less ahead than one of its full stripes.

    Why: one sequential reader keeps all disks busy only if it is asked for in advance what they hold; with
    128 KiB on a stripe of 1.75 MiB one disk works while seven wait. By itself md reads two stripes ahead, so
    only a number can make it worse. A raid5 of three disks read 51.5 MB/s with 128 KiB, 87.4 with 1 MiB and
    104.5 with 2 MiB; another of eight 43 instead of 125. A note below two stripes; nothing for databases and
    small files, and nothing where the array is read through a volume with a read-ahead of its own.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-7>]
            chunk: 256KiB
            read_ahead: 128KiB    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-7>], chunk: 256KiB, read_ahead: 3584KiB}

    Source: "Software RAID vs. LVM: Quick Speed Test" (2009); a reader's comment on N. Fankhauser, "Homebuilt
    2 Terabytes RAID5 File Server Running Linux" (2005); https://docs.kernel.org/admin-guide/md.html.
    """
    for name, path, array in arrays(topology):
        works = work_on(topology, path)
        if works and works <= RANDOM:
            continue
        ahead, stripe = array.read_ahead, _stripe(topology, name, array)
        if ahead is None or ahead >= 2 * stripe or not _is_read_through(topology, name):
            continue
        chunk = array.effective_chunk or stripe
        shape = f", {stripe // chunk} x {exact(chunk)}" if stripe % chunk == 0 else ""
        yield Hit(
            (*path, "read_ahead"),
            f"{name} reads {exact(ahead)} ahead, and a full stripe of it has {exact(stripe)}{shape}",
            "two full stripes, or leave it out: md takes as much by itself",
            severity=None if ahead < stripe else Severity.NOTE,
            edits=(Edit((*path, "read_ahead"), exact(2 * stripe)),),
        )


@rule(Severity.NOTE)
def large_read_ahead(topology: Topology) -> Iterator[Hit]:
    """A read-ahead is larger than 32 MiB, and larger than two full stripes.

    Why: every file that is read in order may hold that much memory, and whoever reads a little here and there
    throws most of it away. Two full stripes keep all disks busy; four are enough for anybody.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-7>]
            read_ahead: 64MiB    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-7>], read_ahead: 14MiB}

    Source: *Coder Blog, "Setting up a Small Desktop RAID System" (2013), on caches that read ahead;
    https://github.com/torvalds/linux/blob/master/block/blk-settings.c; the threshold is raidplan's own.
    """
    for path, name, ahead, stripe in _read_aheads(topology):
        if ahead > max(LARGE, 2 * stripe):
            enough, why = (2 * stripe, "two full stripes") if stripe else (4 * MIB, "1MiB to 4MiB are usual")
            fact = f"{name} reads {exact(ahead)} ahead for every open file"
            yield Hit(path, fact, why, edits=(Edit(path, exact(enough)),))


@rule(Severity.ERROR)
def read_ahead_off_page(topology: Topology) -> Iterator[Hit]:
    """A read-ahead is no multiple of 4 KiB.

    Why: the kernel counts it in pages and rounds down, LVM does the same. What is read back then differs from
    what was asked for, so the step that sets it can never be proven, and `apply` ends there.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 1TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-2>]
            read_ahead: 2MB    # <-- here

    Good:
        hardware:
          disks: {d<0-2>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-2>], read_ahead: 2MiB}

    Source: https://github.com/torvalds/linux/blob/master/block/blk-sysfs.c (`queue_ra_store`); lvm2,
    `tools/lvcreate.c` ("Overriding readahead").
    """
    for path, name, ahead, _ in _read_aheads(topology):
        if ahead % PAGE:
            below, above = align_down(ahead, PAGE), align_up(ahead, PAGE)
            yield Hit(
                path,
                f"the read-ahead of {name}, {exact(ahead)}, is {ahead / KIB:g} KiB, which is no multiple of 4 KiB",
                f"or {exact(below)}" if below else "",
                edits=(Edit(path, exact(above)),),
            )


def _read_aheads(topology: Topology) -> Iterator[tuple[Path, str, int, int]]:
    """Every read-ahead that is written: where, of what, its bytes, and those of a full stripe below it."""
    for name, path, array in arrays(topology):
        if array.read_ahead is not None:
            yield (*path, "read_ahead"), name, array.read_ahead, _stripe(topology, name, array)
    for group, entry in topology.layout.volume_groups.items():
        for volume, each in entry.volumes.items():
            if each.read_ahead != "auto":
                below = (topology.devices.get(device) for device in entry.devices)
                stripe = max((device.stripe for device in below if device is not None), default=0)
                path = ("volume_groups", group, "volumes", volume, "read_ahead")
                yield path, f"{group}.{volume}", int(each.read_ahead), stripe
