"""The moment of a power cut: some disk has taken a write that it has not flushed, as the log of its writes says."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from raidplan.twin.server.unflushed import _DISCARD, _ENTRY, _FLUSH, _FUA, _MAGIC, _SUPERBLOCK

COUNTED = 16
"""The place of the number of entries in a log, in bytes."""
LOOKS = 0.001
"""Seconds between two looks at the numbers of entries: a program's writes and the flush after them are a few milliseconds apart."""


class Torn(Exception):
    """An entry that QEMU counts is not written yet, and one after it is: a moment later it is there."""


class Log:
    """The log of one disk of a machine that runs, read on from where the last look ended."""

    def __init__(self, file: Path) -> None:
        self._file, self._seen, self._at, self._later = file, 0, 0, 0

    @property
    def count(self) -> int:
        """The number of entries that QEMU has counted; it may be about to write the last ones."""
        with self._file.open("rb") as file:
            return int.from_bytes(os.pread(file.fileno(), 8, COUNTED), "little")

    def unflushed(self) -> int:
        """How many writes came after the last flush, in a machine that is frozen. Raises Torn, and ValueError for what is no log."""
        size = self._file.stat().st_size
        if not size:
            return 0
        with self._file.open("rb") as file:
            magic, _, count, sector = _SUPERBLOCK.unpack(os.pread(file.fileno(), _SUPERBLOCK.size, 0))
            if magic != _MAGIC:
                raise ValueError(f"{self._file} is no log of writes")
            while self._seen < count and (at := self._at or sector) + sector <= size:
                _, length, flags, _ = _ENTRY.unpack(os.pread(file.fileno(), _ENTRY.size, at))
                if not length and not flags:
                    raise Torn(f"{self._file}, entry {self._seen} of {count}")
                end = at + sector + (0 if flags & _DISCARD else length * sector)
                if end > size:
                    break
                self._take(flags, end > at + sector)
                self._seen, self._at = self._seen + 1, end
        return self._later

    def _take(self, flags: int, data: bool) -> None:
        if flags & _FLUSH:
            self._later = 0
        self._later += data and not flags & _FUA


class Unflushed:
    """The disks of a machine with the numbers of their unflushed writes; it is frozen for each exact look.

    A process that is stopped by a signal flushes nothing by itself, as QEMU does at its own command `stop`.
    """

    def __init__(self, pid: int, logs: Mapping[str, Path]) -> None:
        self.writes: dict[str, int] = dict.fromkeys(logs, 0)
        self._pid = pid
        self._logs = {disk: Log(file) for disk, file in logs.items()}
        self._counts = {disk: log.count for disk, log in self._logs.items()}

    def wait(self, watched: Iterable[str], least: int, over: Callable[[], bool]) -> bool:
        """Freezes the machine once the `watched` disks have at least so many unflushed writes; whether that came before it was `over`.

        Where it did not, the machine runs.
        """
        watched = [*watched]
        first = True
        while not over():
            counts = {disk: self._logs[disk].count for disk in watched}
            if first or counts.items() - self._counts.items():
                self._counts |= counts
                whole = self.freeze()
                if whole and sum(self.writes[disk] for disk in watched) >= least:
                    return True
                first = not whole
                self._thaw()
            time.sleep(LOOKS)
        return False

    def freeze(self) -> bool:
        """Stops the machine where it is, and counts; whether the logs can be read whole."""
        os.kill(self._pid, signal.SIGSTOP)
        while not _stands(self._pid):
            time.sleep(LOOKS / 10)
        try:
            self.writes = {disk: log.unflushed() for disk, log in self._logs.items()}
        except Torn:
            return False
        return True

    def freeze_whole(self, tries: int = 200) -> None:
        """As `freeze`, at a moment at which every log can be read whole. Raises Torn."""
        for _ in range(tries):
            if self.freeze():
                return
            self._thaw()
            time.sleep(5 * LOOKS)
        raise Torn("no log could be read whole")

    def _thaw(self) -> None:
        os.kill(self._pid, signal.SIGCONT)


def _stands(pid: int) -> bool:
    """Every thread is stopped, also those in the kernel, or the process has ended."""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] not in "TtZX":
                return False
        except OSError:  # the thread has ended
            continue
    return True


def lost_of(writes: Mapping[str, int], own: Iterable[str], draw: Callable[[int], int]) -> tuple[str, int]:
    """One write that is lost for sure, of a disk of the layout if one has any: the disk, and its number; no disk where there is none."""
    some = [(disk, number) for disk in own for number in range(writes[disk])]
    some = some or [(disk, number) for disk, count in writes.items() for number in range(count)]
    return some[draw(len(some))] if some else ("", 0)
