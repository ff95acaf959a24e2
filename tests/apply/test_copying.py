"""What is copied when a run goes on that was cut off: the disk may be another one, or somebody else has used it since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply.journal.past import Past
from raidplan.apply.undo.copies import Copy, read_copies
from raidplan.apply.undo.copying import END, Start, Wanted, _with, joined, keep
from raidplan.apply.world import World
from raidplan.facts import DiskFact, Machine
from raidplan.plan.step import Plan, Step, Zero

SIZE = 8 * END
DISK = DiskFact("/dev/sdb", "sdb", SIZE, serial="SER-0", wwn="0x5000")


class Bytes(World):
    """One disk in memory."""

    def __init__(self, disk: bytes = b"") -> None:
        super().__init__()
        self.disk = bytearray(disk or bytes(range(256)) * (SIZE // 256))

    def bytes_at(self, node: str, start: int, size: int) -> bytes:
        assert start >= 0
        return bytes(self.disk[start : start + size])


def clear(number: int, *ranges: tuple[int, int]) -> Step:
    return Step(f"teardown.{number}", "teardown", "clear", Zero("{d0}", ranges), "x")


FIRST, SECOND = clear(1, (0, 4096)), clear(2, (4 * END, 4096))


class Run:
    """A run in two parts."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.world, self.copies = folder, Bytes(), {}
        self.before = bytes(self.world.disk)

    def part(self, *steps: Step, begun: tuple[str, ...] = (), disk: DiskFact = DISK) -> list[str]:
        """What is kept is added to the copies; gives the steps after which there is no way back."""
        plan = Plan("h", "", "", (), steps)
        past = Past(is_open=bool(self.copies), run=begun, copies=self.copies)
        start = Start(plan, plan, {"d0": disk}, Machine((disk,)), past, self.world)
        self.new, final = keep(start, self.folder)
        self.copies: Mapping[str, str] = {**self.copies, **self.new}
        return final

    def write(self, start: int, data: bytes) -> None:
        self.world.disk[start : start + len(data)] = data

    @property
    def kept(self) -> Copy:
        return read_copies(self.folder, self.copies).disks["d0"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    assert run.part(FIRST) == [] and [*run.new] == ["d0.disk"]
    assert all(data == run.before[start : start + len(data)] for start, data in run.kept.pieces.items())
    return run


def test_nothing_new_is_kept_where_nothing_is_new(run: Run) -> None:
    assert run.part(FIRST) == [] and not run.new
    run.write(0, bytes(4096))
    assert run.part(FIRST, begun=(FIRST.id,)) == [] and not run.new


def test_what_is_written_to_besides_is_kept_as_well_and_the_first_content_stays(run: Run) -> None:
    run.write(0, bytes(4096))
    assert run.part(FIRST, SECOND, begun=(FIRST.id,)) == [] and [*run.new] == ["d0.2.disk"]
    assert all(data == run.before[start : start + len(data)] for start, data in run.kept.pieces.items())
    assert run.kept.steps == (FIRST.id, SECOND.id)
    assert any(start <= 4 * END < start + len(data) for start, data in run.kept.pieces.items())


def test_a_range_from_the_end_is_kept_where_it_is(run: Run) -> None:
    """A spare that forgets its array is cleared at both ends; of a whole disk, the last one begins at no negative byte."""
    assert run.part(clear(3, (0, 512), (-3 * END, 3 * END + 512))) == []
    assert run.kept.zeroed["teardown.3"] == ((0, 512), (SIZE - 3 * END, 3 * END))
    assert any(
        start <= SIZE - 3 * END and start + len(data) == SIZE for start, data in run.kept.pieces.items()
    )


def test_what_somebody_wrote_before_we_did_is_kept(run: Run) -> None:
    run.write(8192, b"holiday")
    now = bytes(run.world.disk)
    assert run.part(FIRST) == [] and [*run.new] == ["d0.2.disk"]
    assert all(data == now[start : start + len(data)] for start, data in run.kept.pieces.items())


def test_what_somebody_wrote_among_ours_takes_the_way_back(run: Run) -> None:
    """No copy tells which of it is to come back: from our next write on there is no undo."""
    run.write(0, bytes(4096))
    run.write(8192, b"holiday")
    assert run.part(FIRST, SECOND, begun=(FIRST.id,)) == [FIRST.id, SECOND.id] and not run.new


@pytest.mark.parametrize(
    "other",
    [
        {"serial": "SER-1"},
        {"wwn": "0x5001"},
    ],
)
def test_another_disk_of_that_name_is_kept_and_the_first_cannot_be_put_back(
    run: Run, other: dict[str, str]
) -> None:
    disk = replace(DISK, **other)  # type: ignore[arg-type]
    run.write(0, bytes(4096))
    assert run.part(FIRST, begun=(FIRST.id,), disk=disk) == [FIRST.id]
    assert run.kept.is_of(disk) and run.kept.pieces[0][:4096] == bytes(4096)


def test_another_disk_of_that_name_before_the_first_write_is_kept_instead(run: Run) -> None:
    disk = replace(DISK, serial="SER-1")
    assert run.part(FIRST, disk=disk) == [] and run.kept.is_of(disk)


def test_after_the_point_of_no_return_nothing_is_kept(run: Run) -> None:
    run.write(0, bytes(4096))
    plan = Plan("h", "", "", (), (FIRST, SECOND))
    past = Past(is_open=True, run=(FIRST.id, "made"), final=frozenset({"made"}), copies=run.copies)
    assert keep(Start(plan, plan, {"d0": DISK}, Machine((DISK,)), past, run.world), run.folder) == ({}, [])


RANGES = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), min_size=1, max_size=6)


@given(RANGES, RANGES, st.randoms(use_true_random=False))
def test_whatever_ranges_two_parts_write_to_the_first_content_is_kept(
    first: list[tuple[int, int]], second: list[tuple[int, int]], chance: object
) -> None:
    before = chance.randbytes(512)  # type: ignore[attr-defined]
    disk = replace(DISK, size=512)
    world = Bytes(before)
    known = Copy(
        "d0", 512, 1, {at: before[at : at + size] for at, size in joined(first)}, {"a": tuple(first)}
    )
    for at, size in first:
        world.disk[at : at + size] = bytes(size)
    both = _with(known, Wanted(list(second), {"b": tuple(second)}), disk, world)
    kept = {at + n: byte for at, data in both.pieces.items() for n, byte in enumerate(data)}
    places = {place for at, size in (*first, *second) for place in range(at, at + size)}
    assert kept == {place: before[place] for place in places}
