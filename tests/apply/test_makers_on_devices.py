"""Makers of file systems and swap on block devices, killed: they ask the kernel about a device, and write down what it says.

A few are drawn, beside those that take something from the device; with `--long` it is all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

import pytest

from raidplan.base.size import MIB
from tests.absent import left_out
from tests.apply.makers import ENDED, MADE, OnLoop, OnPartition, drawn, made_once, maker_step, tried

pytestmark = pytest.mark.root

DEVICES = {
    "disk": (OnLoop, 512),
    "disk with sectors of 4 KiB": (OnLoop, 4096),
    "partition": (OnPartition, 512),
    "partition with sectors of 4 KiB": (OnPartition, 4096),
}
ALWAYS = [
    ("vfat", "partition"),
    ("vfat", "partition with sectors of 4 KiB"),
    ("btrfs", "partition"),
    ("f2fs", "disk with sectors of 4 KiB"),
    ("label of a random key", "disk"),
]
"""The start of the partition, its sectors, the UUID that libblkid knows already, the sectors again, a discard that leaves no zeroes."""
DRAWN, CUTS = 1, 12
"""So many of the others are drawn every day; so many writes of each with `--long`, for all of them are cut on images."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    every = [(name, device) for device in DEVICES for name in MADE]
    others = [each for each in every if each not in ALWAYS]
    some = Random(f"{option('seed')} devices").sample(others, DRAWN)
    metafunc.parametrize(("name", "device"), every if option("long") else [*ALWAYS, *some])


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if os.geteuid() or not Path("/dev/loop-control").exists():
        left_out("needs root for loop devices")
    with ExitStack() as stack:
        made_once(monkeypatch, stack)
        yield


def test_killed_on_a_device_it_goes_on_and_keeps_what_is_of_others(
    name: str,
    device: str,
    tmp_path: Path,
    dice: Random | None,
    record_property: Callable[[str, object], None],
) -> None:
    """At its end too, which the journal does not know yet."""
    kind, sector = DEVICES[device]
    mib, text = MADE[name]
    with closing(kind(maker_step(mib, text, tmp_path, sector), mib * MIB, tmp_path / "disk", sector)) as made:
        *before, last, end = made.cuts()
        assert end == ENDED
        cuts = [*drawn(before, dice or Random(1), 1 if dice else CUTS), last, end]
        record_property("counted: sectors of others beside what a maker left", tried(made, cuts, dice))
    record_property("counted: makers killed at a write", len(cuts))
