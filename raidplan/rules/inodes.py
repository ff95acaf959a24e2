"""Rules about the inodes of ext2, ext3 and ext4, whose number is fixed when they are made."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.filesystems.ext import INODE, Ext
from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.size import TIB, exact, human
from raidplan.geometry.ext import FSTYPES, LEAST_RATIO, MOST_RATIO, ExtGeometry, default_ratio
from raidplan.geometry.ext_groups import MOST_INODES
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.rules.inode_tables import DENSE, MUCH
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.made_filesystems import Made, can_be_made, ext_filesystems, xfs_filesystems
from raidplan.topology import Topology

FULL = 0.7
"""The share of the inodes beyond which the files that are expected leave too little room for others."""
MEANT = 0.99
"""The share of the inodes where their number is given: a hundredth is left for folders and links."""


@rule(Severity.ERROR)
def impossible_inode_count(topology: Topology) -> Iterator[Hit]:
    """More inodes are asked for than ext4 can count or the device can hold.

    Why: mke2fs refuses more than 2^32 - 1 inodes, and tables as large as the file system: each inode takes
    256 bytes, so 100,000,000 take 25.6 GB. With `inode_ratio` it takes 1 KiB to 64 MiB for each inode.

    Bad:
        hardware:
          disks: {d0: {size: 20GB}}
        filesystems:
          mail:
            device: d0
            type: ext4
            inodes: 100000000    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          mail: {device: d0, type: ext4, inodes: 100000000}

    Source: https://github.com/tytso/e2fsprogs/blob/master/misc/mke2fs.c; mke2fs(8), -N and -i.
    """
    for name, entry in topology.layout.filesystems.items():
        if entry.type not in FSTYPES:
            continue
        problem = _inodes(name, entry, topology)
        if problem is not None:
            key, message, hint = problem
            path: Path = ("filesystems", name, key)
            yield Hit(path, message, hint, edits=() if hint else (Edit(path, exact(DENSE)),))


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
        device = topology.devices.get(entry.device)
        dense = entry.changed(inode_ratio=DENSE)
        fits = (
            device is not None
            and (entry.files or 0) * 3 // 2 <= device.size // DENSE
            and can_be_made(dense, device)
        )
        return (
            "inode_ratio",
            message,
            "" if fits else "leave it out, or choose inodes for the files that are expected",
        )
    return None


@rule(Severity.ERROR)
def not_enough_inodes(topology: Topology) -> Iterator[Hit]:
    """More files are expected than the file system will have inodes.

    Why: ext2, ext3 and ext4 get their inodes when they are made and no more afterwards; each file, folder and
    link takes one. By default there is one for 16 KiB, 30,523,392 on 500 GB, and with all of them taken the
    disk is full however much space is left. A forecast server ran into this with millions of small files and
    had to be formatted again from a rescue shell, with `-N 100000000`. It is a warning when the expected
    files take more than 70 % of the inodes that mke2fs chooses, or 99 % of a number in `inodes`.

    Bad:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          forecast:
            device: d0
            type: ext4
            files: 100000000    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          forecast: {device: d0, type: ext4, files: 100000000, inodes: 110000000}

    Source: mke2fs(8), -N; *Coder Blog, "Packing in the inodes" (about 2012); the shares are raidplan's own.
    """
    for made, geometry in ext_filesystems(topology):
        files, inodes = made.entry.files, geometry.inodes
        if files is None:
            continue
        if files > inodes:
            message = (
                f"{made.name} is to hold {files:,} files, and its {made.entry.type} gets {inodes:,} inodes"
            )
            yield _enough(made, files, geometry, f"{message}; no more can be added later", None)
        elif files > (FULL if made.entry.inodes is None else MEANT) * inodes:
            yield _enough(
                made, files, geometry,
                f"the {files:,} files of {made.name} take {files / inodes:.0%} of its {inodes:,} inodes, "
                "folders and links take one each too, and no more can be added later",
                Severity.WARNING,
            )  # fmt: skip


def _enough(made: Made, files: int, geometry: ExtGeometry, fact: str, severity: Severity | None) -> Hit:
    """Advice on inodes for half as many files again, and their cost."""
    path = (*made.path, "files")
    if files + files * INODE // geometry.block_size >= geometry.blocks:
        advice = f"choose a larger device: each file takes a block, and this one has {geometry.blocks:,}"
        return Hit(path, fact, advice, severity=severity)
    wanted = min(files + files // 2, geometry.blocks)
    cost = f"{human(wanted * INODE)}, {wanted * INODE / geometry.size_bytes:.1%} of the space"
    if wanted * INODE > MUCH * geometry.size_bytes or files > MEANT * wanted:
        advice = f"choose xfs, which makes inodes as they are needed, or write inodes: {wanted} and accept their cost ({cost})"
        return Hit(path, fact, advice, severity=severity)
    advice = f"which take {cost}, or choose xfs, which makes inodes as they are needed"
    return Hit(path, fact, advice, severity=severity, edits=(Edit((*made.path, "inodes"), wanted),))


@rule(Severity.WARNING)
def inode_density_drops(topology: Topology) -> Iterator[Hit]:
    """A file system for small files is so large that mke2fs makes fewer inodes for its size.

    Why: without a ratio mke2fs makes an inode for each 16 KiB below 4 TiB, for each 32 KiB from there on, and
    for each 64 KiB from 16 TiB on. 4095 GiB get 268,369,920 inodes and 4097 GiB get 134,250,496: an array
    that grew by one part in two thousand holds half as many files when it is formatted again.

    Bad:
        workload: small-files
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}
        filesystems:
          mail:
            device: s0
            type: ext4    # <-- here

    Good:
        workload: small-files
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}
        filesystems:
          mail: {device: s0, type: ext4, inode_ratio: 16KiB}

    Source: https://github.com/tytso/e2fsprogs/blob/master/misc/mke2fs.conf.in (types big and huge), tried
    with e2fsprogs 1.47.0.
    """
    for made, geometry in ext_filesystems(topology):
        if density_drops(topology, made, made.device.size):
            yield _density(made, geometry)


def density_drops(topology: Topology, made: Made, size: int) -> bool:
    """Whether so many bytes are a file system for small files that gets fewer inodes for its size than a smaller one."""
    if (made.entry.workload or topology.layout.workload) != "small-files":
        return False
    # Where the files are counted, their number decides.
    counts = made.inodes_key or made.entry.files is not None
    return isinstance(made.entry.format, Ext) and not counts and size >= 4 * TIB


def _density(made: Made, geometry: ExtGeometry) -> Hit:
    ratio, dense = default_ratio(made.device.size), made.device.size // DENSE
    return Hit(
        (*made.path, "type"),
        f"{made.name} has {human(made.device.size)}, so mke2fs makes an inode for each {exact(ratio)}: "
        f"{geometry.inodes:,}; at the 16KiB of smaller file systems it would be {dense:,}",
        f"with {human(dense * INODE)} of inodes, or inodes and files as you expect them",
        edits=(Edit((*made.path, "inode_ratio"), exact(DENSE)),),
    )


@rule(Severity.WARNING)
def xfs_inode_limit(topology: Topology) -> Iterator[Hit]:
    """More files are expected on an XFS than the space that it may give to inodes can hold.

    Why: XFS makes inodes as they are needed, but only in a share of the space: 25 % below 1 TiB, 5 % below
    50 TiB, 1 % from there on. At 512 bytes each, 5 % of 5 TB are 488 million inodes. Past that it reports
    that no space is left. The share can be raised at any time, while it is mounted.

    Bad:
        hardware:
          disks: {d0: {size: 5TB}}
        filesystems:
          mail:
            device: d0
            type: xfs
            files: 500000000    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 5TB}}
        filesystems:
          mail: {device: d0, type: xfs, files: 400000000}

    Source: mkfs.xfs(8), `-i maxpct`; xfs_growfs(8), -m.
    """
    for made, geometry in xfs_filesystems(topology):
        files, most = made.entry.files, geometry.max_inodes
        if files is not None and files > most:
            share = -(-files * geometry.inode_size * 100 // geometry.size_bytes)
            advice = (
                f"raise the share once it is mounted: xfs_growfs -m {share}"
                if share <= 100
                else "choose a larger device"
            )
            yield Hit(
                (*made.path, "files"),
                f"{made.name} is to hold {files:,} files, and the {geometry.imaxpct} % of it that inodes may "
                f"take hold {most:,}",
                advice,
            )
