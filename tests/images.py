"""Disk images with real content: md superblocks written byte by byte, everything else made by its own tool."""

from __future__ import annotations

import struct
import subprocess
import uuid
from functools import partial
from pathlib import Path

from raidplan.facts.block import read_at
from raidplan.facts.machine import Trace
from raidplan.facts.traces import Place, read_traces

KIB, MIB = 1024, 1024**2
UUID = str(uuid.uuid4())
"""Drawn, since udev and md know a UUID once on a machine, on which the tests may run twice at a time."""
PLACES = {"0.90": lambda size: size // 65536 * 65536 - 65536, "1.0": lambda size: (size - 8 * KIB) // 4096 * 4096,
          "1.1": lambda size: 0, "1.2": lambda size: 4 * KIB}  # fmt: skip


def image(folder: Path, size: int = 64 * MIB, name: str = "disk") -> Path:
    """A file of zeroes."""
    file = folder / name
    with file.open("wb") as made:
        made.truncate(size)
    return file


def put(file: Path, at: int, data: bytes) -> None:
    """Writes into an image or a device."""
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(data)


def tool(*argv: object, stdin: str | None = None) -> str:
    """Runs a tool; it must succeed."""
    done = subprocess.run(
        [str(word) for word in argv], input=stdin or "", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{argv}: {done.stderr}"
    return done.stdout


def superblock(
    version: str, size: int, *, name: bytes = b"old:data", level: int = 1, devices: int = 2, slot: int = 0,
    array: str = UUID, data_offset: int = MIB, big_endian: bool = False,
) -> bytes:  # fmt: skip
    """The superblock of a member of `size` bytes, as mdadm 4.2 takes it (md_p.h)."""
    if version == "0.90":
        return _version_0(size, level, devices, slot, array, ">" if big_endian else "<")
    start = 0 if version == "1.0" else data_offset // 512
    length = PLACES["1.0"](size) // 512 if version == "1.0" else size // 512 - start
    block = bytearray(4096)
    struct.pack_into("<IIII", block, 0, 0xA92B4EFC, 1, 0, 0)
    block[16:32] = uuid.UUID(array).bytes
    block[32:64] = name.ljust(32, b"\0")
    struct.pack_into("<QiIQII", block, 64, 1_700_000_000, level, 0, length, 0, devices)
    struct.pack_into("<QQQQ", block, 128, start, length, PLACES[version](size) // 512, 0)
    struct.pack_into("<I", block, 160, slot)
    block[168:184] = uuid.uuid5(uuid.UUID(array), str(slot)).bytes
    struct.pack_into("<QQQ", block, 192, 1_700_000_000, 17, 2**64 - 1)
    struct.pack_into("<I", block, 220, devices)
    struct.pack_into(f"<{devices}H", block, 256, *range(devices))
    total = sum(struct.unpack_from(f"<{(256 + 2 * devices + 3) // 4}I", block))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(block)


def _version_0(size: int, level: int, devices: int, slot: int, array: str, order: str) -> bytes:
    words = [0] * 1024
    parts = struct.unpack(">4I", uuid.UUID(array).bytes)
    words[0:4] = [0xA92B4EFC, 0, 90, 0]
    words[5:12] = [
        parts[0],
        1_700_000_000,
        level & 0xFFFFFFFF,
        PLACES["0.90"](size) // 1024,
        devices,
        devices,
        0,
    ]
    words[13:16] = parts[1:]
    words[32:38] = [1_700_000_000, 1, devices, devices, 0, 0]
    for number in range(devices):
        words[128 + 32 * number : 128 + 32 * number + 5] = [number, 8, 16 * number, number, 6]
    words[992:997] = [slot, 8, 16 * slot, slot, 6]
    total = sum(words)
    words[38] = ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF
    return struct.pack(f"{order}1024I", *words)


def member(file: Path, version: str, *, start: int = 0, size: int = 0, **more: object) -> None:
    """Makes a range of an image (all of it by default) a member of an array."""
    size = size or file.stat().st_size
    put(file, start + PLACES[version](size), superblock(version, size, **more))  # type: ignore[arg-type]


def traces(file: Path, *others: Place, sector: int = 512) -> list[Trace]:
    """What is on an image, without libblkid's help."""
    return list(read_traces(partial(read_at, file), sector, Place(0, file.stat().st_size), others))
