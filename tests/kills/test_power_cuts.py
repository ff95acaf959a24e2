"""The moment of a power cut, by the counts of writes and flushes that QEMU gives, and the log that is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from raidplan.twin.server import lose_unflushed
from raidplan.twin.server.qmp import Monitor
from raidplan.twin.server.unflushed import log_of
from tests.kills.unflushed import Unflushed, forget_last_flush
from tests.twin.write_log import FLUSH, SECTOR, log

OWN, ROOT, OTHER = "own", "root", "other"
Table = dict[str, tuple[int, int]]


class Counts:
    """A monitor that gives one table of counts after the other, and the last one for ever."""

    def __init__(self, *tables: Table) -> None:
        self._tables: Iterator[Table] = iter(tables)
        self._now: Table = {}
        self.asked: list[str] = []

    def ask(self, command: str) -> Any:
        self.asked.append(command)
        if command == "stop":
            return {}
        self._now = next(self._tables, self._now)
        return [
            {
                "qdev": f"/machine/peripheral/{disk}/virtio-backend" if disk == ROOT else disk,
                "stats": {"wr_operations": writes, "flush_operations": flushes},
            }
            for disk, (writes, flushes) in self._now.items()
        ] + [{"device": "a drive without a disk", "stats": {"wr_operations": 0, "flush_operations": 0}}]


def waited(seconds: float, *tables: Table, watched: tuple[str, ...] = (OWN, ROOT)) -> tuple[int, set[str]]:
    """How many tables it takes until a watched disk has unflushed writes, and which disks have some then."""
    counts = Counts(*tables)
    unflushed = Unflushed(cast(Monitor, counts), {OWN, ROOT})
    unflushed.wait(seconds, watched)
    return len(counts.asked), unflushed.disks


@pytest.mark.parametrize("disk", [OWN, ROOT])
def test_the_power_goes_once_a_disk_has_taken_a_write_and_no_flush(disk: str) -> None:
    counts = [{disk: (5, 2)}, {disk: (5, 2)}, {disk: (6, 3)}, {disk: (6, 4)}, {disk: (8, 4)}, {disk: (9, 9)}]
    assert waited(60, *counts) == (5, {disk})


@pytest.mark.parametrize("counts", [(OTHER, 9, 2), (OWN, 9, 3), (OWN, 5, 3), (OWN, 5, 2)])
def test_it_stays_on_for_writes_of_others_and_for_flushed_ones(counts: tuple[str, int, int]) -> None:
    disk, *then = counts
    assert waited(0.1, {disk: (5, 2)}, {disk: (then[0], then[1])})[1] == set()


def test_other_disks_have_unflushed_writes_too() -> None:
    tables: list[Table] = [
        {OWN: (1, 1), ROOT: (1, 1)},
        {OWN: (1, 1), ROOT: (2, 1)},
        {OWN: (2, 1), ROOT: (2, 1)},
    ]
    assert waited(60, *tables, watched=(OWN,)) == (3, {OWN, ROOT})
    assert waited(60, *tables) == (2, {ROOT})


def test_it_is_awaited_no_longer_than_it_is_to_be() -> None:
    assert waited(0, {OWN: (1, 1)}, {OWN: (2, 1)}) == (1, set())


@pytest.mark.parametrize(("last", "left"), [((3, 1), {OWN}), ((3, 2), set()), ((2, 1), {OWN})])
def test_a_flush_that_was_under_way_when_the_machine_stopped_counts(
    last: tuple[int, int], left: set[str]
) -> None:
    counts = Counts({OWN: (1, 1)}, {OWN: (2, 1)}, {OWN: last})
    unflushed = Unflushed(cast(Monitor, counts), {OWN})
    unflushed.wait(60, {OWN})
    unflushed.stop()
    assert unflushed.disks == left and "stop" in counts.asked


def disk_with(folder: Path, *entries: tuple[int, int, bytes]) -> Path:
    disk = folder / "disk.img"
    disk.write_bytes(bytes(4 * SECTOR))
    log_of(disk).write_bytes(log(*entries))
    return disk


ONE, TWO = b"1" * SECTOR, b"2" * SECTOR


def test_the_flush_of_qemu_itself_holds_nothing(tmp_path: Path) -> None:
    disk = disk_with(tmp_path, (0, 0, ONE), (FLUSH, 0, b""), (0, 1, TWO), (FLUSH, 0, b""))
    assert lose_unflushed(disk, lambda _: False) == 0
    forget_last_flush(log_of(disk))
    assert lose_unflushed(disk, lambda _: False) == 1
    assert disk.read_bytes() == ONE + bytes(3 * SECTOR)


def test_another_end_of_a_log_is_an_error(tmp_path: Path) -> None:
    disk = disk_with(tmp_path, (FLUSH, 0, b""), (0, 1, TWO))
    with pytest.raises(ValueError, match="does not end with a flush"):
        forget_last_flush(log_of(disk))
