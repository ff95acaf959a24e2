"""The content of a disk with a write cache after a power cut: all that it had flushed, and any part of what came after.

QEMU writes each write of a disk with `keeps_log` into a log as well (its driver blklogwrites), in the format of the
kernel's dm-log-writes (Documentation/admin-guide/device-mapper/log-writes.rst).
"""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

from raidplan.twin.server.failure import HostError
from raidplan.twin.server.tools import tool

_SUPERBLOCK, _ENTRY = struct.Struct("<QQQI"), struct.Struct("<QQQQ")
_MAGIC = 0x6A736677736872
_FLUSH, _FUA, _DISCARD = 1, 2, 4
_TORN = "the log of the disk lacks an entry that came before others"


def log_of(disk: Path) -> Path:
    """The path of the log of the disk in a file."""
    return disk.with_suffix(".log")


def lose_unflushed(
    disk: Path, kept: Callable[[int], bool], *, halted: bool = False, before: Path | None = None
) -> int:
    """Makes the disk what it was when it was last flushed, and of the later writes those whose numbers are `kept`.

    For the disk of a machine that is off, which was blank when it was last switched on, or what the file `before` is: that
    takes its place. A write that QEMU was logging when it ended had no answer yet, and is lost. `halted`: it halted at a write,
    and QEMU flushed all disks by itself then (softmmu/cpus.c, `do_vm_stop`); a flush that comes last, after several writes, is
    not taken for the guest's. Returns how many writes were lost. Raises OSError, and ValueError for a file that is no log.
    """
    entries = [*_entries(_read(log_of(disk)))]
    if not entries:
        return 0
    last = entries.pop() if halted and entries[-1][0] & _FLUSH and not entries[-1][2] else None
    flushed, later = _writes(entries)
    if last and len(later) <= 1:
        flushed, later = flushed + later, []
    left = [write for number, write in enumerate(later) if kept(number)]
    size = disk.stat().st_size
    if before:
        before.replace(disk)
    with disk.open("r+b") as file:
        file.truncate(size if before else 0)
        file.truncate(size)
        for offset, data in (*flushed, *left):
            file.seek(offset)
            file.write(data)
    return len(later) - len(left)


def lose_above(disk: Path, base: Path, kept: Callable[[int], bool]) -> int:
    """As `lose_unflushed`, for a file that holds what was written above that of `base` since the machine was switched on.

    Raises HostError, OSError, and ValueError for a file that is no log.
    """
    flushed, later = _writes(_entries(_read(log_of(disk))))
    lost = [write for number, write in enumerate(later) if not kept(number)]
    there = flushed + [write for number, write in enumerate(later) if kept(number)]
    with NamedTemporaryFile() as file:
        for low, content in _without(lost, there, base):
            file.seek(0)
            file.write(content)
            file.flush()
            # qemu-io ends a path at a blank.
            write = f"write -q -s /proc/{os.getpid()}/fd/{file.fileno()} {low} {len(content)}"
            tool(["qemu-io", "-f", "qcow2", "-c", write, str(disk)], HostError)
    return len(lost)


_Write = tuple[int, memoryview]
"""The place, in bytes, and the data."""


def _without(lost: Iterable[_Write], there: Iterable[_Write], base: Path) -> Iterator[tuple[int, bytes]]:
    """The places of the lost writes, with what is there without them: the other writes, above the content of `base`."""
    places = _places(lost)
    ends = [high for _, high in places]
    with base.open("rb") as file:
        contents = [_content(file, low, high) for low, high in places]
    for at, data in there:
        for number in range(bisect_right(ends, at), len(places)):
            low, high = places[number]
            begin, end = max(at, low), min(at + len(data), high)
            if begin >= end:
                break
            contents[number][begin - low : end - low] = data[begin - at : end - at]
    return ((low, bytes(content)) for (low, _), content in zip(places, contents, strict=True))


def _content(file: BinaryIO, low: int, high: int) -> bytearray:
    file.seek(low)
    return bytearray(file.read(high - low).ljust(high - low, b"\0"))


def _writes(entries: Iterable[tuple[int, int, memoryview]]) -> tuple[list[_Write], list[_Write]]:
    """The writes that were flushed, and those since, in their order."""
    flushed: list[_Write] = []
    later: list[_Write] = []
    for flags, offset, data in entries:
        if flags & _FLUSH:
            flushed += later
            later = []
        if data:
            (flushed if flags & _FUA else later).append((offset, data))
    return flushed, later


def _places(writes: Iterable[_Write]) -> list[tuple[int, int]]:
    """From where to where something was written; what lies side by side is one place."""
    found: list[tuple[int, int]] = []
    for at, data in sorted(writes, key=lambda write: write[0]):
        if found and at <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], at + len(data))
        else:
            found.append((at, at + len(data)))
    return found


def _read(log: Path) -> memoryview:
    """The content of a log, read where it is asked for: it has every write of a disk, and may be larger than memory."""
    if not log.stat().st_size:
        return memoryview(b"")
    with log.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _entries(log: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """Flags, offset and data; none of a log that QEMU has not begun, for want of a write. Raises ValueError.

    QEMU counts an entry before it writes it, and stores the count with a flush of any write that ends meanwhile: at the end of
    the log there may be less than was counted.
    """
    if not log:
        return
    if len(log) < _SUPERBLOCK.size or _SUPERBLOCK.unpack_from(log)[0] != _MAGIC:
        raise ValueError("this is no log of writes")
    _, _, count, sector = _SUPERBLOCK.unpack_from(log)
    at = sector
    for _ in range(count):
        if at + sector > len(log):
            return
        place, length, flags, _ = _ENTRY.unpack_from(log, at)
        if not length and not flags:
            raise ValueError(_TORN)
        at += sector
        size = 0 if flags & _DISCARD else length * sector
        if at + size > len(log):
            return
        yield flags, place * sector, log[at : at + size]
        at += size
