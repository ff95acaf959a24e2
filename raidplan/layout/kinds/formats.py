"""How each file system type is made: what it takes, its command, what is read back.

To add a type, add a class and a row to `FORMATS` here, and a row to `base/filesystems.py`, which has the rest of its life.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from raidplan.base.identity import fat_form
from raidplan.base.size import MIB, human
from raidplan.geometry import ext, xfs
from raidplan.layout.kinds.device import Device
from raidplan.plan.step import Value


class Wanted(Protocol):
    """What a layout says of the file system that is to be made."""

    @property
    def type(self) -> str:
        """A key of `FORMATS`."""

    @property
    def label(self) -> str | None:
        """None for no label."""

    @property
    def inodes(self) -> int | None:
        """ext: how many; None for as many as the ratio gives."""

    @property
    def inode_ratio(self) -> int | None:
        """ext: bytes for each inode; None for mke2fs' own."""

    @property
    def reserved(self) -> Fraction:
        """ext: blocks kept for root, in percent."""


FAT_REFUSED = frozenset('*?.,;:/\\|+=<>[]"')
"""What no FAT label has (dosfstools, `validate_volume_label`)."""


class BadLabel(ValueError):
    """The label, and not the size, is in the way: what is wrong, and what to do."""


class Format(Protocol):
    """What a file system type knows."""

    @property
    def keys(self) -> frozenset[str]:
        """The layout keys that only some types take."""

    @property
    def fsck_pass(self) -> int:
        """The last field of an fstab line."""

    def uuid(self, derived: str) -> str:
        """The UUID in the form that this type stores and fstab names."""

    def least(self, sector: int) -> int:
        """The smallest device it can be made on, bytes; 0 where that depends on more than the sector."""

    def check(self, wanted: Wanted, device: Device) -> None:
        """Raises ValueError if it cannot be made on this device."""

    def argv(self, wanted: Wanted, device: Device, uuid: str) -> tuple[str, ...]:
        """The command that makes it."""

    def expect(self, wanted: Wanted, device: Device) -> dict[str, Value]:
        """The properties to read back."""

    def say(self, wanted: Wanted, device: Device) -> str:
        """What is special about it, in words; may be empty."""

    def room(self, wanted: Wanted, device: Device) -> int:
        """Bytes for files: at most that, less what its own trees and tables come to need."""


@dataclass(frozen=True, slots=True)
class Ext:
    """ext2, ext3 and ext4: everything mke2fs would take from its configuration is written out."""

    keys: frozenset[str] = frozenset({"inodes", "inode_ratio", "reserved"})
    fsck_pass: int = 2

    def uuid(self, derived: str) -> str:
        return derived

    def least(self, sector: int) -> int:
        return 0

    def geometry(self, wanted: Wanted, device: Device) -> ext.ExtGeometry:
        """The file system as mke2fs will make it. Raises ValueError."""
        return ext.ext(
            device.size,
            inodes=wanted.inodes,
            inode_ratio=wanted.inode_ratio,
            reserved_percent=float(wanted.reserved),
            fstype=wanted.type,
            chunk_bytes=device.chunk,
            stripe_bytes=device.stripe,
            sector_bytes=device.logical_block,
        )

    def check(self, wanted: Wanted, device: Device) -> None:
        self.geometry(wanted, device)

    def argv(self, wanted: Wanted, device: Device, uuid: str) -> tuple[str, ...]:
        made = self.geometry(wanted, device)
        # No discard: it destroys what was there beyond recovery, and on parity arrays it is slow.
        extended = ("nodiscard", "lazy_itable_init=1", "lazy_journal_init=1")
        options = ext.mke2fs_argv(made, reserved_percent=float(wanted.reserved), extended=extended)
        label = ("-L", wanted.label) if wanted.label else ()
        return ("mke2fs", "-q", *options, "-U", uuid, *label, device.node, str(made.device_blocks))

    def expect(self, wanted: Wanted, device: Device) -> dict[str, Value]:
        made = self.geometry(wanted, device)
        return {
            "block": made.block_size,
            "blocks": made.blocks,
            "inodes": made.inodes,
            "reserved_blocks": made.reserved_blocks,
            "stride": made.stride,
            "stripe_width": made.stripe_width,
        }

    def say(self, wanted: Wanted, device: Device) -> str:
        made = self.geometry(wanted, device)
        return f"{made.inodes:,} inodes" + (
            f", stride {made.stride}, stripe width {made.stripe_width}" if made.stride else ""
        )

    def room(self, wanted: Wanted, device: Device) -> int:
        made = self.geometry(wanted, device)
        bitmaps = 2 * made.groups
        taken = made.journal_blocks + made.reserved_blocks + bitmaps
        return made.size_bytes - made.inode_table_bytes - taken * made.block_size


@dataclass(frozen=True, slots=True)
class Xfs:
    """XFS with the stripe of the array below."""

    keys: frozenset[str] = frozenset()
    fsck_pass: int = 0

    def uuid(self, derived: str) -> str:
        return derived

    def least(self, sector: int) -> int:
        return xfs.LEAST_BYTES

    def geometry(self, device: Device) -> xfs.XfsGeometry:
        """The file system as mkfs.xfs will make it. Raises ValueError."""
        # As mkfs.xfs by itself: the physical sector, or the logical one where that is more than a block.
        sector = device.physical_block if device.physical_block <= xfs.BLOCK else device.logical_block
        return xfs.xfs(device.size, su_bytes=device.chunk, sw=device.data_disks, sector_bytes=sector)

    def check(self, wanted: Wanted, device: Device) -> None:
        self.geometry(device)

    def argv(self, wanted: Wanted, device: Device, uuid: str) -> tuple[str, ...]:
        label = ("-L", wanted.label) if wanted.label else ()
        # -K: no discard. Without -f it refuses to write over anything it knows.
        options = xfs.mkfs_xfs_argv(self.geometry(device))
        return ("mkfs.xfs", "-q", "-K", "-m", f"crc=1,uuid={uuid}", *options, *label, device.node)

    def expect(self, wanted: Wanted, device: Device) -> dict[str, Value]:
        made = self.geometry(device)
        return {"block": made.block_size, "blocks": made.blocks, "su": made.su_bytes, "sw": made.sw}

    def say(self, wanted: Wanted, device: Device) -> str:
        return f"su {human(device.chunk)}, sw {device.data_disks}" if device.chunk else ""

    def room(self, wanted: Wanted, device: Device) -> int:
        made = self.geometry(device)
        return made.size_bytes - made.log_blocks * made.block_size


@dataclass(frozen=True, slots=True)
class Btrfs:
    """btrfs on one device: the redundancy is the array's, metadata is kept twice all the same."""

    keys: frozenset[str] = frozenset()
    fsck_pass: int = 0

    def uuid(self, derived: str) -> str:
        return derived

    def least(self, sector: int) -> int:
        return 256 * MIB

    def check(self, wanted: Wanted, device: Device) -> None:
        if device.size < self.least(device.logical_block):
            raise ValueError(f"btrfs needs 256 MiB to be of use, and {device.name} has {human(device.size)}")

    def argv(self, wanted: Wanted, device: Device, uuid: str) -> tuple[str, ...]:
        label = ("--label", wanted.label) if wanted.label else ()
        profile = ("--data", "single", "--metadata", "dup", "--nodiscard")
        return ("mkfs.btrfs", "--quiet", *profile, "--uuid", uuid, *label, device.node)

    def expect(self, wanted: Wanted, device: Device) -> dict[str, Value]:
        return {}

    def say(self, wanted: Wanted, device: Device) -> str:
        return ""

    def room(self, wanted: Wanted, device: Device) -> int:
        return device.size


@dataclass(frozen=True, slots=True)
class Vfat:
    """FAT32, for an EFI system partition."""

    keys: frozenset[str] = frozenset()
    fsck_pass: int = 2

    def uuid(self, derived: str) -> str:
        return fat_form(derived)

    def least(self, sector: int) -> int:
        return 33 * MIB if sector == 512 else 260 * MIB

    def check(self, wanted: Wanted, device: Device) -> None:
        least = self.least(device.logical_block)
        if device.size < least:
            raise ValueError(f"FAT32 needs {human(least)}, and {device.name} has {human(device.size)}")
        if wanted.label and (wanted.label != wanted.label.upper() or not wanted.label.isascii()):
            raise BadLabel(
                f"the FAT label '{wanted.label}' has lower case or letters beyond ASCII",
                "write it in capitals",
            )
        if set(wanted.label or "") & FAT_REFUSED:
            raise BadLabel(f"mkfs.vfat refuses the label '{wanted.label}'", "write letters, digits, - and _")

    def argv(self, wanted: Wanted, device: Device, uuid: str) -> tuple[str, ...]:
        label = ("-n", wanted.label) if wanted.label else ()
        return ("mkfs.vfat", "-F", "32", "-i", uuid.replace("-", ""), *label, device.node)

    def expect(self, wanted: Wanted, device: Device) -> dict[str, Value]:
        return {}

    def say(self, wanted: Wanted, device: Device) -> str:
        return ""

    def room(self, wanted: Wanted, device: Device) -> int:
        return device.size


FORMATS: dict[str, Format] = {
    "ext2": Ext(),
    "ext3": Ext(),
    "ext4": Ext(),
    "xfs": Xfs(),
    "btrfs": Btrfs(),
    "vfat": Vfat(),
}
