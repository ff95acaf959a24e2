"""The moment of a power cut: some disk has taken a write that it has not flushed, as the log of its writes says."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from raidplan.twin.server import HostError
from raidplan.twin.server.unflushed import _DISCARD, _ENTRY, _FLUSH, _FUA, _MAGIC, _SUPERBLOCK

COUNTED = 16
"""The place of the number of entries in a log, in bytes."""
LOOKS = 0.001
"""Seconds between two looks at the logs: a program's writes and the flush after them are a few milliseconds apart."""


class Torn(HostError):
    """A flush is logged after an entry that QEMU counted and never wrote: nobody can tell what was flushed. It was seen once, of a
    QEMU that was killed: the console of the server had errors of its last writes, which a disk does not answer that loses power.
    """


class Log:
    """The log of one disk of a machine that runs, read on from where the last look ended.

    QEMU appends to an empty file: an entry is there, or zeroes or nothing are in its place.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._at, self.entries, self.later = file, 0, 0, 0
        self._size = -1

    def unflushed(self) -> int:
        """How many writes came after the last flush, as far as entries are there. Raises ValueError for what is no log."""
        size = self._file.stat().st_size
        if size == self._size and self._at >= size:
            return self.later
        self._size = size
        with self._file.open("rb") as file:
            for flags, data, end in _walk(file.fileno(), self._at, size):
                self.later = 0 if flags & _FLUSH else self.later
                self.later += data and not flags & _FUA
                self.entries, self._at = self.entries + 1, end
        return self.later

    def settle(self) -> int:
        """Of a machine that is off: lets the log end before an entry that was never written, and so had no answer. What came after that
        is lost. How many writes these are. Raises Torn, and ValueError for what is no log.
        """
        self.unflushed()
        size = self._file.stat().st_size
        if not size:
            return 0
        with self._file.open("r+b") as file:
            sector = _sector(file.fileno())
            dropped, at = 0, self._at or sector
            while at < size:
                if not os.pread(file.fileno(), sector, at).strip(b"\0"):
                    at += sector
                    continue
                more = [*_walk(file.fileno(), at, size)]
                if any(flags & (_FLUSH | _FUA) for flags, _, _ in more):
                    raise Torn(f"{self._file}: a flush after an entry that is not there")
                dropped += sum(data for _, data, _ in more)
                at = more[-1][2] if more else size
            file.seek(COUNTED)
            file.write(struct.pack("<Q", self.entries))
        return dropped


def _sector(log: int) -> int:
    """The size of a sector in a log. Raises ValueError for what is none."""
    magic, _, _, sector = _SUPERBLOCK.unpack(
        os.pread(log, _SUPERBLOCK.size, 0).ljust(_SUPERBLOCK.size, b"\0")
    )
    if magic != _MAGIC:
        raise ValueError("this is no log of writes")
    return int(sector)


def _walk(log: int, at: int, size: int) -> Iterator[tuple[int, bool, int]]:
    """The flags of each entry, whether it has data, and where it ends: from a place, or the beginning, to the first that is not there."""
    if not size or not os.pread(log, 8, 0).strip(b"\0"):
        return
    sector = _sector(log)
    at = at or sector
    while at + sector <= size:
        _, length, flags, _ = _ENTRY.unpack(os.pread(log, _ENTRY.size, at))
        end = at + sector + (0 if flags & _DISCARD else length * sector)
        if not (length or flags) or end > size:
            return
        yield flags, end > at + sector, end
        at = end


class Unflushed:
    """The disks of a machine with the numbers of their unflushed writes. It is not stopped for a look: QEMU flushes all disks at its own
    command `stop`, and some of its writes fail at a signal.
    """

    def __init__(self, logs: Mapping[str, Path]) -> None:
        self._logs = {disk: Log(file) for disk, file in logs.items()}

    def wait(self, watched: Iterable[str], least: int, over: Callable[[], bool]) -> bool:
        """Until the `watched` disks have at least so many unflushed writes; whether that came before it was `over`."""
        logs = [self._logs[disk] for disk in watched]
        while sum(log.unflushed() for log in logs) < least:
            if over():
                return False
            time.sleep(LOOKS)
        return True

    def settled(self) -> tuple[dict[str, int], dict[str, int]]:
        """Of a machine that is off: the unflushed writes in each log, and those that are lost already. Raises Torn, ValueError."""
        dropped = {disk: log.settle() for disk, log in self._logs.items()}
        return {disk: log.later for disk, log in self._logs.items()}, dropped


def lost_of(writes: Mapping[str, int], own: Iterable[str], draw: Callable[[int], int]) -> tuple[str, int]:
    """One write that is lost for sure, of a disk of the layout if one has any: the disk, and its number; no disk where there is none."""
    some = [(disk, number) for disk in own for number in range(writes[disk])]
    some = some or [(disk, number) for disk, count in writes.items() for number in range(count)]
    return some[draw(len(some))] if some else ("", 0)
