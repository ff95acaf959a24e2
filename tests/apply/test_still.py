"""The lock that keeps udev from reading a partition table again: any file will do, for a lock is a lock."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from threading import Timer
from time import monotonic

import pytest

from raidplan.apply.devices import partition_lock
from raidplan.apply.devices.partition_lock import hold_partitions
from raidplan.facts.run import Result


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    file = tmp_path / "disk"
    file.write_bytes(b"")
    return file


def test_udev_gets_no_exclusive_lock_while_it_is_held(disk: Path) -> None:
    held = hold_partitions(str(disk))
    with disk.open() as other:
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)  # as its workers do, which must not be kept waiting
        fcntl.flock(other, fcntl.LOCK_UN)
        os.close(held)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_it_waits_for_udev_to_be_done(disk: Path) -> None:
    with disk.open() as udev:
        fcntl.flock(udev, fcntl.LOCK_EX)
        began = monotonic()
        Timer(0.3, fcntl.flock, (udev.fileno(), fcntl.LOCK_UN)).start()
        os.close(hold_partitions(str(disk)))
        assert monotonic() - began > 0.25


def test_it_does_not_wait_for_ever(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_lock, "LOCK_SECONDS", 0.05)
    before = os.listdir("/proc/self/fd")
    with disk.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            hold_partitions(str(disk))
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(("gone", "runs"), [(set(), 1), ({"/dev/disk/by-uuid/1"}, 4), ({"a", "b"}, 4)])
def test_a_link_that_has_vanished_keeps_no_other_device_from_a_look(
    gone: set[str], runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """udevadm asks for nothing at all where one of its names leads nowhere."""
    asked: list[str] = []
    done: list[list[str]] = []

    def udevadm(argv: list[str]) -> Result:
        names = [word.removeprefix("--name-match=") for word in argv if word.startswith("--name-match=")]
        done.append(argv)
        lost = not gone.isdisjoint(names)
        asked.extend([] if lost else names)
        return Result(tuple(argv), int(lost), "", "")

    monkeypatch.setattr(partition_lock, "run", udevadm)
    monkeypatch.setattr(partition_lock, "partitions_of", lambda node: ())
    nodes = ["/dev/disk/by-uuid/1", "a", "b"]
    partition_lock.look_again(*nodes, settle=True)
    assert asked == [node for node in nodes if node not in gone] and len(done) == runs
    assert all(argv[:4] == ["udevadm", "trigger", "--settle", "--action=change"] for argv in done)
    partition_lock.look_again()
    assert len(done) == runs
