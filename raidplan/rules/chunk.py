"""Rules about the chunk: what md writes to one member before it goes on to the next."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import GIB, KIB, MIB, exact, is_power_of_two
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import array_disks, arrays
from raidplan.rules.workloads import work_on
from raidplan.topology import Topology

LEAST, MOST = 4 * KIB, GIB
RANDOM_MOST, STREAMS_LEAST = 128 * KIB, 64 * KIB
"""For small random writes to parity on hard disks, and for large files; a rule of thumb."""


@rule(Severity.ERROR)
def invalid_chunk(topology: Topology) -> Iterator[Hit]:
    """A chunk is not a power of two from 4 KiB to 1 GiB.

    Why: the kernel refuses other chunks for raid4, raid5, raid6 and raid10 ("invalid chunk size"), and mdadm
    anything below 4 KiB ("invalid chunk/rounding value"). raid0 could have others, but mdadm rounds the
    members' sizes with a bit mask, so they would come out wrong. The kernel counts a chunk's bytes in
    31 bits, so 1 GiB is the most. On kernels with pages of 64 KiB the least is
    64 KiB. The usual chunks are 64 KiB to 1 MiB; without one, mdadm takes 512 KiB.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            chunk: 100KiB    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], chunk: 128KiB}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c (`setup_conf`);
    https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    for _, path, array in arrays(topology):
        chunk = array.chunk
        if chunk is None or not LEVELS[array.level].chunked:
            continue
        if chunk < LEAST:
            yield Hit(
                (*path, "chunk"), f"the chunk {exact(chunk)} is smaller than 4KiB", "or more",
                edits=(Edit((*path, "chunk"), "64KiB"),),
            )  # fmt: skip
        elif chunk > MOST:
            yield Hit(
                (*path, "chunk"), f"the chunk {exact(chunk)} is larger than 1GiB", "or less",
                edits=(Edit((*path, "chunk"), "1MiB"),),
            )  # fmt: skip
        elif not is_power_of_two(chunk):
            below = min(1 << (chunk.bit_length() - 1), MIB)
            yield Hit(
                (*path, "chunk"),
                f"the chunk {exact(chunk)} is {chunk} bytes, which is not a power of two",
                f"or {exact(2 * below)}",
                edits=(Edit((*path, "chunk"), exact(below)),),
            )


@rule(Severity.ERROR)
def chunk_on_raid1(topology: Topology) -> Iterator[Hit]:
    """A chunk is given for raid1 or linear, which have none.

    Why: every member of a mirror holds the same, and linear fills one member after the other, so there is
    nothing to deal out in chunks. mdadm 4.2 and newer refuse `--chunk` for raid1; older ones ignored it.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0:
            level: raid1
            members: [d<0-1>]
            chunk: 64KiB    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    for name, path, array in arrays(topology):
        if array.chunk is not None and not LEVELS[array.level].chunked:
            yield Hit(
                (*path, "chunk"),
                f"{name} is {array.level}, which has no chunks, and is given one of {exact(array.chunk)}",
                edits=(Edit((*path, "chunk"), None),),
            )


@rule(Severity.NOTE)
def chunk_for_workload(topology: Topology) -> Iterator[Hit]:
    """The chunk does not suit the work that the layout names.

    Why: with parity and small random writes, a large chunk makes long stripes that are seldom filled, and
    keeps neighbouring blocks, which are often wanted together, on one disk: said above 128 KiB on hard disks.
    Large files read by few want each disk to read a good piece before the next one: said below 64 KiB. A
    published table for hardware RAID has 32 to 64 KiB for small files, 512 KiB to 1 MiB for large ones; md
    works in pages of 4 KiB and never rewrites a whole chunk for a small write, so it depends less on this.

    Bad:
        workload: large-files
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            chunk: 16KiB    # <-- here

    Good:
        workload: large-files
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], chunk: 512KiB}

    Source: *Coder Blog, "Setting up a Small Desktop RAID System" (2013);
    https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c.
    """
    for name, path, array in arrays(topology):
        chunk, works = array.effective_chunk, work_on(topology, path)
        if chunk is None or len(works) != 1:
            continue
        (workload,) = works
        if workload == "large-files" and chunk < STREAMS_LEAST:
            fact = f"{name} moves to the next disk after {exact(chunk)}, and the workload is {workload}"
            yield _other_chunk(topology, name, array, fact, "512KiB", "leave it out")
        elif (
            workload in ("database", "small-files")
            and chunk > RANDOM_MOST
            and _parity_on_hard_disks(topology, array)
        ):
            fact = f"the chunk of {name} has {exact(chunk)}, and the workload is {workload}: small writes to parity on hard disks"
            yield _other_chunk(topology, name, array, fact, "64KiB", "measure which one suits your work")


def _other_chunk(topology: Topology, name: str, array: Array, fact: str, chunk: str, other: str) -> Hit:
    """Advice on a chunk; a person makes the change where something else is written for the stripe as it is."""
    path, user = ("arrays", name, "chunk"), topology.used_by.get(name)
    above = topology.layout.filesystems.get(str(user.path[1])) if user is not None else None
    alone = above is not None and not any("=" in option for option in above.options)
    nested = any(member in topology.layout.arrays for member in array.named_members)
    if name in topology.devices and (user is None or alone) and array.read_ahead is None and not nested:
        return Hit(path, fact, f"or {other}", edits=(Edit(path, chunk),))
    return Hit(path, fact, f"choose chunk: {chunk}, with all that is written for this stripe, or {other}")


def _parity_on_hard_disks(topology: Topology, array: Array) -> bool:
    """All disks of a parity array are known to be hard disks."""
    disks = array_disks(topology, array) if LEVELS[array.level].parity else ()
    return bool(disks) and all(topology.layout.hardware.disks[disk].rotational for disk in disks)
