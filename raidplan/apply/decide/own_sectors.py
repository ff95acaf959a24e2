"""Sectors that sfdisk and pvcreate write, recognised by place and content, whatever part of them an interrupted one has written.

A GPT by the UEFI specification 2.10, 5.3; the label of a physical volume and the head of its empty metadata area by
`struct label_header` and `struct mda_header` of lvm2.
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterator

from raidplan.base.reader import Own, little
from raidplan.base.size import SECTOR
from raidplan.facts.tables import GPT, ROW, entry_of, extent
from raidplan.plan import Proof

PROTECTIVE = bytes.fromhex("000200eeffffff01000000")
"""The entry of the boot sector that protects a GPT, without its first byte and the size."""
HEADER = 92
LABEL, AREA = 512, 4096
"""Where pvcreate puts its label, and the head of the metadata area."""
AREA_MAGIC = b" LVM2 x[5A%r0N*>\1\0\0\0"
CHECKED_FROM = 0xF597A6CF
"""The initial value of LVM's checksums."""


def of_table(proof: Proof, script: str, size: int, sector: int) -> Own:
    """The sectors of the table that sfdisk makes by this `script` on a disk of `size` bytes with logical blocks of `sector` bytes."""
    front, back = extent(size, sector)
    most = size // sector - 1
    boot = bytes(447) + PROTECTIVE + struct.pack("<I", min(most, 2**32 - 1)) + bytes(48) + b"\x55\xaa"
    disk = uuid.UUID(proof.key).bytes_le

    def own(offset: int, data: bytes) -> bool:
        if offset == 0:
            return data == boot
        if offset in (sector, size - sector):
            checked = data[:16] + bytes(4) + data[20:HEADER]
            whole = zlib.crc32(checked) == little(data, "I", 16) and not any(data[HEADER:])
            return data[:8] == GPT and data[56:72] == disk and whole
        start = next(
            (start for start in (2 * sector, back) if 0 <= offset - start < front - 2 * sector), None
        )
        return start is not None and all(_planned((offset - start) // ROW, data))

    def _planned(first: int, data: bytes) -> Iterator[bool]:
        rows = proof.expect["partitions"]
        assert isinstance(rows, list)
        for number in range(first, first + len(data) // ROW):
            row = data[(number - first) * ROW :][:ROW]
            entry = entry_of(number, row, sector)
            if entry is None:
                yield not any(row)
                continue
            planned = (
                number < len(rows) and rows[number] == f"{entry.uuid} {entry.start} {entry.size} {entry.type}"
            )
            named = f'uuid={entry.uuid.upper()}, name="{entry.name}"\n' in script
            letters = entry.name.encode("utf-16-le", "replace").ljust(72, b"\0")
            yield planned and named and row[48:] == bytes(8) + letters

    return own


def of_physical_volume(proof: Proof) -> Own:
    """The sectors of a physical volume that belongs to no group yet."""
    identity = proof.key.replace("-", "").encode()
    start = int(str(proof.expect["data_start"])) - AREA

    def own(offset: int, data: bytes) -> bool:
        if offset == LABEL:
            named = data[:8] == b"LABELONE" and little(data, "Q", 8) == 1 and data[24:32] == b"LVM2 001"
            return named and data[32:64] == identity and little(data, "I", 16) == _checksum(data[20:])
        if offset == AREA:
            head = AREA_MAGIC + struct.pack("<QQ", AREA, start)
            return data[:4] == struct.pack("<I", _checksum(data[4:])) and data[4:] == head.ljust(
                SECTOR - 4, b"\0"
            )
        return False

    return own


def _checksum(data: bytes) -> int:
    return zlib.crc32(data, CHECKED_FROM ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
