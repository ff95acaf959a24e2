"""Superblocks of md as bytes."""

from __future__ import annotations

import struct


def superblock(uuid: str, data_offset: int, data_size: int, bitmap: int = 0) -> bytes:
    """Of version 1.2, with its checksum (md_p.h); `bitmap` sectors from its begin to that of the bitmap."""
    block = bytearray(256 + 4)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    block[16:32] = bytes.fromhex(uuid.replace("-", ""))
    struct.pack_into("<i", block, 72, 1)
    struct.pack_into("<Ii", block, 92, 2, bitmap)
    struct.pack_into("<QQ", block, 128, data_offset // 512, data_size // 512)
    struct.pack_into("<I", block, 220, 2)
    total = sum(struct.unpack(f"<{len(block) // 4}I", block))
    struct.pack_into("<I", block, 216, (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF)
    return bytes(block)
