"""What was not flushed when the power went: taken from a disk by the log that QEMU keeps of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidplan.twin.server import Disk, Twin, lose_unflushed
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.image import Image
from raidplan.twin.server.unflushed import log_of, lose_above
from tests.kills.root_disk import TwinWithLog
from tests.twin.objects import objects
from tests.twin.write_log import DISCARD, FLUSH, FUA, SECTOR, log

SIZE = 64 * SECTOR


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    file = tmp_path / "a.img"
    file.write_bytes(b"?" * SIZE)
    return file


ALL: Callable[[int], bool] = lambda _: True  # noqa: E731
NONE: Callable[[int], bool] = lambda _: False  # noqa: E731


@pytest.mark.parametrize(("kept", "third", "fourth"), [(ALL, b"c", b"d"), (NONE, b"\0", b"\0"), ((1).__eq__, b"\0", b"d")])  # fmt: skip
def test_what_was_flushed_stays_and_of_the_rest_what_is_kept(
    disk: Path, kept: Callable[[int], bool], third: bytes, fourth: bytes
) -> None:
    entries = [
        (0, 0, b"a"),
        (0, 1, b"x"),
        (0, 1, b"b"),
        (FLUSH, 0, b""),
        (0, 2, b"c"),
        (0, 3, b"d"),
        (FUA, 4, b"e"),
    ]
    log_of(disk).write_bytes(log(*((flags, at, data * SECTOR) for flags, at, data in entries)))
    lost = lose_unflushed(disk, kept)
    data = disk.read_bytes()
    assert len(data) == SIZE and lost == [third, fourth].count(b"\0")
    assert data[::SECTOR][:5] == b"ab" + third + fourth + b"e"
    assert not any(data[5 * SECTOR :])


def test_a_discard_has_no_data_and_a_flush_may_come_with_a_write(disk: Path) -> None:
    log_of(disk).write_bytes(
        log((DISCARD, 0, b"z" * 2 * SECTOR), (0, 1, b"a" * SECTOR), (FLUSH, 2, b"b" * SECTOR))
    )
    assert lose_unflushed(disk, NONE) == 1
    assert disk.read_bytes()[::SECTOR][:3] == b"\0a\0"


@pytest.mark.parametrize(("writes", "halted", "lost"), [(3, True, 3), (3, False, 0), (1, True, 0)])
def test_the_flush_of_a_machine_that_halts_is_its_own(
    disk: Path, writes: int, halted: bool, lost: int
) -> None:
    """After a single write it may be the guest's, which flushes each superblock: that one is believed."""
    each = [(0, at, b"a" * SECTOR) for at in range(1, writes + 1)]
    log_of(disk).write_bytes(log((0, 0, b"x" * SECTOR), (FLUSH, 0, b""), *each, (FLUSH, 0, b"")))
    assert lose_unflushed(disk, NONE, halted=halted) == lost
    assert disk.read_bytes()[::SECTOR][:2] == (b"x\0" if lost else b"xa")


def test_a_disk_that_was_not_blank_has_what_stood_there_where_a_write_is_lost(disk: Path) -> None:
    before = disk.with_name("before")
    before.write_bytes(b"B" * SIZE)
    written = [(0, 0, b"a" * SECTOR), (FLUSH, 0, b""), (0, 1, b"b" * SECTOR), (0, 0, b"c" * SECTOR)]
    log_of(disk).write_bytes(log(*written))
    assert lose_unflushed(disk, NONE, before=before) == 2
    assert disk.read_bytes() == b"a" * SECTOR + b"B" * (SIZE - SECTOR) and not before.exists()


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-io is not installed")
@pytest.mark.parametrize(
    ("kept", "expected"), [(ALL, b"AbcDEe\0H"), (NONE, b"Ab\0\0EeGH"), ((1).__eq__, b"Ab\0DEeGH")]
)
def test_from_a_file_above_another_only_what_was_not_flushed_is_lost(
    tmp_path: Path, kept: Callable[[int], bool], expected: bytes
) -> None:
    """What was lost has the content of before: written and flushed, or that of the file below."""
    base, above = tmp_path / "b ase.img", tmp_path / "a bove.qcow2"
    base.write_bytes(b"".join(bytes([each]) * SECTOR for each in b"A\0\0\0E\0GH").ljust(SIZE, b"\0"))
    entries = [
        (0, 1, b"b"),
        (FLUSH, 0, b""),
        (0, 2, b"c"),
        (0, 3, b"D"),
        (FUA, 5, b"e"),
        (0, 6, b"\0"),
    ]
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", base, "-F", "raw", above], check=True)
    writes = [f"write -P {data[0]} {at * SECTOR} {SECTOR}" for _, at, data in entries if data]
    words = [word for line in writes for word in ("-c", line)]
    subprocess.run(["qemu-io", "-f", "qcow2", *words, above], check=True, stdout=subprocess.DEVNULL)
    log_of(above).write_bytes(log(*((flags, at, data * SECTOR) for flags, at, data in entries)))
    lost = lose_above(above, base, kept)
    raw = tmp_path / "raw"
    subprocess.run(["qemu-img", "convert", "-O", "raw", above, raw], check=True)
    assert raw.read_bytes()[::SECTOR][:8] == expected
    assert lost == sum(not kept(number) for number in range(3))
    assert base.read_bytes()[::SECTOR][:8] == b"A\0\0\0E\0GH"


def test_without_a_write_nothing_is_lost(disk: Path) -> None:
    """QEMU begins the log with the first one."""
    log_of(disk).write_bytes(b"")
    assert lose_unflushed(disk, NONE) == 0
    assert disk.read_bytes() == b"?" * SIZE


@pytest.mark.parametrize(
    "text",
    [
        b"\0" * 8,
        b"\0" * SECTOR,
        log((0, 0, b""), (0, 1, b"a" * SECTOR)),
    ],
)
def test_what_is_no_log_changes_no_disk(disk: Path, text: bytes) -> None:
    log_of(disk).write_bytes(text)
    with pytest.raises(ValueError, match="log"):
        lose_unflushed(disk, ALL)
    assert disk.read_bytes() == b"?" * SIZE


@pytest.mark.parametrize("sectors", [5, 6, 7])
@pytest.mark.parametrize("kept", [ALL, NONE])
def test_a_write_that_was_being_logged_is_lost(disk: Path, sectors: int, kept: Callable[[int], bool]) -> None:
    """QEMU was killed before all of it stood in the log, so that nobody was told that it is written."""
    entries = [(0, 0, b"a" * SECTOR), (FLUSH, 0, b""), (0, 1, b"b" * SECTOR), (0, 2, b"c" * SECTOR)]
    log_of(disk).write_bytes(log(*entries)[: SECTOR * sectors + 100])
    whole = sectors > 5
    assert lose_unflushed(disk, kept) == (whole and kept is NONE)
    assert disk.read_bytes()[::SECTOR][:3] == (b"ab\0" if whole and kept is ALL else b"a\0\0")


def tree(machine: VirtualMachine, folder: Path, driver: str = "scsi-hd") -> dict[str, Any]:
    """The node that a disk of a machine hangs on, with those below it, for QEMU's own tools."""
    nodes = {node.pop("node-name"): node for node in objects(machine, "blockdev", folder)}
    for node in nodes.values():
        for key in ("file", "image"):
            if isinstance(node.get(key), str):
                node[key] = nodes[node[key]]
    (device,) = (found for found in objects(machine, "device", folder) if found["driver"] == driver)
    top: dict[str, Any] = nodes[device["drive"]]
    return top


WORK = [
    "write -P 97 0 512",
    "flush",
    "write -P 98 512 512",
    "write -f -P 99 1k 512",
    "write -P 100 1536 512",
]


def worked(top: dict[str, Any]) -> None:
    """That, by QEMU, and then the power goes."""
    argv = ["qemu-io", "-t", "writeback", *(word for line in (*WORK, "sigraise 9") for word in ("-c", line))]
    done = subprocess.run([*argv, f"json:{json.dumps(top)}"], capture_output=True, text=True, timeout=60)
    assert done.returncode == -9, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-io is not installed")
@pytest.mark.parametrize("halts", [None, 100])
def test_qemu_logs_the_writes_and_flushes_of_a_machine(tmp_path: Path, halts: int | None) -> None:
    disk = tmp_path / "a.img"
    disk.write_bytes(bytes(SIZE))
    log_of(disk).touch()
    worked(tree(VirtualMachine((Disk("a", SIZE, keeps_log=True, halts_at_write=halts),)), tmp_path))
    assert disk.read_bytes()[::SECTOR][:4] == b"abcd"
    assert lose_unflushed(disk, NONE) == 1
    assert disk.read_bytes()[::SECTOR][:4] == b"abc\0"


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-io is not installed")
def test_the_root_disk_loses_what_it_had_not_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a twin that is switched on twice, without a guest."""
    machine, root = VirtualMachine(()), tmp_path / "root.img"
    twin = TwinWithLog(
        machine, Image(tmp_path, tmp_path), tmp_path, tmp_path / "console", own=False, say=lambda _: None
    )
    monkeypatch.setattr(
        Twin, "_boot", lambda self, timeout: worked(tree(self.machine, tmp_path, "virtio-blk-pci"))
    )
    root.write_bytes(b"B" * SIZE)
    twin._boot(1)
    assert root.read_bytes()[::SECTOR][:5] == b"abcdB"
    assert twin.lose_of_root(NONE) == 1
    assert root.read_bytes() == b"".join(each * SECTOR for each in (b"a", b"b", b"c")) + b"B" * (
        SIZE - 3 * SECTOR
    )
    root.write_bytes(b"C" * SIZE)
    twin._boot(1)
    assert twin.lose_of_root(NONE) == 1
    assert root.read_bytes()[::SECTOR][:5] == b"abcCC", "the log is of the second time alone"


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-io is not installed")
def test_a_write_that_is_kept_stays_where_another_was_lost(tmp_path: Path) -> None:
    base, above, raw = tmp_path / "base", tmp_path / "above", tmp_path / "raw"
    base.write_bytes(b"x" * SIZE)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", base, "-F", "raw", above], check=True)
    log_of(above).write_bytes(log((0, 2, b"a" * 3 * SECTOR), (0, 3, b"b" * SECTOR), (0, 5, b"c" * SECTOR)))
    assert lose_above(above, base, (1).__eq__) == 2
    subprocess.run(["qemu-img", "convert", "-O", "raw", above, raw], check=True)
    assert raw.read_bytes()[::SECTOR][1:7] == b"xxbxxx"


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-io is not installed")
def test_a_log_is_not_held_in_memory(tmp_path: Path) -> None:
    """It has every write since the start: with a rebuild in it, as much as the disk."""
    base, above = tmp_path / "base", tmp_path / "above"
    base.write_bytes(b"x" * SIZE)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", base, "-F", "raw", above], check=True)
    large = bytes(16 << 20)
    log_of(above).write_bytes(log((0, 64, large), (FLUSH, 0, b""), (0, 2, b"c" * SECTOR)))
    tracemalloc.start()
    try:
        assert lose_above(above, base, NONE) == 1
        assert tracemalloc.get_traced_memory()[1] < len(large)
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-io is not installed")
def test_qemu_logs_also_what_is_written_above_another_file(tmp_path: Path) -> None:
    base, disk, raw = tmp_path / "base", tmp_path / "a.img", tmp_path / "raw"
    base.write_bytes(b"x" * SIZE)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", base, "-F", "raw", disk], check=True)
    log_of(disk).touch()
    top = tree(VirtualMachine((Disk("a", SIZE, keeps_log=True),), snapshots=True), tmp_path)
    work = ["write -P 97 0 512", "flush", "write -P 98 512 512", "write -P 0 1024 512"]  # fmt: skip
    argv = ["qemu-io", "-t", "unsafe", *(word for line in (*work, "sigraise 9") for word in ("-c", line))]
    done = subprocess.run([*argv, f"json:{json.dumps(top)}"], capture_output=True, text=True, timeout=60)
    assert done.returncode == -9, done.stdout + done.stderr
    assert lose_above(disk, base, NONE) == 2
    subprocess.run(["qemu-img", "convert", "-O", "raw", disk, raw], check=True)
    assert raw.read_bytes()[::SECTOR][:5] == b"axxxx"
