"""Faults of media in a real QEMU whose processors stand still: no guest, what a disk gives is asked of its block nodes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.twin.rehearsal.media import change, erase, is_changed, slow, unreadable
from raidplan.twin.server import Disk, Image, Twin, TwinError, states
from raidplan.twin.server.arguments import qemu_arguments, state_nodes
from raidplan.twin.server.folders import lay_out_disks, overlay
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.process import QemuProcess

pytestmark = pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="QEMU is not installed")
SIZE = 3 * 2**30 + 4096


@pytest.fixture(params=[False])
def twin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Twin]:
    """A machine with two disks, which has power and executes nothing; with a disk of its own, or one that boots from the others."""
    machine = VirtualMachine((Disk("a", SIZE, "A"), Disk("b", 2**20, "B")), memory_mib=64)
    image = Image(tmp_path, tmp_path / "key")
    up = Twin(machine, image, tmp_path, tmp_path / "console", own=False, say=lambda _: None)
    lay_out_disks(up._paths, machine.disks)
    up._paths.root.write_bytes(bytes(4096))
    with up.disk_file("a").open("r+b") as file:
        for place in (0, 2**20, 2**31 + 8192, SIZE - 4096):
            file.seek(place)
            file.write(b"x" * 4096)
    up._paths = overlay(up._paths)
    up.machine = VirtualMachine(
        machine.disks, memory_mib=64, snapshots=True, unplugged=frozenset({"a"}), boots_itself=request.param
    )
    words = qemu_arguments(up.machine, up._paths, 1)
    if "-kernel" in words:
        del words[words.index("-kernel") : words.index("-append") + 2]
    words[words.index("-netdev") + 1] = "user,id=net"
    up._process = QemuProcess([*words, "-S"], tmp_path / "qemu.log")
    end = time.monotonic() + 30
    while not listens(up) and time.monotonic() < end:
        time.sleep(0.05)
    yield up
    up.stop()


def listens(twin: Twin) -> bool:
    """The socket is there a moment before anybody listens on it."""
    try:
        with twin.monitor():
            return True
    except TwinError:
        return False


def said(twin: Twin, words: str, node: str = "") -> str:
    """The words of qemu-io, which go to the log, for the disk as its device has it."""
    log = twin.directory / "qemu.log"
    before = log.stat().st_size
    with twin.monitor() as monitor:
        words = f'qemu-io {node} "{words}"' if node else f'qemu-io -d /machine/peripheral/disk-a "{words}"'
        monitor.ask("human-monitor-command", **{"command-line": words})
    return log.read_text()[before:]


def test_a_disk_is_erased_whole(twin: Twin) -> None:
    assert "Pattern verification failed" in said(twin, "read -P 0 0 4096", "n0")
    erase(twin, "a")
    for place in (0, 2**20, 2**31 + 8192, SIZE - 4096):
        assert "failed" not in said(twin, f"read -P 0 {place} 4096", "n0")


def test_bytes_change_without_an_error_also_below_a_guest(twin: Twin) -> None:
    twin.plug("a")
    assert not is_changed(twin, "a", 2**20 + 512)
    change(twin, "a", 2**20 + 512)
    assert is_changed(twin, "a", 2**20 + 512)
    assert "failed" not in said(twin, f"read -P 0x5a {2**20 + 512} 512")
    assert "failed" not in said(twin, f"read -P 0x78 {2**20 + 1024} 512"), "x"
    with pytest.raises(TwinError):
        change(twin, "a", SIZE)


def test_a_sector_is_unreadable_as_often_as_asked(twin: Twin) -> None:
    twin.plug("a")
    with unreadable(twin, "a", 2**20, 2):
        failed = ["failed" in said(twin, f"read {2**20} 512") for _ in range(3)]
        assert failed == [True, True, False]
    with unreadable(twin, "a", 2**20):
        assert "failed" not in said(twin, "read 0 4096"), "others read"
        assert "No data available" in said(twin, f"read {2**20 - 4096} 8192")
        assert "failed" not in said(twin, f"read -P 0x78 {2**20} 4096"), "remapped, with what was on it"
    assert "failed" not in said(twin, f"read -P 0x78 {2**20} 4096")


def test_a_disk_limps_and_recovers(twin: Twin) -> None:
    twin.plug("a")

    def seconds() -> float:
        began = time.monotonic()
        for place in range(4):
            said(twin, f"read {place * 4096} 4096")
        return time.monotonic() - began

    with slow(twin, "a", 2):
        limping = seconds()
    assert limping > seconds()


def test_after_a_fault_of_media_a_state_is_restored_and_the_disk_reads(twin: Twin) -> None:
    """A filter that stays would be drained for ever: the device would never answer again."""
    twin.plug("a")
    for through in (states.save, states.load):
        with unreadable(twin, "a", 2**20), slow(twin, "b", 2):
            said(twin, f"read {2**20} 4096")
        change(twin, "a", 0)
        with twin.monitor() as monitor:
            through(monitor, "ready", state_nodes(twin.machine))
        assert "read 4096/4096" in said(twin, f"read -P 0x78 {2**20} 4096")
    assert "failed" not in said(twin, "read -P 0x5a 0 512"), "as it was when it was saved"


@pytest.mark.parametrize(
    "twin", [False, True], ids=["with a disk of its own", "that boots itself"], indirect=True
)
def test_a_state_is_restored_after_every_disk_was_pulled_and_put_back(twin: Twin) -> None:
    """Left to itself, QEMU then looks for the memory on another disk than before."""
    twin.plug("a")
    nodes = state_nodes(twin.machine)
    with twin.monitor() as monitor:
        states.save(monitor, "ready", nodes)
    change(twin, "a", 0)
    for name in ("a", "b"):
        twin.unplug(name)
        twin.plug(name)
    with twin.monitor() as monitor:
        states.load(monitor, "ready", nodes)
        states.save(monitor, "ready", nodes)
        with pytest.raises(TwinError):
            states.load(monitor, "never", nodes)
    assert "failed" not in said(twin, "read -P 0x78 0 512"), "as it was when it was saved"
