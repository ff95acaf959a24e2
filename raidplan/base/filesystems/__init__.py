"""The file system types, each one record with its whole life; to add one, add a module and a row here."""

from __future__ import annotations

from raidplan.base.filesystems.btrfs import BTRFS
from raidplan.base.filesystems.ext import EXT2, EXT3, EXT4
from raidplan.base.filesystems.f2fs import F2FS
from raidplan.base.filesystems.type import FilesystemType
from raidplan.base.filesystems.vfat import VFAT
from raidplan.base.filesystems.xfs import XFS
from raidplan.base.packages import Package

TYPES: tuple[FilesystemType, ...] = (EXT2, EXT3, EXT4, XFS, BTRFS, F2FS, VFAT)
FILESYSTEMS = {each.name: each for each in TYPES}


def packages() -> list[Package]:
    """The packages of all types, each once."""
    return list(dict.fromkeys(each.package for each in FILESYSTEMS.values()))


def uuid_modes() -> tuple[str, ...]:
    """The programs that give another UUID, with their modes."""
    return tuple(dict.fromkeys(each.uuid_mode for each in FILESYSTEMS.values() if each.uuid_mode))


def layout_keys() -> tuple[str, ...]:
    """The layout keys that only some types take, in the order in which they are looked at."""
    return tuple(dict.fromkeys(key for each in FILESYSTEMS.values() for key in each.keys))
