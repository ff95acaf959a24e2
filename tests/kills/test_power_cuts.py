"""The moment of a power cut, by the counts of writes and flushes that QEMU gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from raidplan.twin.server.qmp import Monitor
from tests.kills.power import wait_for_unflushed

OWN, ROOT, OTHER = "own", "root", "other"


class Counts:
    """A monitor that gives one table of counts after the other, and the last one for ever."""

    def __init__(self, *tables: dict[str, tuple[int, int]]) -> None:
        self._tables: Iterator[dict[str, tuple[int, int]]] = iter(tables)
        self.asked = 0
        self._now: dict[str, tuple[int, int]] = {}

    def ask(self, command: str) -> Any:
        assert command == "query-blockstats"
        self.asked += 1
        self._now = next(self._tables, self._now)
        return [
            {
                "qdev": f"/machine/peripheral/{disk}/virtio-backend" if disk == ROOT else disk,
                "stats": {"wr_operations": writes, "flush_operations": flushes},
            }
            for disk, (writes, flushes) in self._now.items()
        ] + [{"device": "a drive without a disk", "stats": {"wr_operations": 0, "flush_operations": 0}}]


def asked_until(seconds: float, *tables: dict[str, tuple[int, int]]) -> int | None:
    """How often the monitor was asked until a watched disk had unflushed writes."""
    counts = Counts(*tables)
    found = wait_for_unflushed(cast(Monitor, counts), {OWN, ROOT}, seconds)
    return counts.asked if found else None


@pytest.mark.parametrize("disk", [OWN, ROOT])
def test_the_power_goes_once_a_disk_has_taken_a_write_and_no_flush(disk: str) -> None:
    counts = [{disk: (5, 2)}, {disk: (5, 2)}, {disk: (6, 3)}, {disk: (6, 4)}, {disk: (8, 4)}, {disk: (9, 9)}]
    assert asked_until(60, *counts) == 5


@pytest.mark.parametrize("counts", [(OTHER, 9, 2), (OWN, 9, 3), (OWN, 5, 3), (OWN, 5, 2)])
def test_it_stays_on_for_writes_of_others_and_for_flushed_ones(counts: tuple[str, int, int]) -> None:
    disk, *then = counts
    assert asked_until(0.1, {disk: (5, 2)}, {disk: (then[0], then[1])}) is None


def test_it_is_awaited_no_longer_than_it_is_to_be() -> None:
    assert asked_until(0, {OWN: (1, 1)}, {OWN: (2, 1)}) is None
