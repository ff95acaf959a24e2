"""The function that reads bytes of a device or an image; one such that shows zeroes where an interrupted mkfs or mdadm may have written."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache

from raidplan.base.size import SECTOR, align_up

Reader = Callable[[int, int], bytes]
"""Bytes at (offset, size); fewer at the end."""
Own = Callable[[int, bytes], bool]
"""Whether a program, such as mkfs, wrote the bytes of a sector, which is at this offset."""
ERASED = 0xFF
"""Each byte of flash memory that was erased, and never written since."""


def little(block: bytes, form: str, offset: int) -> int:
    """A number of the format `form` (of `struct`), the lowest byte first."""
    return int(struct.unpack_from(f"<{form}", block, offset)[0])


def same_as(again: Reader) -> Own:
    """A function that recognises the sectors that another reader has at the same place."""
    return lambda offset, sector: again(offset, len(sector)) == sector


def either(one: Own | None, other: Own | None) -> Own | None:
    """A function that recognises what one of the two does; None where there is none."""
    if one and other:
        return lambda offset, sector: one(offset, sector) or other(offset, sector)
    return one or other


def without(own: Own, read: Reader, offset: int, size: int) -> bytes:
    """The bytes of a device with zeroes in place of the program's own sectors. Raises OSError."""
    first = offset // SECTOR * SECTOR
    whole = read(first, offset - first + size)
    if all_are(0, whole):
        return whole[offset - first :]
    data = bytearray(whole)
    for at in range(0, len(data), SECTOR):
        sector = bytes(data[at : at + SECTOR])
        if not all_are(0, sector) and own(first + at, sector):
            data[at : at + len(sector)] = bytes(len(sector))
    return bytes(data[offset - first :])


def unerased(read: Reader, offset: int, size: int) -> bytes:
    """The bytes of a device with zeroes in place of the sectors of erased flash. Raises OSError."""
    first = offset // SECTOR * SECTOR
    whole = read(first, align_up(offset + size, SECTOR) - first)
    if all_are(ERASED, whole):
        whole = bytes(len(whole))
    shown = without(lambda at, sector: all_are(ERASED, sector), lambda at, size: whole, first, len(whole))
    return shown[offset - first :][:size]


def all_are(byte: int, data: bytes) -> bool:
    """Whether every byte of the data is this one. Devices are read whole: `strip` takes sixty times as long as a comparison."""
    return data == _repeated(byte, len(data))


@lru_cache(maxsize=16)
def _repeated(byte: int, size: int) -> bytes:
    return bytes([byte]) * size


def blanked(data: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """The data with zeroes in these ranges."""
    changed = bytearray(data)
    for start, end in ranges:
        if 0 <= start < len(data):
            changed[start:end] = bytes(end - start)
    return bytes(changed)
