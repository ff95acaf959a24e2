"""Rules about the inodes of ext2, ext3 and ext4, whose number is fixed when they are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.geometry.ext import FSTYPES, LEAST_RATIO, MOST_INODES, MOST_RATIO
from raidplan.rules.engine import Hit, rule
from raidplan.size import exact, human

if TYPE_CHECKING:
    from raidplan.kinds.filesystem import Filesystem
    from raidplan.topology import Topology

INODE = 256
"""Bytes of an inode as mke2fs makes it."""


@rule(Severity.ERROR)
def impossible_inode_count(topology: Topology) -> Iterator[Hit]:
    """More inodes are asked for than ext4 can count or the device can hold.

    Why: mke2fs refuses more than 2^32 - 1 inodes, and tables as large as the file system: each inode takes
    256 bytes, so 100,000,000 take 25.6 GB. With `inode_ratio` it takes 1 KiB to 64 MiB for each inode.

    **Bad**

    ```yaml
    hardware:
      disks: {d0: {size: 20GB}}
    filesystems:
      mail:
        device: d0
        type: ext4
        inodes: 100000000    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d0: {size: 500GB}}
    filesystems:
      mail: {device: d0, type: ext4, inodes: 100000000}
    ```

    Source: https://github.com/tytso/e2fsprogs/blob/master/misc/mke2fs.c; mke2fs(8), -N and -i.
    """
    for name, entry in topology.layout.filesystems.items():
        if entry.type not in FSTYPES:
            continue
        problem = _inodes(name, entry, topology)
        if problem is not None:
            key, message, hint = problem
            yield Hit(("filesystems", name, key), message, hint)


def _inodes(name: str, entry: Filesystem, topology: Topology) -> tuple[str, str, str] | None:
    ratio, inodes = entry.inode_ratio, entry.inodes
    if inodes is not None:
        if not 1 <= inodes <= MOST_INODES:
            return (
                "inodes",
                f"{name} asks for {inodes:,} inodes; {entry.type} has 1 to {MOST_INODES:,}",
                "choose fewer",
            )
        device = topology.devices.get(entry.device)
        if device is not None and inodes * INODE >= device.size:
            message = (
                f"{inodes:,} inodes take {human(inodes * INODE)}, and {entry.device} has {human(device.size)}"
            )
            return "inodes", message, "choose fewer, or XFS, which makes them as they are needed"
    elif ratio is not None and not LEAST_RATIO <= ratio <= MOST_RATIO:
        message = f"{name} asks for an inode for each {exact(ratio)}; mke2fs takes 1KiB to 64MiB"
        return "inode_ratio", message, "write 16KiB, or leave it out"
    return None
