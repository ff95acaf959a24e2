"""Keys of a layout that an installer cannot be told, each at its place.

curtin calls `mdadm --create` with level, members, spares, name and metadata, and with nothing else (`mdadm_create` in its
curtin/block/mdadm.py, commit 737e305d); MAAS hands curtin what its schema has (storage_custom_schema.yaml, commit 74270790).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.base.levels import DEFAULT_CHUNK, LEVELS
from raidplan.base.size import human
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.model import Layout
from raidplan.topology import Topology


@dataclass(frozen=True, slots=True)
class Installer:
    """An installer: what can be said to it beyond members, spares, mount points and sizes."""

    name: str
    levels: frozenset[str]
    filesystems: frozenset[str]
    metadata: bool
    nested: bool
    """Arrays of arrays, and arrays of logical volumes."""
    made_with: bool
    """Labels, and options of the program that makes a file system."""
    swap_priority: bool


@dataclass(frozen=True, slots=True)
class Omission:
    """A thing that the installer does not make; `lasting` if what it makes instead cannot be changed into it afterwards."""

    path: Path
    message: str
    lasting: bool


CURTIN = Installer(
    "curtin",
    frozenset({"raid0", "raid1", "raid4", "raid5", "raid6", "raid10", "linear"}),
    frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat"}),
    metadata=True,
    nested=True,
    made_with=True,
    swap_priority=True,
)
MAAS = Installer(
    "MAAS",
    frozenset({"raid0", "raid1", "raid5", "raid6", "raid10"}),
    frozenset({"ext2", "ext4", "xfs", "btrfs", "vfat"}),
    metadata=False,
    nested=False,
    made_with=False,
    swap_priority=False,
)
TUNED = ("stripe_cache_size", "read_ahead", "sync_speed_min", "sync_speed_max", "group_thread_count")
"""Keys of an array that are set on a running one."""


def omissions(topology: Topology, installer: Installer) -> Iterator[Omission]:
    """Each key that is not carried over, in the layout's order."""
    layout = topology.layout
    for name, disk in layout.hardware.disks.items():
        if not (disk.serial or disk.wwn or disk.path):
            yield Omission(
                ("hardware", "disks", name), "a disk without serial, wwn and path could be any", True
            )
        if disk.table_stays:
            which = f"{name} is kept" if disk.keep else f"a partition of {name} is kept"
            kept = f"{which}, and an installer writes over every disk that it is given"
            yield Omission(("hardware", "disks", name, "keep"), kept, True)
    for name, array in layout.arrays.items():
        yield from _of_array(("arrays", name), array, layout, installer)
    if not installer.nested:
        yield from _called_twice(layout)
    for name in layout.encryption:
        yield Omission(("encryption", name), "encryption", True)
    for name, group in layout.volume_groups.items():
        if "extent" in group.written:
            yield Omission(("volume_groups", name, "extent"), f"extents of {human(group.extent)}", True)
        for volume, entry in group.volumes.items():
            if "read_ahead" in entry.written:
                yield Omission(("volume_groups", name, "volumes", volume, "read_ahead"), "read-ahead", False)
    for name, filesystem in layout.filesystems.items():
        yield from _of_filesystem(("filesystems", name), filesystem, installer)
    for name, swap in layout.swap.items():
        if swap.file:
            yield Omission(("swap", name, "file"), "a swap file", False)
        elif swap.priority is not None and not installer.swap_priority:
            yield Omission(("swap", name, "priority"), f"priority {swap.priority}", False)
        if swap.label and not installer.made_with:
            yield Omission(("swap", name, "label"), f"label {swap.label}", False)
    if layout.boot.degraded == "wait":
        yield Omission(("boot", "degraded"), "an array that lacks a member is started at boot", False)
    for key in ("mail", "scrub"):
        if getattr(layout.monitoring, key):
            yield Omission(("monitoring", key), f"{key}: {getattr(layout.monitoring, key)}", False)


def _called_twice(layout: Layout) -> Iterator[Omission]:
    """Names that stand for two things where arrays, groups and volumes are called by one word alone."""
    seen = {*layout.arrays}
    for name, group in layout.volume_groups.items():
        for path, each in ((("volume_groups", name), name), *((("volume_groups", name, "volumes", v), v) for v in group.volumes)):  # fmt: skip
            if each in seen:
                yield Omission(path, f"two things with the name {each}", True)
            seen.add(each)


def _of_array(path: Path, array: Array, layout: Layout, installer: Installer) -> Iterator[Omission]:
    level = LEVELS[array.level]
    if array.level not in installer.levels:
        yield Omission((*path, "level"), f"level {array.level}", True)
    if array.effective_chunk not in (None, DEFAULT_CHUNK):
        assert array.effective_chunk is not None
        made = f"chunks of {human(array.effective_chunk)}; mdadm's default of {human(DEFAULT_CHUNK)} is made"
        yield Omission((*path, "chunk"), made, True)
    default = next(iter(level.layouts), None)
    if array.effective_layout != default:
        yield Omission((*path, "layout"), f"layout {array.effective_layout}; {default} is made", True)
    if array.metadata != "1.2" and not installer.metadata:
        yield Omission((*path, "metadata"), f"metadata {array.metadata}; 1.2 is made", True)
    if array.journal:
        yield Omission((*path, "journal"), f"the journal {array.journal}", True)
    elif array.policy == "ppl" or (array.policy == "resync" and level.redundant):
        key = "consistency" if array.consistency else "bitmap"
        yield Omission((*path, key), f"consistency policy {array.policy}: mdadm decides by the size", False)
    if not installer.nested:
        for number, member in enumerate(array.named_members):
            if member in layout.arrays or member.partition(".")[0] in layout.volume_groups:
                yield Omission((*path, "members", number), f"a member that is no disk or partition: {member}", True)  # fmt: skip
    for key in TUNED:
        if key in array.written:
            yield Omission((*path, key), key, False)
    if array.initial_sync != "run":
        yield Omission((*path, "initial_sync"), "the initial sync runs", False)


def _of_filesystem(path: Path, entry: Filesystem, installer: Installer) -> Iterator[Omission]:
    if entry.type not in installer.filesystems:
        yield Omission((*path, "type"), f"file systems of type {entry.type}", True)
    if installer.made_with:
        return
    for key in ("inodes", "inode_ratio"):
        if key in entry.written:
            yield Omission((*path, key), f"the number of inodes ({key})", True)
    for key in ("label", "reserved"):
        if key in entry.written:
            yield Omission((*path, key), f"{key}", False)
