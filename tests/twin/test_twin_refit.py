"""The disks of a twin that is off, exchanged: what was on them stays, and what the hardware cannot show is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.twin.server import Disk, Image, Twin, TwinError
from raidplan.twin.server.arguments import Machine
from raidplan.twin.server.folders import lay_out_disks

A, B, C = (Disk(name, 4096, name) for name in "abc")


@pytest.fixture
def twin(tmp_path: Path) -> Iterator[Twin]:
    """One that was never switched on."""
    machine = Machine((A, B), unplugged=frozenset({"a"}))
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
    twin.refit([C, B])
    assert twin.machine.disks == (C, B) and not twin.machine.unplugged
    assert twin.disk_file("c").stat().st_size == 4096
    assert twin.disk_file("a").read_bytes() == b"mine", "a disk that is out can still be looked at"
    twin.refit([C, A])
    assert twin.disk_file("a").read_bytes() == b"mine"
    twin.refit([replace(A, keeps_log=True)])
    assert twin.disk_file("a").read_bytes() == b"mine" and twin.disk_file("a").with_suffix(".log").exists()
    with pytest.raises(ValueError, match="no disk b"):
        twin.mend("b")


def test_hardware_that_cannot_be_shown_is_refused_and_changes_nothing(twin: Twin) -> None:
    with pytest.raises(ValueError, match="2 disks are named a"):
        twin.refit([A, A])
    with pytest.raises(ValueError, match="SCSI carries 36"):
        twin.refit([replace(A, serial="S" * 37)])
    assert twin.machine.disks == (A, B)


def test_a_machine_that_is_on_keeps_its_disks(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Twin, "running", True)
    with pytest.raises(TwinError, match="shut it down first"):
        twin.refit([A])
    assert twin.machine.disks == (A, B)
