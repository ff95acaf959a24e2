"""Makers of file systems and swap, killed at their writes: what they leave is theirs, and one sector of somebody else is not.

A few makers and writes are drawn; with `--long` it is all of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.decide import maker, recheck
from raidplan.base.filesystems.vfat import _root as root_of_fat
from raidplan.base.reader import ERASED, Reader, without
from raidplan.base.size import MIB, SECTOR
from raidplan.facts.ranges import ends_of
from raidplan.plan.disk_identity import DiskIdentity
from tests.apply import makers
from tests.apply.begun import foreign_on
from tests.apply.makers import CLOCK, ENDED, MADE, again, alone, drawn, holds, image_of, made_once, tried
from tests.images import put

pytestmark = pytest.mark.in_turn(8)

MAKERS, CUTS, MORE_CUTS = 2, 2, 12
"""So many are drawn every day, of the makers and of the writes of each; and of those on erased flash with `--long`."""
ON_FLASH = {"ext4": (32, MADE["ext4"][1]), "swap": MADE["swap"], "xfs": (300, MADE["xfs"][1])}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    if "on_flash" in metafunc.fixturenames:
        metafunc.parametrize("on_flash", MADE if option("long") else ON_FLASH)
    if "name" in metafunc.fixturenames:
        drawn_by = Random(f"{option('seed')} makers")
        metafunc.parametrize("name", MADE if option("long") else drawn_by.sample([*MADE], MAKERS))


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ExitStack() as stack:
        made_once(monkeypatch, stack)
        yield


def without_options(argv: list[str], options: Sequence[str]) -> list[str]:
    """A command without those of its options that others replace, each of which has one argument."""
    return [
        word for word, before in zip(argv, ["", *argv], strict=False) if not {word, before} & {*options[::2]}
    ]


def log_of(read: Reader) -> tuple[int, int]:
    """The bytes in which an XFS has its log (`struct xfs_dsb`)."""
    sb = read(0, SECTOR)
    (block,), (log,), (group,), (blocks,) = (
        struct.unpack_from(form, sb, at) for form, at in ((">I", 4), (">Q", 48), (">I", 84), (">I", 96))
    )
    start = (log // (1 << sb[124]) * group + log % (1 << sb[124])) * block
    return start, start + blocks * block


def test_killed_at_any_write_it_goes_on_and_keeps_what_is_of_others(
    name: str, tmp_path: Path, dice: Random | None, record_property: Callable[[str, object], None]
) -> None:
    made = image_of(*MADE[name], tmp_path)
    cuts = drawn(made.cuts(), dice, CUTS)
    record_property("counted: sectors of others beside what a maker left", tried(made, cuts, dice))
    record_property("counted: makers killed at a write", len(cuts))


def test_on_erased_flash_what_it_did_not_write_is_no_zeroes(
    on_flash: str, memory: Path, dice: Random | None, record_property: Callable[[str, object], None]
) -> None:
    """Beside that lie the zeroes that it wrote."""
    made = image_of(*(ON_FLASH if dice else {**MADE, **ON_FLASH})[on_flash], memory)
    made.unwritten = ERASED
    *before, end = made.cuts()
    cuts = [*drawn(before, dice or Random(1), 1 if dice else MORE_CUTS), end]
    record_property("counted: sectors of others beside what a maker left", tried(made, cuts, dice))
    record_property("counted: makers killed at a write", len(cuts))


def test_on_erased_flash_a_sector_with_another_bit_is_of_somebody_else(memory: Path) -> None:
    made = image_of(*ON_FLASH["ext4"], memory)
    made.unwritten = ERASED
    made.cut(made.cuts()[-3])
    place = 17 * MIB + SECTOR
    assert made.read(place, SECTOR) == b"\xff" * SECTOR
    with made.planted(place, bytes(SECTOR)):
        assert made.own
    for sector in (b"\xff" * 511 + b"\x7f", bytes(511) + b"\xff"):
        with made.planted(place, sector):
            assert not made.own
    made.past = replace(made.past, erased=frozenset())
    assert not made.own, "where the journal does not say that the device read so"


def test_on_a_disk_of_zeroes_a_sector_of_ones_is_of_somebody_else(tmp_path: Path) -> None:
    """But not on an array, which is as blank as its members are, each in its own way."""
    made = image_of(*MADE["ext4 with blocks of 1 KiB"], tmp_path)
    made.cut(("pwrite64", 30))
    assert not made.past.erased
    with made.planted(77 * MIB + SECTOR, b"\xff" * SECTOR):
        assert not made.own
        made.kind = "array"
        assert made.own
    with made.planted(77 * MIB + SECTOR, b"\xff" * 511):
        assert not made.own


@pytest.mark.parametrize("late", [-2, -1], ids=["in its last write", "at its end"])
def test_killed_again_after_what_it_left_was_cleared_at_both_ends(
    late: int, tmp_path: Path, dice: Random | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between them lies what it wrote with the clock of the first run."""
    made = image_of(*MADE["ext4 with blocks of 1 KiB"], tmp_path)
    cuts = made.cuts()
    with monkeypatch.context() as patch:
        patch.setattr(makers, "CLOCK", CLOCK - 3600)
        made.cut(cuts[late])
    for start, size in ends_of(made.size, [(0, made.size)], []):
        put(Path(made.node), start, bytes(size))
    made.before = {at: data for at in range(0, made.size, MIB) if holds(data := made.read(at, MIB))}
    made.cut(cuts[0])
    assert not made.own, "the sectors of before are not known by themselves"
    made.fill()
    made.begun(tmp_path, again=True)
    for cut in [cuts[0], *drawn(cuts[1:], dice, 1)]:
        made.cut(cut)
        alone(made, dice, dice or Random(1), cut)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("old", ["ext4 with blocks of 1 KiB", "btrfs", "f2fs", "swap"])
def test_old_bytes_between_the_ends_of_a_disk_to_wipe_are_none_of_somebody_else(
    old: str, tmp_path: Path, dice: Random | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what came since is found among them, also beside what is whole."""
    # The plan here has this step alone; the one that clears the disk comes before it in a whole plan.
    monkeypatch.setattr(recheck, "with_old_bytes", lambda *_: frozenset({"d"}))
    made = image_of(*MADE[old], tmp_path)
    cuts = made.cuts()
    made.disks = (DiskIdentity("d", made.size, wipe=True),)
    made.before = {20 * MIB + 4096: b"old" * 9000, 43 * MIB: b"old"}
    made.fill()
    made.begun(tmp_path)
    for cut in [cuts[0], *drawn(cuts[1:-1], dice, 1), ENDED]:
        made.cut(cut)
        alone(made, dice, dice or Random(1), cut)
        with made.planted(57 * MIB + SECTOR, b"new"):
            assert not made.own, cut


def test_blocks_of_btrfs_with_sectors_that_were_there_before_are_known_by_all_of_them(tmp_path: Path) -> None:
    """Of a run with another clock, as where the same layout was applied before: a part of each is as it was."""
    made = image_of(*MADE["btrfs"], tmp_path)
    made.cut(ENDED)
    for start, size in ends_of(made.size, [(0, made.size)], []):
        put(Path(made.node), start, bytes(size))
    before = {at: made.read(at, SECTOR) for at in range(0, made.size, SECTOR)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(makers, "CLOCK", CLOCK + 3600)
        made.cut(made.cuts()[-1])
    since = partial(without, lambda at, sector: before[at] == sector, made.read)
    assert next(foreign_on(made.step, made.size, 0, since), None), "a part of a block is nobody's"
    assert next(foreign_on(made.step, made.size, 0, made.read, since=since), None) is None
    with made.planted(57 * MIB + SECTOR, b"new"):
        assert next(foreign_on(made.step, made.size, 0, made.read, since=since), None)


def test_another_clock_writes_other_bytes_and_is_refused(tmp_path: Path) -> None:
    """So that what is compared is not what every mke2fs writes."""
    made = image_of(*MADE["ext4 with blocks of 1 KiB"], tmp_path)
    made.cut(("pwrite64", 30))
    assert next(foreign_on(made.step, made.size, CLOCK, made.read), None) is None
    assert next(foreign_on(made.step, made.size, 0, made.read), None) is not None


@pytest.mark.parametrize(
    "told",
    [["-g", "255/63", "-h", "2048"], ["-g", "64/32", "-h", "34"], ["-g", "255/63", "--mbr=y"]],
    ids=["partition", "partition of NVMe", "whole disk"],
)
def test_fat_has_what_the_kernel_says_of_the_device(told: list[str], tmp_path: Path) -> None:
    """Of a loop device it says nothing; what a disk has it write is asked for here."""
    made = image_of(*MADE["vfat"], tmp_path)
    again(made.step, [*made.argv, *told])
    assert made.own
    for at in (3, 13, 36, 65, 90, 400, 511):  # what mkfs writes, and what it leaves empty
        before = made.read(at, 1)
        with made.planted(at, bytes([before[0] ^ 1])):
            assert not made.own, at
    with made.planted(26, b"\x07"):
        assert not made.own, "another geometry than in the copy of the boot sector"


@pytest.mark.parametrize("more", [(), ("-s", "size=4096"), ("-l", "su=256k")], ids=" ".join)
def test_a_finished_xfs_is_known_where_it_cannot_be_made_again(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the clock, or without room for the file: the record in its log is known by place and content."""
    made = image_of(*MADE["xfs"], tmp_path)
    first, *others = made.argv
    made.fill()
    again(made.step, [first, *without_options(others, more), *more])
    made.past = replace(made.past, clocks={})
    monkeypatch.setattr(maker, "_sparse", lambda size, room: iter(()))
    assert made.own
    start, end = log_of(made.read)
    record = [at for at in range(start, end, SECTOR) if holds(made.read(at, SECTOR))]
    assert record == [*range(start, record[-1] + 1, SECTOR)]
    some = {record[0], record[1], record[-1], record[-1] + SECTOR}
    for at in (*sorted(some), end - SECTOR, 100 * MIB):
        before = made.read(at, SECTOR)
        with made.planted(at + 500, bytes([before[500] ^ 1])):
            assert not made.own, at


def test_a_label_is_known_to_the_byte(tmp_path: Path) -> None:
    """Sectors of ones are its own only where this command writes them, not where one for other blocks would."""
    made = image_of(*MADE["label of a random key"], tmp_path)
    made.cut(ENDED)
    assert made.own
    for at in (1024, 1024 + 0x164, 1024 + 0x16C, 4096, 4096 + 0x12, 2 * MIB, made.size - SECTOR):
        before = made.read(at, 1)
        with made.planted(at, bytes([before[0] ^ 1])):
            assert not made.own, at
    ones = bytes([ERASED]) * SECTOR
    for at in (0x1C00, 0x9C00, MIB):
        assert made.read(at, SECTOR) != ones
        with made.planted(at, ones):
            assert not made.own, at


def test_a_finished_label_is_searched_where_it_cannot_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libblkid knows it; nothing tells then whose a sector is."""
    made = image_of(*MADE["label of a random key"], tmp_path)
    made.cut(ENDED)
    assert made.own
    monkeypatch.setattr(makers, "CLOCK", 0)
    made.past = replace(made.past, clocks={})
    assert not made.own


def test_the_label_of_a_fat_may_have_any_time_of_day(tmp_path: Path) -> None:
    """mkfs.fat 4.2 takes no clock. Creation, last access and last change are the same moment."""
    made = image_of(*MADE["vfat"], tmp_path)
    made.cut(ENDED)
    root = root_of_fat(made.read).start
    entry = made.read(root, 32)
    assert entry.startswith(b"ESP   ")
    time, date = b"\x11\x22", b"\x33\x44"
    other = entry[:14] + time + date + date + entry[20:22] + time + date + entry[26:]
    with made.planted(root, other):
        assert made.own
    for at in (0, 11, 13, 15, 17, 19, 20, 23, 25, 28):
        with made.planted(root, other[:at] + bytes([other[at] ^ 1]) + other[at + 1 :]):
            assert not made.own, at


def test_a_btrfs_of_another_uuid_is_none_of_ours(tmp_path: Path) -> None:
    made = image_of(*MADE["btrfs"], tmp_path)
    other = ["11111111-2222-4333-8444-555555555555" if word == made.proof.key else word for word in made.argv]
    again(made.step, other)
    assert not made.own
    made.cut(ENDED)
    assert made.own
