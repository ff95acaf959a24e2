"""Rules about what a file system type can hold, and what it keeps back."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import DEFAULT_CHUNK
from raidplan.base.size import exact, human
from raidplan.geometry.ext import FSTYPES, MOST_STRIDE, default_block
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.made_filesystems import Made, can_be_made, ext_filesystems, filesystems
from raidplan.rules.lib.subjects import gb, tb
from raidplan.topology import Topology

BULK = 10**12
"""Bytes from which 5 % are too much to keep for root."""


@rule(Severity.ERROR)
def filesystem_too_large(topology: Topology) -> Iterator[Hit]:
    """A device is larger than the file system on it can be.

    Why: ext2 and ext3 count blocks in 32 bits, so with blocks of 4 KiB they end one block short of 16 TiB,
    and mke2fs refuses more. ext4 as raidplan makes it has 64 bits (1 EiB), XFS 8 EiB. It is a warning for
    FAT32, which counts sectors in 32 bits: mkfs.vfat leaves what is beyond 2 TiB (16 TiB with sectors of
    4 KiB) unused.

    Bad:
        hardware:
          disks: {d<0-4>: {size: 8TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>]}
        filesystems:
          data:
            device: s0
            type: ext3    # <-- here

    Good:
        hardware:
          disks: {d<0-4>: {size: 8TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>]}
        filesystems:
          data: {device: s0, type: ext4}

    Source: https://github.com/tytso/e2fsprogs/blob/master/misc/mke2fs.c;
    https://github.com/dosfstools/dosfstools/blob/master/src/mkfs.fat.c.
    """
    for made in filesystems(topology):
        kind, size, name = made.entry.format, made.device.size, made.device.name
        end = kind.end(made.device.logical_block)
        if not end or size < end:
            continue
        path = (*made.path, "type")
        if kind.wastes:
            message = f"{name} has {human(size)}, and {kind.called} uses no more than {human(end)} of it"
            yield Hit(path, message, f"make the device smaller; {kind.wastes}", severity=Severity.WARNING)
        else:
            fits = made.entry.type in FSTYPES and can_be_made(made.entry.changed(type="ext4"), made.device)
            yield Hit(
                path,
                f"{name} has {human(size)}, and {kind.called} ends at {human(end)}",
                "or choose xfs" if fits else "choose ext4 or xfs",
                edits=(Edit(path, "ext4"),) if fits else (),
            )


@rule(Severity.ERROR)
def filesystem_too_small(topology: Topology) -> Iterator[Hit]:
    """A device is smaller than the file system on it must be.

    Why: mkfs.xfs refuses less than 300 MiB since xfsprogs 5.19, as a log and groups that small made for slow
    and fragile file systems. FAT32 needs 65,525 clusters, so 33 MiB with sectors of 512 bytes and 260 MiB
    with sectors of 4 KiB, and btrfs is of no use below 256 MiB. ext4 has no such limit.

    Bad:
        hardware:
          disks: {d0: {size: 3TB, partitions: {boot: {size: 256MiB}}}}
        filesystems:
          boot:
            device: d0.boot
            type: xfs    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 3TB, partitions: {boot: {size: 256MiB}}}}
        filesystems:
          boot: {device: d0.boot, type: ext4}

    Source: mkfs.xfs(8), tried with xfsprogs 6.1; Microsoft, "FAT32 File System Specification" 1.03.
    """
    for made in filesystems(topology):
        least = made.entry.format.least(made.device.logical_block)
        if made.device.size < least:
            yield Hit(
                (*made.path, "type"),
                f"{made.device.name} has {human(made.device.size)}, and {made.entry.type} needs {human(least)}",
                f"give it {human(least).replace(' ', '')}"
                + ("" if made.entry.type == "vfat" else ", or choose ext4"),
            )


@rule(Severity.NOTE)
def reserved_on_bulk_data(topology: Topology) -> Iterator[Hit]:
    """A large file system for data keeps a twentieth of its space for root, as nothing else is said.

    Why: ext2, ext3 and ext4 keep 5 % of their blocks for root, so that a full disk does not stop the system
    and files can be laid out in one piece. For data that are not the system's, little of that is needed: of
    24 TB it is 1.2 TB. It can be changed at any time with `tune2fs -m`. `reserved: 5%` says that it is meant.

    Bad:
        hardware:
          disks: {d0: {size: 24TB}}
        filesystems:
          films:    # <-- here
            device: d0
            type: ext4
            mount: /srv/films

    Good:
        hardware:
          disks: {d0: {size: 24TB}}
        filesystems:
          films: {device: d0, type: ext4, mount: /srv/films, reserved: 1%}

    Source: mke2fs(8), -m; the threshold of 1 TB is raidplan's own.
    """
    for made, geometry in ext_filesystems(topology):
        chosen = "reserved" in made.entry.written or made.entry.mount in SYSTEM_MOUNTS
        if chosen or geometry.size_bytes < BULK:
            continue
        kept = geometry.reserved_blocks * geometry.block_size
        yield Hit(
            made.path,
            f"{made.name} keeps {made.entry.reserved}% for root, {gb(kept)} of {tb(geometry.size_bytes)}",
            f"which leaves {gb(kept * 4 / 5)} more for data",
            edits=(Edit((*made.path, "reserved"), "1%"),),
        )


@rule(Severity.ERROR)
def chunk_beyond_stride(topology: Topology) -> Iterator[Hit]:
    """The chunk of the array below is larger than ext2, ext3 and ext4 can note.

    Why: the superblock has 16 bits for the stride, counted in blocks. mke2fs takes 70000 without a word and
    stores 4464, so the file system spreads its tables as if the chunk were another one. With blocks of 4 KiB
    the largest chunk that fits is 128 MiB, as it must be a power of two.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid0, members: [d<0-3>], chunk: 256MiB}
        filesystems:
          data:
            device: s0    # <-- here
            type: ext4

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid0, members: [d<0-3>], chunk: 512KiB}
        filesystems:
          data: {device: s0, type: ext4}

    Source: https://github.com/tytso/e2fsprogs/blob/master/lib/ext2fs/ext2_fs.h (`s_raid_stride`); tried with
    e2fsprogs 1.47.0.
    """
    for made in filesystems(topology):
        if made.entry.type not in FSTYPES:
            continue
        block = default_block(made.device.size, made.device.logical_block)
        stride = made.device.chunk // block
        if stride > MOST_STRIDE:
            edits = _chunk(topology, made, DEFAULT_CHUNK)
            yield Hit(
                (*made.path, "device"),
                f"the chunk of {made.device.name}, {human(made.device.chunk)}, is {stride:,} blocks of stride; "
                f"{made.entry.type} has 16 bits for it, 0 to {MOST_STRIDE:,}",
                "or choose xfs" if edits else "choose a chunk such as 512KiB for the array, or xfs",
                edits=edits,
            )


@rule(Severity.WARNING)
def stripe_beyond_group(topology: Topology) -> Iterator[Hit]:
    """The full stripe of the array below is wider than a block group of ext4, which then ignores it.

    Why: ext4's allocator aligns large files to the stripe only if that fits into a block group, 128 MiB with
    blocks of 4 KiB. A wider one is passed over in silence for the chunk, or for nothing, so that nearly every
    write to a parity array has to read first.

    Bad:
        hardware:
          disks: {d<0-9>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-9>], chunk: 32MiB}
        filesystems:
          data:
            device: s0    # <-- here
            type: ext4

    Good:
        hardware:
          disks: {d<0-9>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-9>], chunk: 512KiB}
        filesystems:
          data: {device: s0, type: ext4}

    Source: https://github.com/torvalds/linux/blob/master/fs/ext4/super.c (`ext4_get_stripe_size`).
    """
    for made, geometry in ext_filesystems(topology):
        if geometry.fstype != "ext4" or geometry.stripe_width <= geometry.blocks_per_group:
            continue
        group = geometry.blocks_per_group * geometry.block_size
        most = 1 << (group // made.device.data_disks).bit_length() - 1
        edits = _chunk(topology, made, min(most, DEFAULT_CHUNK))
        yield Hit(
            (*made.path, "device"),
            f"a full stripe of {made.device.name} has {human(made.device.stripe)}, more than a block group of "
            f"{made.name}, {human(group)}: ext4 does not align to it",
            f"at most {exact(most)}, or choose xfs"
            if edits
            else f"choose a chunk of at most {exact(most)} for the array, or xfs",
            edits=edits,
        )


def _chunk(topology: Topology, made: Made, chunk: int) -> tuple[Edit, ...]:
    """Another chunk for the array right below; none where there is no such array, or more is written for its stripe."""
    array = topology.layout.arrays.get(made.entry.device)
    nested = array is not None and any(member in topology.layout.arrays for member in array.named_members)
    tuned = (
        array is None
        or nested
        or array.read_ahead is not None
        or any("=" in each for each in made.entry.options)
    )
    return () if tuned else (Edit(("arrays", made.entry.device, "chunk"), exact(chunk)),)
