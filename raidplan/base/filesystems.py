"""The file system types as one table: the package that makes each, and how it is labelled, resized and checked later.

Sources: e2label(8), resize2fs(8), e2fsck(8), xfs_admin(8), xfs_growfs(8), xfs_repair(8), btrfs(8), btrfstune(8),
fatlabel(8), fsck.fat(8). How each is made depends on the device below it: `layout/kinds/formats.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from raidplan.base.packages import Package
from raidplan.base.ways import Way

Arguments = Callable[[str, str, str], tuple[str, ...]]
"""The arguments of a label command, from the device, the label (empty for none) and the mount point (empty for none)."""


def _device_first(node: str, label: str, mounted: str) -> tuple[str, ...]:
    return (node, label)


@dataclass(frozen=True, slots=True)
class FilesystemType:
    """A file system type from the day after mkfs on; `name` is libblkid's and the kernel's."""

    name: str
    package: Package
    version: tuple[str, ...]
    """The command that prints the version of the package."""
    check: tuple[str, ...]
    """The command that reads all of it without a change, and returns 0 if nothing is wrong; the device comes last."""
    label: tuple[str, ...]
    """The program that gives it another label, and its mode."""
    grown: Way
    label_bytes: int
    """The longest label."""
    label_arguments: Arguments = _device_first
    labelled_mounted: bool = True
    """Takes another label also while it is mounted."""
    shrunk: Way | None = None
    """None where nothing makes it smaller."""
    converted: Mapping[str, Way] | None = None
    """The types that it can become while the data stays."""
    another_uuid: str = ""
    """The command that gives it a UUID of its own and keeps all data; empty where there is none."""
    module: str = ""
    """The kernel module that a plan loads before anything is overwritten; empty for the types that every Debian kernel has."""

    @property
    def labelled(self) -> Way:
        """How it gets another label."""
        return Way(" ".join(self.label), "" if self.labelled_mounted else "unmounted")

    def relabel(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        """The command that gives it another label. Raises ValueError with what to do where the program does not take it."""
        arguments = self.label_arguments(node, label, mounted)
        if mounted and not self.labelled_mounted:
            raise ValueError(
                f"{self.name} takes another label only while it is not mounted: umount {mounted}, then apply again"
            )
        return (*self.label, *arguments)


PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Labels that xfs_admin, a shell script, and xfs_db, which splits its commands at blanks, take for what they are."""


def _xfs_label(node: str, label: str, mounted: str) -> tuple[str, ...]:
    if label and not PLAIN.fullmatch(label):
        raise ValueError(
            "by hand: xfs_io -c 'label -s NEW' at its mount point; xfs_admin takes letters, digits, ._- only"
        )
    return (label or "--", node)


def _btrfs_label(node: str, label: str, mounted: str) -> tuple[str, ...]:
    return (mounted or node, label)


def _fat_label(node: str, label: str, mounted: str) -> tuple[str, ...]:
    return (node, label) if label else ("--reset", node)


EXT2 = FilesystemType(
    name="ext2",
    package=Package(
        "e2fsprogs",
        ("mke2fs",),
        "1.43",
        "1.47",
        "https://github.com/tytso/e2fsprogs/blob/master/doc/RelNotes",
    ),
    version=("mke2fs", "-V"),
    check=("e2fsck", "-f", "-n"),
    label=("e2label",),
    label_bytes=16,
    grown=Way("resize2fs"),
    shrunk=Way("resize2fs", "unmounted, before its device is made smaller, if its files fit"),
    converted={"ext3": Way("tune2fs -j"), "ext4": Way("tune2fs -O extents,has_journal")},
    another_uuid="tune2fs -U random",
)

TYPES = (
    EXT2,
    replace(EXT2, name="ext3", converted={"ext4": Way("tune2fs -O extents")}),
    replace(EXT2, name="ext4", converted=None),
    FilesystemType(
        name="xfs",
        package=Package(
            "xfsprogs",
            ("mkfs.xfs",),
            "4.2",
            "6.12",
            "https://git.kernel.org/pub/scm/fs/xfs/xfsprogs-dev.git/tree/doc/CHANGES",
        ),
        version=("mkfs.xfs", "-V"),
        check=("xfs_repair", "-n"),
        label=("xfs_admin", "-L"),
        label_bytes=12,
        label_arguments=_xfs_label,
        labelled_mounted=False,
        grown=Way("xfs_growfs"),
        another_uuid="xfs_admin -U generate",
    ),
    FilesystemType(
        name="btrfs",
        package=Package(
            "btrfs-progs",
            ("mkfs.btrfs",),
            "4.3",
            "6.19",
            "https://github.com/kdave/btrfs-progs/blob/v6.19/CHANGES",
        ),
        version=("mkfs.btrfs", "--version"),
        check=("btrfs", "check", "--readonly"),
        label=("btrfs", "filesystem", "label"),
        label_bytes=255,
        label_arguments=_btrfs_label,
        grown=Way("btrfs filesystem resize"),
        shrunk=Way("btrfs filesystem resize", "before its device is made smaller, if its files fit"),
        another_uuid="btrfstune -u",
    ),
    FilesystemType(
        name="vfat",
        package=Package("dosfstools", ("mkfs.vfat",)),
        version=("mkfs.vfat", "--help"),
        check=("fsck.vfat", "-n"),
        label=("fatlabel",),
        label_bytes=11,
        label_arguments=_fat_label,
        labelled_mounted=False,
        grown=Way("none", "nothing here grows vfat: it stays as large as it is, with its files"),
    ),
)
FILESYSTEMS = {each.name: each for each in TYPES}


def packages() -> list[Package]:
    """The packages of all types, each once."""
    return list(dict.fromkeys(each.package for each in FILESYSTEMS.values()))
