"""The disks of a twin that is off, exchanged: what was on them stays, and what the hardware cannot show is refused."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.twin.server import Disk, Image, Twin, TwinError
from raidplan.twin.server.folders import lay_out_disks
from raidplan.twin.server.hardware import VirtualMachine
from tests.twin.service import mend, refit

A, B, C = (Disk(name, 4096, name) for name in "abc")


@pytest.fixture
def twin(tmp_path: Path) -> Iterator[Twin]:
    """One that was never switched on."""
    machine = VirtualMachine((A, B), unplugged=frozenset({"a"}))
    twin = Twin(
        machine,
        Image(tmp_path, tmp_path / "key"),
        tmp_path,
        tmp_path / "console",
        own=False,
        say=lambda _: None,
    )
    lay_out_disks(twin._paths, machine.disks)
    yield twin
    twin.stop()


def test_disks_keep_what_is_on_them_in_any_order_and_after_they_were_away(twin: Twin) -> None:
    twin.disk_file("a").write_bytes(b"mine")
    refit(twin, [C, B])
    assert twin.machine.disks == (C, B) and not twin.machine.unplugged
    assert twin.disk_file("c").stat().st_size == 4096
    assert twin.disk_file("a").read_bytes() == b"mine", "a disk that is out can still be looked at"
    refit(twin, [C, A])
    assert twin.disk_file("a").read_bytes() == b"mine"
    refit(twin, [replace(A, keeps_log=True)])
    assert twin.disk_file("a").read_bytes() == b"mine" and twin.disk_file("a").with_suffix(".log").exists()
    with pytest.raises(ValueError, match="no disk b"):
        mend(twin, "b")


def test_hardware_that_cannot_be_shown_is_refused_and_changes_nothing(twin: Twin) -> None:
    with pytest.raises(ValueError, match="2 disks are named a"):
        refit(twin, [A, A])
    with pytest.raises(ValueError, match="SCSI carries 36"):
        refit(twin, [replace(A, serial="S" * 37)])
    assert twin.machine.disks == (A, B)


def test_a_machine_that_is_on_keeps_its_disks(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Twin, "running", True)
    with pytest.raises(TwinError, match="shut it down first"):
        refit(twin, [A])
    assert twin.machine.disks == (A, B)


@pytest.mark.skipif(not shutil.which("qemu-img"), reason="qemu-img is not installed")
def test_starting_over_forgets_what_came_since(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was written lies in new files; disks are away, blank or in another order in that one boot only."""
    boots: list[VirtualMachine] = []
    monkeypatch.setattr(Twin, "_boot", lambda self, timeout: boots.append(self.machine))
    twin._paths.root.write_bytes(bytes(4096))
    twin.disk_file("a").write_bytes(b"a" * 4096)
    twin.start_over(without=["a"], disks=[B, A])
    assert boots[-1] == VirtualMachine((B, A), unplugged=frozenset({"a"}), snapshots=True)
    first = twin.disk_file("a")
    assert _content(first) == b"a" * 4096
    subprocess.run(["qemu-io", "-c", "write -P 98 0 4096", str(first)], check=True, capture_output=True)
    assert _content(first) == b"b" * 4096
    twin.start_over(blank=["b"], disks=[A, B])
    assert boots[-1] == VirtualMachine((A, B), snapshots=True)
    assert _content(twin.disk_file("a")) == b"a" * 4096 and _content(twin.disk_file("b")) == bytes(4096)
    twin.start_again()
    assert boots[-1] == VirtualMachine((A, B), snapshots=True), "with what is there"


@pytest.mark.skipif(not shutil.which("qemu-img"), reason="qemu-img is not installed")
def test_the_first_start_over_has_the_disks_that_the_machine_has_then(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those that it once had: a disk that halted at a write is a sound one after a power cut."""
    boots: list[VirtualMachine] = []
    monkeypatch.setattr(Twin, "_boot", lambda self, timeout: boots.append(self.machine))
    twin._paths.root.write_bytes(bytes(4096))
    refit(twin, [replace(A, halts_at_write=3), B])
    refit(twin, [B, A])
    twin.start_over()
    twin.start_over(disks=[A, B])
    twin.start_over()
    assert [boot.disks for boot in boots] == [(B, A), (A, B), (B, A)]


def test_only_above_raw_files_a_machine_starts_over(twin: Twin) -> None:
    twin.machine = replace(twin.machine, snapshots=True)
    with pytest.raises(TwinError, match="never raw"):
        twin.start_over()


def test_a_disk_of_a_machine_that_is_off_is_there_at_the_next_start(twin: Twin) -> None:
    twin.plug("a")
    assert not twin.machine.unplugged


def _content(disk: Path) -> bytes:
    subprocess.run(
        ["qemu-img", "convert", "-U", "-O", "raw", str(disk), f"{disk}.raw"], check=True, capture_output=True
    )
    return Path(f"{disk}.raw").read_bytes()
