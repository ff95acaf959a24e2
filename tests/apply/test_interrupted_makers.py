"""Makers of file systems and swap, killed at their writes: what they leave is theirs, and one sector of somebody else is not.

A few makers and writes are drawn; with `--long` it is all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.decide import maker
from tests.apply.makers import CLOCK, drawn, image_of, made_once, tried

MADE = {
    "ext4 with blocks of 1 KiB": (96, "filesystems: {f: {device: d.p, type: ext4, mount: /srv}}"),
    "ext4": (530, "filesystems: {f: {device: d.p, type: ext4, mount: /srv, label: data}}"),
    "ext4 with many inodes": (
        300,
        "filesystems: {f: {device: d.p, type: ext4, mount: /srv, inodes: 200000}}",
    ),
    "ext3": (160, "filesystems: {f: {device: d.p, type: ext3, mount: /srv}}"),
    "ext2": (96, "filesystems: {f: {device: d.p, type: ext2, mount: /srv}}"),
    "vfat": (300, "filesystems: {f: {device: d.p, type: vfat, mount: /srv, label: ESP}}"),
    "btrfs": (400, "filesystems: {f: {device: d.p, type: btrfs, mount: /srv}}"),
    "f2fs": (200, "filesystems: {f: {device: d.p, type: f2fs, mount: /srv, label: data}}"),
    "xfs": (400, "filesystems: {f: {device: d.p, type: xfs, mount: /srv}}"),
    "swap": (64, "swap: {f: {device: d.p}}"),
}
MAKERS, CUTS = 2, 2
"""So many are drawn every day, of the makers and of the writes of each."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        option = metafunc.config.getoption
        drawn_by = Random(f"{option('seed')} makers")
        metafunc.parametrize("name", MADE if option("long") else drawn_by.sample([*MADE], MAKERS))


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ExitStack() as stack:
        made_once(monkeypatch, stack)
        yield


def test_killed_at_any_write_it_goes_on_and_keeps_what_is_of_others(
    name: str, tmp_path: Path, dice: Random | None, record_property: Callable[[str, object], None]
) -> None:
    made = image_of(*MADE[name], tmp_path)
    cuts = drawn(made.cuts(), dice, CUTS)
    record_property("counted: sectors of others beside what a maker left", tried(made, cuts, dice))
    record_property("counted: makers killed at a write", len(cuts))


def test_another_clock_writes_other_bytes_and_is_refused(tmp_path: Path) -> None:
    """So that what is compared is not what every mke2fs writes."""
    made = image_of(*MADE["ext4 with blocks of 1 KiB"], tmp_path)
    made.cut(("pwrite64", 30))
    assert next(maker.foreign(made.step, made.size, CLOCK, made.read), None) is None
    assert next(maker.foreign(made.step, made.size, 0, made.read), None) is not None
