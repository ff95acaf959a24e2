"""CRC-32C (Castagnoli), with which btrfs and ext4 guard their metadata; the standard library has no function for it."""

from __future__ import annotations

POLYNOMIAL = 0x82F63B78
"""The polynomial of RFC 3720, appendix B.4, bits reversed."""


def _row(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (POLYNOMIAL if value & 1 else 0)
    return value


_TABLE = tuple(map(_row, range(256)))


def crc32c(data: bytes) -> int:
    """The checksum of the data."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF
