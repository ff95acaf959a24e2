"""What fails on the host is no failure of the guest, and what fails in the guest is shown with its console."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from raidplan.twin.server import (
    BootError,
    CommandError,
    CommandTimeoutError,
    Disk,
    HostError,
    Image,
    Twin,
    TwinError,
    UnreachableError,
    boot,
)
from raidplan.twin.server.folders import lay_out_disks
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.process import QemuProcess
from raidplan.twin.server.qmp import Monitor
from raidplan.twin.server.ssh import Shell
from raidplan.twin.server.unflushed import log_of
from tests.twin.write_log import log


@pytest.fixture
def twin(tmp_path: Path) -> Iterator[Twin]:
    """One that was never switched on."""
    machine = VirtualMachine((Disk("a", 4096, "A"),))
    image = Image(tmp_path, tmp_path / "key")
    twin = Twin(machine, image, tmp_path, tmp_path / "console.log", own=False, say=lambda _: None)
    lay_out_disks(twin._paths, machine.disks)
    (tmp_path / "host_key.pub").write_text("ssh-ed25519 AAAA\n")
    for path in (twin._paths.root, twin.console):
        path.write_bytes(b"Kernel panic - not syncing\n")
    yield twin
    twin.stop()


Begin = Callable[[str], QemuProcess]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Begin]:
    """A program in the place of QEMU."""
    begun = []

    def begin(script: str) -> QemuProcess:
        begun.append(QemuProcess(["sh", "-c", script], tmp_path / "qemu.log"))
        return begun[-1]

    yield begin
    for each in begun:
        each.kill()


def monitor(path: Path, status: str) -> None:
    """A monitor for one connection, which knows the state of the machine alone."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen(1)

    def answer() -> None:
        connection, _ = listening.accept()
        with listening, connection, connection.makefile("rw") as lines:
            lines.write('{"QMP": {}}\n')
            lines.flush()
            for _ in lines:
                lines.write(json.dumps({"return": {"status": status}}) + "\n")
                lines.flush()

    threading.Thread(target=answer, daemon=True).start()


@pytest.fixture
def hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command ends."""

    def run(*_: object, **__: object) -> None:
        raise CommandTimeoutError("`look`: no end within 900 s")

    monkeypatch.setattr(Shell, "run", run)


@pytest.mark.usefixtures("hangs")
def test_a_command_that_does_not_end_is_shown_with_the_console(twin: Twin, process: Begin) -> None:
    twin._process = process("exec sleep 60")
    monitor(twin._paths.monitor, "running")
    with pytest.raises(CommandTimeoutError, match=r"no end within 900 s(?s:.*)Kernel panic"):
        twin.run("look")


def test_a_file_that_cannot_be_read_from_a_silent_guest_is_shown_with_the_console(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shell, "alive", lambda _: False)
    for code, expected in ((255, UnreachableError), (1, CommandError)):
        ended = subprocess.CompletedProcess([], code, b"", b"Broken pipe")
        monkeypatch.setattr(Shell, "_ssh", lambda *_, ended=ended: ended)
        with pytest.raises(expected, match=r"reading /root/x: .*Broken pipe") as failed:
            twin.get("/root/x")
        assert ("Kernel panic" in str(failed.value)) is (code == 255)


def test_a_monitor_that_ends_after_its_greeting_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / "qmp"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen(1)

    def greet() -> None:
        connection, _ = listening.accept()
        with listening, connection:
            connection.sendall(b'{"QMP": {}}\n')

    greeting = threading.Thread(target=greet)
    greeting.start()
    received = Monitor._receive

    def later(self: Monitor) -> object:
        message = received(self)
        greeting.join()
        return message

    with pytest.MonkeyPatch.context() as patch, pytest.raises(TwinError, match="does not answer"):
        patch.setattr(Monitor, "_receive", later)
        Monitor(path)


@pytest.mark.parametrize("end", [b"", b'{"return": {"sta'], ids=["nothing", "a part of an answer"])
def test_a_machine_that_ends_while_it_answers_has_closed_its_monitor(end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "qmp"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()

    def answer() -> None:
        with listening.accept()[0] as connection:
            connection.sendall(b'{"QMP": {}}\n')
            connection.recv(100)
            connection.sendall(end)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with pytest.raises(TwinError, match="closed its monitor"):
            Monitor(path)
    finally:
        thread.join()
        listening.close()


def test_a_machine_that_nobody_would_end_is_ended_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host without memory, or with too many processes, starts the one and not the other."""
    begun: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        if begun:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        begun.append(popen(*words, **options))
        return begun[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(OSError, match="Cannot allocate memory"):
        QemuProcess(["sleep", "600"], tmp_path / "qemu.log")
    try:
        assert begun[0].returncode == -signal.SIGKILL
    finally:
        begun[0].kill()


def test_who_asks_twice_to_end_it_leaves_no_file(
    twin: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with ^C, which comes as SIGTERM does here, also where the kernel gives it to another thread."""
    remove, own = shutil.rmtree, tmp_path / "own"
    over = threading.Event()
    threading.Thread(target=over.wait, daemon=True).start()
    own.mkdir()
    twin.directory, twin._own = own, True

    def asked_again(folder: Path, **options: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        remove(folder, **options)

    monkeypatch.setattr(shutil, "rmtree", asked_again)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            twin.stop()
    finally:
        signal.signal(signal.SIGTERM, before)
        monkeypatch.undo()
        over.set()
    assert not own.exists() and not twin._sockets.exists()


@pytest.mark.usefixtures("hangs")
def test_the_end_of_a_console_leaves_room_for_what_was_tried(twin: Twin) -> None:
    twin.console.write_text("x" * 9000)
    with pytest.raises(CommandTimeoutError) as failed:
        twin.run("look")
    assert "no end within" in str(failed.value)[-3000:], "which is what a report shows"


@pytest.mark.usefixtures("hangs")
@pytest.mark.parametrize("halts", [None, 3])
def test_a_machine_that_waits_for_room_is_a_failure_of_the_host(
    twin: Twin, process: Begin, halts: int | None
) -> None:
    twin._process = process("exec sleep 60")
    twin.machine = VirtualMachine((Disk("a", 4096, "A", halts_at_write=halts),))
    monitor(twin._paths.monitor, "io-error")
    with pytest.raises(CommandTimeoutError if halts else HostError, match=None if halts else "are free in"):
        twin.run("look")


@pytest.mark.parametrize(
    ("script", "expected"),
    [("echo no memory; exit 1", HostError), ("kill -9 $$", HostError), ("exit 0", BootError)],
    ids=["fails", "is killed", "ends with its guest"],
)
def test_a_machine_that_ends_at_once_was_never_tried_unless_the_guest_ended_it(
    twin: Twin, script: str, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot, "qemu_arguments", lambda *_: ["sh", "-c", script])
    with pytest.raises(expected):
        twin._boot(20)


def test_a_machine_that_is_ended_by_us_has_not_failed(process: Begin) -> None:
    one, other = process("exec sleep 60"), process("exit 3")
    one.kill()
    assert other.wait(20) and other.failed and one.has_ended() and not one.failed


def test_a_start_for_which_there_is_no_room_says_so(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = twin.directory / "bin"
    programs.mkdir()
    (programs / "qemu-img").write_text("#!/bin/sh\necho No space left on device; exit 1\n")
    (programs / "qemu-img").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    with pytest.raises(HostError, match="No space left"):
        twin.start_over()


def test_a_machine_for_whose_files_there_is_no_room_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "vmlinuz"))

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(HostError, match=r"vmlinuz: No space left on device; .* are free in"):
        Twin.start([Disk("a", 4096, "A")], image=Image(tmp_path, tmp_path / "key"), directory=tmp_path / "t")


@pytest.mark.skipif(not shutil.which("qemu-img"), reason="qemu-img is not installed")
def test_a_disk_is_logged_from_a_start_on_and_only_then(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Twin, "_boot", lambda *_: None)
    log = twin.disk_file("a").with_suffix(".log")
    log.write_bytes(b"of an earlier start")
    twin.start_over(logged=True)
    assert twin.machine.disks[0].keeps_log and log.read_bytes() == b""
    assert twin.lose_power(lambda _: False) == 0, "nothing was written"
    assert not twin.machine.disks[0].keeps_log, "what comes after the power cut is not logged"
    twin.start_over()
    assert not twin.machine.disks[0].keeps_log


def test_another_order_of_disks_lasts_until_the_next_start_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Twin, "_boot", lambda *_: None)
    monkeypatch.setattr("raidplan.twin.server.machine.overlay", lambda paths, _: paths)
    one, other = Disk("a", 4096, "A"), Disk("b", 4096, "B")
    image = Image(tmp_path, tmp_path / "key")
    twin = Twin(VirtualMachine((one, other)), image, tmp_path, tmp_path / "log", own=False, say=print)
    twin.start_over(disks=[other, one])
    assert [disk.name for disk in twin.machine.disks] == ["b", "a"]
    twin.start_over(logged=True)
    assert [disk.name for disk in twin.machine.disks] == ["a", "b"]
    twin.stop()


@pytest.mark.skipif(not shutil.which("qemu-img"), reason="qemu-img is not installed")
def test_a_log_that_lacks_an_entry_is_a_failure_of_the_host(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the others begin is not known then, nor which writes were flushed."""
    monkeypatch.setattr(Twin, "_boot", lambda *_: None)
    twin.start_over(logged=True)
    log_of(twin.disk_file("a")).write_bytes(log((0, 0, b""), (0, 1, b"a" * 512)))
    with pytest.raises(HostError, match=r"disk a: the log of the disk lacks an entry .* are free in"):
        twin.lose_power(lambda _: False)
