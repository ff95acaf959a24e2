"""The moment of a power cut, by the logs of what the disks have taken, and what is lost then."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from threading import Thread, Timer
from typing import Any, cast

import pytest

from raidplan.twin.server import lose_unflushed
from raidplan.twin.server.unflushed import log_of
from tests.kills import in_guest
from tests.kills.adversity import draw_adversity
from tests.kills.power import ROOT, WRITES, _loses, moment
from tests.kills.root_disk import TwinWithLog
from tests.kills.session import Void, failure
from tests.kills.unflushed import Log, Torn, Unflushed, lost_of
from tests.twin.write_log import DISCARD, FLUSH, FUA, SECTOR, log

OWN = "own"
ONE = b"1" * SECTOR
WRITE, FLUSHED = (0, 0, ONE), (FLUSH, 0, b"")
Entry = tuple[int, int, bytes]


def logs(folder: Path, **entries: tuple[Entry, ...]) -> dict[str, Path]:
    found = {disk: folder / f"{disk}.log" for disk in entries}
    for disk, file in found.items():
        file.write_bytes(log(*entries[disk])[:-SECTOR] if entries[disk] else b"")
    return found


def grows(file: Path, content: bytes) -> None:
    """At once, as a reader sees it."""
    new = file.with_suffix(".new")
    new.write_bytes(content)
    new.replace(file)


@pytest.mark.parametrize(("entries", "later"), [
    ((), 0),
    ((WRITE,), 1),
    ((WRITE, FLUSHED), 0),
    ((WRITE, FLUSHED, WRITE, WRITE), 2),
    ((WRITE, FLUSHED, (FUA, 0, ONE), WRITE), 1),
    ((FLUSHED, (DISCARD, 0, ONE)), 0),
    ((WRITE, (FLUSH, 2, ONE)), 1),
])  # fmt: skip
def test_what_came_after_the_last_flush_is_unflushed(
    tmp_path: Path, entries: tuple[Entry, ...], later: int
) -> None:
    file = logs(tmp_path, disk=())["disk"]
    growing = Log(file)
    for number in range(1, len(entries) + 1):
        file.write_bytes(log(*entries[:number])[:-SECTOR])
        growing.unflushed()
    assert (growing.unflushed(), growing.entries) == (later, len(entries))
    assert Log(file).unflushed() == later


def test_an_entry_that_is_counted_before_it_is_written_is_waited_for(tmp_path: Path) -> None:
    file = logs(tmp_path, disk=(WRITE, WRITE))["disk"]
    whole = file.read_bytes()
    file.write_bytes(whole[:SECTOR] + bytes(2 * SECTOR) + whole[3 * SECTOR :])
    growing = Log(file)
    assert growing.unflushed() == 0
    file.write_bytes(whole[: 4 * SECTOR])  # of the last one there is less than was counted
    assert growing.unflushed() == 1
    file.write_bytes(whole)
    assert growing.unflushed() == 2
    file.write_bytes(b"x" * SECTOR)
    with pytest.raises(ValueError, match="no log"):
        Log(file).unflushed()


@pytest.mark.parametrize(("entries", "kept", "dropped"), [
    ((WRITE, None, WRITE, WRITE), 1, 2),
    ((WRITE, FLUSHED, WRITE, None, (DISCARD, 0, ONE)), 1, 0),
    ((WRITE, None, WRITE, None, WRITE), 1, 2),
    ((WRITE, WRITE), 2, 0),
    ((None, WRITE), 0, 1),
    ((WRITE, None, WRITE, FLUSHED), None, None),
    ((WRITE, None, (FUA, 0, ONE)), None, None),
])  # fmt: skip
def test_a_log_ends_before_an_entry_that_was_never_written(
    tmp_path: Path, entries: tuple[Entry | None, ...], kept: int | None, dropped: int | None
) -> None:
    """It had no answer, and nothing after it was flushed; else nobody could tell what was."""
    disk = tmp_path / "own.img"
    disk.write_bytes(bytes(4 * SECTOR))
    parts = [log()[:SECTOR]]
    parts += [bytes(2 * SECTOR) if each is None else log(each)[SECTOR:-SECTOR] for each in entries]
    log_of(disk).write_bytes(b"".join(parts)[:16] + len(entries).to_bytes(8, "little") + b"".join(parts)[24:])
    settled = Log(log_of(disk))
    if kept is None:
        with pytest.raises(Torn) as torn:
            settled.settle()
        with pytest.raises(Void):  # it says nothing of raidplan
            failure(torn.value, tmp_path / "console.log")
        return
    assert (settled.settle(), settled.unflushed()) == (dropped, kept)
    assert lose_unflushed(disk, lambda _: False) == kept


@pytest.mark.parametrize("least", [1, 2])
def test_it_is_time_once_a_watched_disk_has_unflushed_writes_and_not_before(
    tmp_path: Path, least: int
) -> None:
    files = logs(tmp_path, own=(WRITE, FLUSHED), root=(WRITE,))
    unflushed = Unflushed(files)
    flushed = (WRITE, FLUSHED, WRITE, FLUSHED)
    every = [flushed, (*flushed, *[WRITE] * least)]
    for number, entries in enumerate(every):
        Timer(0.2 * (number + 1), grows, [files[OWN], log(*entries)[:-SECTOR]]).start()
    began = time.monotonic()
    assert unflushed.wait([OWN], least, lambda: time.monotonic() > began + 20)
    assert time.monotonic() - began > 0.3 and unflushed.settled() == (
        {OWN: least, "root": 1},
        {OWN: 0, "root": 0},
    )


def test_where_all_is_flushed_it_is_over_at_last(tmp_path: Path) -> None:
    files = logs(tmp_path, own=(WRITE, FLUSHED), root=(WRITE,))
    unflushed, end = Unflushed(files), time.monotonic() + 0.3
    assert not unflushed.wait([OWN], 1, lambda: time.monotonic() > end)
    assert unflushed.settled()[0] == {OWN: 0, "root": 1}


@pytest.mark.parametrize(("writes", "lost"), [
    ({"a": 0, "b": 2, ROOT: 3}, {("b", 0), ("b", 1)}),
    ({"a": 0, "b": 0, ROOT: 2}, {(ROOT, 0), (ROOT, 1)}),
    ({"a": 0, "b": 0, ROOT: 0}, {("", 0)}),
])  # fmt: skip
def test_a_write_is_lost_for_sure_of_an_own_disk_if_it_has_one(
    writes: dict[str, int], lost: set[tuple[str, int]]
) -> None:
    assert {lost_of(writes, ["a", "b"], Random(seed).randrange) for seed in range(20)} == lost


class Keeps(Random):
    """It would keep every write."""

    def random(self) -> float:
        return 0.0


@pytest.mark.parametrize(("own", "root", "lost"), [
    ((WRITE, FLUSHED, WRITE), (WRITE,), (1, 0)),
    ((WRITE, FLUSHED), (WRITE, WRITE), (0, 1)),
    ((WRITE, FLUSHED), (FLUSHED,), (0, 0)),
])  # fmt: skip
def test_where_there_are_unflushed_writes_one_is_lost(
    tmp_path: Path, own: tuple[Entry, ...], root: tuple[Entry, ...], lost: tuple[int, int]
) -> None:
    disk = tmp_path / "own.img"
    disk.write_bytes(bytes(4 * SECTOR))
    log_of(disk).write_bytes(log(*own)[:-SECTOR])
    writes = {OWN: Log(log_of(disk)).unflushed(), ROOT: len([each for each in root if each == WRITE])}

    class Off:
        def lose_of_root(self, kept: Any) -> int:
            return sum(not kept(number) for number in range(writes[ROOT]))

    assert _loses(cast(TwinWithLog, Off()), {OWN: disk}, writes, Keeps(1)) == lost


STEPS = ("config.udev", "disk.k0.partition", "array.main.create", "array.main.hold", "filesystem.top.make", "filesystem.top.mountpoint",
         "swap.part.make", "volume.kv.one.create", "teardown.k1.zero", "filesystem.top.make+label", "release.trigger")  # fmt: skip


def test_most_cuts_come_while_a_step_writes_to_the_disks_of_the_layout() -> None:
    journal = [(kind, step) for step in STEPS for kind in ("intent", "ended")]
    writing = {step for step in STEPS if WRITES.fullmatch(step)}
    assert {*STEPS} - writing == {
        "config.udev",
        "array.main.hold",
        "filesystem.top.mountpoint",
        "release.trigger",
    }
    drawn = [moment(journal, draw_adversity(seed, power=True)) for seed in range(200)]
    assert {*drawn} == {*writing, ""} and 20 < drawn.count("") < 80
    assert moment([("intent", "config.udev")], draw_adversity(1, power=True)) == ""


@pytest.mark.parametrize("step", ["array.main.create", ""])
def test_the_host_is_told_when_it_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    journal, console = tmp_path / "journal", tmp_path / "console"
    console.touch()
    monkeypatch.setattr(in_guest, "journal_of", lambda case: str(journal))
    monkeypatch.setattr(in_guest, "CONSOLE", str(console))
    monkeypatch.setattr(in_guest, "OVER", str(tmp_path / "over"))
    records = [json.dumps({"kind": "intent", "step": "array.main.create"}) + "\n"]
    journal.write_text(records[0])  # of an earlier apply
    thread = Thread(target=in_guest.announces, args=({"first": 1, "step": step, "wanted": 2},))
    thread.start()
    time.sleep(0.2)
    assert console.read_bytes() == b""
    journal.write_text(records[0] * 2)
    thread.join(10)
    assert console.read_bytes() == in_guest.REACHED
