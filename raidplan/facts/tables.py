"""Partition tables read from the bytes on the disk, whatever the kernel or udev still remember."""

from __future__ import annotations

import struct
import uuid
import zlib
from dataclasses import dataclass

from raidplan.base.reader import Reader
from raidplan.plan.partitions import PartitionRow

MOST_ENTRIES = 1024
"""More partitions than any disk has; a header that claims more is not read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A partition in a table; `start` and `size` in bytes, `uuid` and `type` in lower case."""

    number: int
    uuid: str
    type: str
    start: int
    size: int
    name: str = ""

    @property
    def row(self) -> PartitionRow:
        """The partition as proofs have it."""
        return PartitionRow(self.uuid, self.start, self.size, self.type)


@dataclass(frozen=True, slots=True)
class Table:
    """A partition table; `uuid` is the GUID of a GPT, empty for a DOS table."""

    kind: str
    uuid: str
    entries: tuple[Entry, ...]


def read_table(read: Reader, sector: int) -> Table | None:
    """The table of a disk with logical blocks of `sector` bytes, or None if there is no valid one."""
    return gpt(read, sector, sector) or _dos(read, sector)


_HEADER = struct.Struct("<8sIIIIQQQQ16sQIII")
GPT = b"EFI PART"


def gpt(read: Reader, sector: int, at: int) -> Table | None:
    """The GPT (UEFI specification 2.10, 5.3) with its header `at` this byte, if both its checksums are right."""
    header = read(at, sector)
    if len(header) < _HEADER.size:
        return None
    fields = _HEADER.unpack_from(header)
    signature, length, crc, disk, first, count, size, entries_crc = (
        fields[i] for i in (0, 2, 3, 9, 10, 11, 12, 13)
    )
    if signature != GPT or not _HEADER.size <= length <= sector:
        return None
    if zlib.crc32(header[:16] + bytes(4) + header[20:length]) != crc:
        return None
    if count > MOST_ENTRIES or not 128 <= size <= sector:
        return None
    rows = read(first * sector, count * size)
    if len(rows) != count * size or zlib.crc32(rows) != entries_crc:
        return None
    found = (entry_of(number, rows[number * size :], sector) for number in range(count))
    return Table("gpt", str(uuid.UUID(bytes_le=disk)), tuple(entry for entry in found if entry))


ROW = 128
ROWS = 128 * ROW
"""Bytes of an entry as every tool makes it, and of those that every GPT has room for (UEFI specification 2.10, 5.3.1)."""


def extent(size: int, sector: int) -> tuple[int, int]:
    """The end of a GPT, with the boot sector before it, and the start of its backup: in bytes of a disk of `size` bytes."""
    rows = -(-ROWS // sector) * sector
    return 2 * sector + rows, size - sector - rows


def entry_of(number: int, row: bytes, sector: int) -> Entry | None:
    """The entry of a GPT in these bytes, the first with the number 0; None if it is not in use."""
    kind, unique, first, last, _, name = struct.unpack_from("<16s16sQQQ72s", row)
    if kind == bytes(16):
        return None
    return Entry(
        number=number + 1,
        uuid=str(uuid.UUID(bytes_le=unique)),
        type=str(uuid.UUID(bytes_le=kind)),
        start=first * sector,
        size=(last - first + 1) * sector,
        name=name.decode("utf-16-le", errors="replace").partition("\0")[0],
    )


def _dos(read: Reader, sector: int) -> Table | None:
    """The four primary entries of a DOS table; the kernel makes the UUID of disk id and number."""
    boot = read(0, 512)
    if len(boot) < 512 or boot[510:] != b"\x55\xaa":
        return None
    disk = struct.unpack_from("<I", boot, 440)[0]
    rows = (struct.unpack_from("<B3xB3xII", boot, 446 + 16 * i) for i in range(4))
    found = [(number, row) for number, row in enumerate(rows, 1) if row[1]]
    if any(kind == 0xEE or active & 0x7F for _, (active, kind, _, _) in found) or not found:
        return None  # the protective entry of a broken GPT, or a boot sector of a file system
    return Table("dos", "", tuple(
        Entry(number, f"{disk:08x}-{number:02x}", f"0x{kind:x}", first * sector, size * sector)
        for number, (_, kind, first, size) in found
    ))  # fmt: skip
