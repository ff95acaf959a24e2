"""Rules about what inodes cost: the room that their tables take from the files."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.filesystems.ext import INODE
from raidplan.base.findings import Edit, Severity
from raidplan.base.size import human
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.made_filesystems import ext_filesystems
from raidplan.topology import Topology

DENSE = 16 * 1024
"""Bytes for each inode below 4 TiB (mke2fs.conf)."""
MUCH, SOME = 0.05, 0.02
"""Shares of the space that inode tables take: worth a warning, worth a note."""


@rule(Severity.WARNING)
def inode_table_overhead(topology: Topology) -> Iterator[Hit]:
    """The inodes asked for take much of the file system: a fiftieth is a note, a twentieth a warning.

    Why: every inode of ext2, ext3 and ext4 takes 256 bytes, used or not: 150,000,000 take 38.4 GB, which are
    7.7 % of 500 GB. The tables are written in the background after the first mount, and e2fsck reads what is
    in use of them. The default, one inode for 16 KiB, takes 1.6 % and is never named.

    Bad:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          mail:
            device: d0
            type: ext4
            inode_ratio: 4KiB    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          mail: {device: d0, type: ext4, inode_ratio: 16KiB}

    Source: mke2fs(8), -N, -i and `lazy_itable_init`; the two shares are raidplan's own.
    """
    for made, geometry in ext_filesystems(topology):
        share = geometry.inode_table_bytes / geometry.size_bytes
        # Where there are more than blocks, another rule says so.
        if not made.inodes_key or share <= SOME or geometry.requested_inodes > geometry.blocks:
            continue
        files = made.entry.files
        wanted = files * 3 // 2 if files is not None else 0
        spared = 0 < wanted < geometry.inodes and wanted * INODE <= SOME * geometry.size_bytes
        edits = [Edit((*made.path, "inodes"), wanted)] if spared else []
        edits += [Edit((*made.path, "inode_ratio"), None)] if spared and made.entry.inode_ratio else []
        yield Hit(
            (*made.path, made.inodes_key),
            f"the {geometry.inodes:,} inodes of {made.name} take {human(geometry.inode_table_bytes)}, "
            f"{share:.1%} of its {human(geometry.size_bytes)}",
            "half as many again as the files that are expected"
            if spared
            else "ask for fewer, choose xfs, which makes them as they are needed, or accept it",
            severity=None if share > MUCH else Severity.NOTE,
            edits=tuple(edits),
        )


@rule(Severity.WARNING)
def more_inodes_than_blocks(topology: Topology) -> Iterator[Hit]:
    """There are more inodes than blocks, so some of them can never have a file with anything in it.

    Why: every file that holds a byte takes at least one block, 4 KiB from 512 MiB on. With an inode for each
    1 KiB, three of four inodes are there for nothing, and their tables take a quarter of the space.

    Bad:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          mail:
            device: d0
            type: ext4
            inode_ratio: 1KiB    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          mail: {device: d0, type: ext4, inode_ratio: 8KiB}

    Source: mke2fs(8), -i: "this value generally shouldn't be smaller than the blocksize".
    """
    for made, geometry in ext_filesystems(topology):
        if made.inodes_key and geometry.requested_inodes > geometry.blocks:
            dense = (made.entry.files or 0) * 3 // 2 <= geometry.size_bytes // DENSE
            edits = [Edit((*made.path, "inode_ratio"), "16KiB")] if dense else []
            edits += [Edit((*made.path, "inodes"), None)] if dense and made.entry.inodes is not None else []
            yield Hit(
                (*made.path, made.inodes_key),
                f"{made.name} gets {geometry.inodes:,} inodes and has {geometry.blocks:,} blocks of "
                f"{human(geometry.block_size)}; the inodes take {human(geometry.inode_table_bytes)}",
                "or" * dense + f" ask for at most {geometry.blocks}".removeprefix("" if dense else " "),
                edits=tuple(edits),
            )
