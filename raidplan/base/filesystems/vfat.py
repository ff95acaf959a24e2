"""FAT32, for an EFI system partition.

Sources: mkfs.fat(8), fatlabel(8), fsck.fat(8), Microsoft's FAT specification 1.03.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from raidplan.base.filesystems.type import BadLabel, Below, FilesystemType, Wanted
from raidplan.base.identity import fat_form
from raidplan.base.magic import Magic
from raidplan.base.packages import Behaviour, Package
from raidplan.base.reader import Own, Reader, all_are, little, without
from raidplan.base.size import KIB, MIB, SECTOR, human
from raidplan.plan.changes import Before, by_hand
from raidplan.plan.step import Value

REFUSED = frozenset('*?.,;:/\\|+=<>[]"')
"""Characters that no FAT label has (dosfstools, `validate_volume_label`)."""
MOST_SECTORS = 2**32 - 1
"""Sectors that FAT32 can count."""
BOOT = (0, *(6 * sector for sector in (SECTOR, 4 * KIB)))
"""The places of the boot sector, and of its copy in the seventh sector, in bytes."""
TABLE, DRAWN = 446, slice(440, 444)
"""In the boot sector of a whole disk: a partition table, which mkfs.fat writes for other systems, and the number of the disk before it."""


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

    def repeat(self, argv: Sequence[str], read: Reader) -> tuple[str, ...]:
        """The command with what the device decides, as the boot sector says: sectors, geometry, to which mkfs rounds the size, and the start on the disk."""
        boot = next((found for at in BOOT if _is_boot(found := read(at, SECTOR))), b"")
        if not boot:
            return tuple(argv)
        (sector,) = struct.unpack_from("<H", boot, 11)
        track, heads, hidden = struct.unpack_from("<HHI", boot, 24)
        table = ("--mbr=y",) if boot[TABLE] else ()
        return (argv[0], "-S", str(sector), "-g", f"{heads}/{track}", "-h", str(hidden), *table, *argv[1:])

    def scratch(self, size: int, expect: Mapping[str, Value]) -> int:
        """Two numbers of 4 bytes for each cluster, which has 32 KiB on all that is large."""
        return size // (4 * KIB)

    def own_again(self, again: Reader) -> Own:
        """The label, which is the first entry of the root folder, has the time of day (6); a table the number that mkfs drew."""
        root = _root(again).start

        def own(offset: int, sector: bytes) -> bool:
            made = again(offset, len(sector))
            if offset == root and made[0]:
                time, date = sector[22:24], sector[24:26]
                made = made[:14] + time + date + date + made[20:22] + time + date + made[26:]
            elif _is_boot(made) and made[TABLE]:
                made = made[: DRAWN.start] + sector[DRAWN] + made[DRAWN.stop :]
            return sector == made

        return own

    def as_made(self, read: Reader, again: Reader, *, old: bool = False) -> bool:
        """Each sector up to the end of the root folder is empty or mkfs's."""
        end, own = _root(again).stop, self.own_again(again)
        return all(all_are(0, without(own, read, at, min(MIB, end - at))) for at in range(0, end, MIB))

    def label_arguments(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        return (node, label) if label else ("--reset", node)


def _is_boot(sector: bytes) -> bool:
    """A boot sector of FAT32, or its copy."""
    return sector[82:90] == b"FAT32   " and sector[510:] == b"\x55\xaa"


def _root(read: Reader) -> range:
    """The place of the root folder, which is the first cluster, in bytes (3.1 and 3.3)."""
    boot = read(0, SECTOR)
    sector, cluster, reserved, fats = struct.unpack_from("<HBHB", boot, 11)
    start = sector * (reserved + fats * little(boot, "I", 36))
    return range(start, start + sector * cluster)


VFAT = Vfat(
    name="vfat",
    title="FAT32",
    package=Package("dosfstools", ("mkfs.vfat",)),
    version=("mkfs.vfat", "--help"),
    behaviours=(
        Behaviour("dosfstools", "4.0", "a label of more than 11 bytes is refused", "so is a layout with one", "measured with 4.2"),
    ),
    fsck_pass=2,
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
