"""FAT32, for an EFI system partition.

Sources: mkfs.fat(8), fatlabel(8), fsck.fat(8), Microsoft's FAT specification 1.03.
"""

from __future__ import annotations

import struct

from raidplan.base.filesystems.type import BadLabel, Below, FilesystemType, Wanted
from raidplan.base.identity import fat_form
from raidplan.base.magic import Magic
from raidplan.base.packages import Behaviour, Package
from raidplan.base.reader import Reader, all_are, little, without
from raidplan.base.size import MIB, human
from raidplan.plan.changes import Before, by_hand

REFUSED = frozenset('*?.,;:/\\|+=<>[]"')
"""Characters that no FAT label has (dosfstools, `validate_volume_label`)."""
MOST_SECTORS = 2**32 - 1
"""Sectors that FAT32 can count."""


class Vfat(FilesystemType):
    """FAT32, whose boot sector mkfs writes first."""

    __slots__ = ()

    def uuid(self, derived: str) -> str:
        return fat_form(derived)

    def least(self, sector: int) -> int:
        return 33 * MIB if sector == 512 else 260 * MIB

    def end(self, sector: int) -> int:
        return (MOST_SECTORS + 1) * sector

    def fits(self, wanted: Wanted, device: Below) -> None:
        least = self.least(device.logical_block)
        if device.size < least:
            raise ValueError(f"FAT32 needs {human(least)}, and {device.name} has {human(device.size)}")
        if wanted.label and (wanted.label != wanted.label.upper() or not wanted.label.isascii()):
            raise BadLabel(
                f"the FAT label '{wanted.label}' has lower case or letters beyond ASCII",
                "write it in capitals",
            )
        if set(wanted.label or "") & REFUSED:
            raise BadLabel(f"mkfs.vfat refuses the label '{wanted.label}'", "write letters, digits, - and _")

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        label = ("-n", wanted.label) if wanted.label else ()
        return ("mkfs.vfat", "-F", "32", "-i", uuid.replace("-", ""), *label, device.node)

    def as_made(self, read: Reader, again: Reader) -> bool:
        """Each sector up to the root folder is empty or mkfs's."""
        end = _files(again)
        parts = (without(self.own_again(again), read, at, min(MIB, end - at)) for at in range(0, end, MIB))
        return all(all_are(0, part) for part in parts)

    def label_arguments(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        return (node, label) if label else ("--reset", node)


def _files(read: Reader) -> int:
    """The start of the second cluster, behind the root folder, in bytes (3.1 and 3.3)."""
    boot = read(0, 512)
    sector, cluster, reserved, fats = struct.unpack_from("<HBHB", boot, 11)
    return int(sector * (reserved + fats * little(boot, "I", 36) + cluster))


VFAT = Vfat(
    name="vfat",
    title="FAT32",
    package=Package("dosfstools", ("mkfs.vfat",)),
    version=("mkfs.vfat", "--help"),
    behaviours=(
        Behaviour("dosfstools", "4.0", "a label of more than 11 bytes is refused", "so is a layout with one", "measured with 4.2"),
    ),
    fsck_pass=2,
    clock="SOURCE_DATE_EPOCH",  # from 4.2 on
    magics=(
        Magic("vfat", (0x52,), b"FAT32   ", label=(0x47, 11)),
        Magic("vfat", (0x36,), b"FAT16   ", label=(0x2B, 11)),
        Magic("vfat", (0x36,), b"FAT12   ", label=(0x2B, 11)),
    ),
    check=("fsck.vfat", "-n"),
    label=("fatlabel",),
    label_bytes=11,
    labelled_mounted=False,
    grown=by_hand(before=(Before.STAYS_SMALL,), called="none"),
    wastes="an EFI system partition needs 512MiB",
    repeats=True,
    compared=True,
)  # fmt: skip
