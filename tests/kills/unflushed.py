"""The moment of a power cut: some disk has taken a write that it has not flushed."""

from __future__ import annotations

import struct
import time
from collections.abc import Collection, Mapping
from pathlib import Path, PurePath

from raidplan.twin.server.qmp import Monitor
from raidplan.twin.server.unflushed import _FLUSH, _entries, _read

COUNTED = 16
"""The place of the number of entries in a log, in bytes."""


class Unflushed:
    """The disks that have taken a write since their last flush, as far as looks at QEMU's counts tell."""

    def __init__(self, monitor: Monitor, of_interest: Collection[str]) -> None:
        """`of_interest`: their names as QEMU's devices."""
        self.disks: set[str] = set()
        self._monitor, self._of_interest = monitor, frozenset(of_interest)
        self._known: Mapping[str, tuple[int, int]] = self._counts()

    def look(self) -> None:
        """A disk that has flushed since the last look counts as one without such writes, whatever came after that."""
        now = self._counts()
        for disk, (writes, flushes) in now.items():
            before = self._known.get(disk, (writes, flushes))
            if flushes > before[1]:
                self.disks.discard(disk)
            elif writes > before[0]:
                self.disks.add(disk)
        self._known = now

    def wait(self, seconds: float, watched: Collection[str]) -> None:
        """Returns as soon as one of the `watched` disks has such writes, and at the latest after so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.disks.intersection(watched):
            time.sleep(0.01)
            self.look()

    def stop(self) -> None:
        """Stops the machine with all its writes answered; QEMU flushes each disk then (softmmu/cpus.c, `do_vm_stop`)."""
        self._monitor.ask("stop")
        self.look()

    def _counts(self) -> dict[str, tuple[int, int]]:
        """How many writes and how many flushes each disk has done for the guest."""
        found = {}
        for each in self._monitor.ask("query-blockstats"):
            path, done = (
                PurePath(each.get("qdev", "")),
                each["stats"],
            )  # a virtio disk is named after its child
            for disk in self._of_interest.intersection(path.parts):
                found[disk] = done["wr_operations"], done["flush_operations"]
        return found


def forget_last_flush(log: Path) -> None:
    """Takes the flush out of a log that QEMU made by itself, for a machine that was stopped. Raises ValueError for another end."""
    *before, (flags, _, data) = _entries(_read(log))
    if not flags & _FLUSH or data:
        raise ValueError(f"{log} does not end with a flush")
    with log.open("r+b") as file:
        file.seek(COUNTED)
        file.write(struct.pack("<Q", len(before)))
