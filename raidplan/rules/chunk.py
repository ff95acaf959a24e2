"""Rules about the chunk: what md writes to one member before it goes on to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.levels import LEVELS
from raidplan.rules.engine import Hit, rule
from raidplan.rules.subjects import arrays
from raidplan.size import KIB, exact

if TYPE_CHECKING:
    from raidplan.topology import Topology

LEAST = 4 * KIB


@rule(Severity.ERROR)
def invalid_chunk(topology: Topology) -> Iterator[Hit]:
    """A chunk is not a power of two, or is smaller than 4 KiB.

    Why: the kernel refuses other chunks for raid4, raid5, raid6 and raid10 ("invalid chunk size"), and mdadm
    anything below 4 KiB ("invalid chunk/rounding value"). raid0 could have others, but mdadm rounds the
    members' sizes with a bit mask, so they would come out wrong. On kernels with pages of 64 KiB the least
    is 64 KiB. The usual chunks are 64 KiB to 1 MiB; without one, mdadm takes 512 KiB.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 3TB}}
    arrays:
      s0:
        level: raid5
        members: [d<0-3>]
        chunk: 100KiB    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 3TB}}
    arrays:
      s0: {level: raid5, members: [d<0-3>], chunk: 128KiB}
    ```

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c (`setup_conf`);
    https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    for _, path, array in arrays(topology):
        chunk = array.chunk
        if chunk is None or not LEVELS[array.level].chunked:
            continue
        if chunk < LEAST:
            yield Hit(
                (*path, "chunk"), f"the chunk {exact(chunk)} is smaller than 4KiB", "write 64KiB or more"
            )
        elif chunk & (chunk - 1):
            below = 1 << (chunk.bit_length() - 1)
            yield Hit(
                (*path, "chunk"),
                f"the chunk {exact(chunk)} is {chunk} bytes, which is not a power of two",
                f"write {exact(below)} or {exact(2 * below)}",
            )


@rule(Severity.ERROR)
def chunk_on_raid1(topology: Topology) -> Iterator[Hit]:
    """A chunk is given for raid1 or linear, which have none.

    Why: every member of a mirror holds the same, and linear fills one member after the other, so there is
    nothing to deal out in chunks. mdadm 4.2 and newer refuse `--chunk` for raid1; older ones ignored it.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-1>: {size: 3TB}}
    arrays:
      s0:
        level: raid1
        members: [d<0-1>]
        chunk: 64KiB    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-1>: {size: 3TB}}
    arrays:
      s0: {level: raid1, members: [d<0-1>]}
    ```

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    for name, path, array in arrays(topology):
        if array.chunk is not None and not LEVELS[array.level].chunked:
            yield Hit(
                (*path, "chunk"),
                f"{name} is {array.level}, which has no chunks, and is given one of {exact(array.chunk)}",
                "remove 'chunk'",
            )
