"""The way from a QEMU that was started to a guest that can be spoken to."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from raidplan.twin.server.arguments import Paths, qemu_arguments
from raidplan.twin.server.console import Console
from raidplan.twin.server.failure import (
    BootError,
    HostError,
    TwinError,
    UnreachableError,
    room_in,
    with_console,
)
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.image import Image
from raidplan.twin.server.process import QemuProcess
from raidplan.twin.server.qmp import Monitor
from raidplan.twin.server.ssh import Shell
from raidplan.twin.server.tools import without_interruption

_TRIES = 5
"""So often is QEMU started where the port was taken, or where it fails the kernel."""
Started = tuple[Shell, QemuProcess, subprocess.Popen[bytes]]
"""The way into the guest, QEMU, and the process that holds the connection."""
_GIVEN_UP = re.compile(rb"You are in emergency mode|Cannot open access to console|Kernel panic")
_STALE = re.compile(rb"int3: 0000 \[#1\].*kernel_init_freeable", re.DOTALL)
"""The kernel met the breakpoint with which it had replaced an instruction of its own, after it had taken it away again.

No processor does that; QEMU 7.2, which emulates several processors in as many threads, was seen to do it. With
`kernel_init_freeable` on its stack the kernel had not begun its initramfs: nothing is written yet, so that the boot can begin anew.
"""


class PortTakenError(Exception):
    """Another process took the port between our choice and QEMU's start."""


class StaleCodeError(HostError):
    """QEMU ran code that the kernel had replaced; of the guest that says nothing."""


def power_on(
    machine: VirtualMachine, paths: Paths, image: Image, shell: Shell, log: Path, deadline: float
) -> Started:
    """QEMU started on a free port, and the connection to the guest once it answers. Raises BootError, HostError."""
    stale = None
    for _ in range(_TRIES):
        port = free_port()
        shell = replace(shell, port=port)
        shell.write_config(image.identity, image.host_key)
        process: QemuProcess | None = None
        try:
            with without_interruption():
                process = QemuProcess(qemu_arguments(machine, paths, port), log)
            return shell, process, connect(shell, process, paths, deadline)
        except PortTakenError:
            continue
        except BaseException as error:
            if process:
                process.kill()
            if not isinstance(error, StaleCodeError):
                raise
            stale = error
    raise stale or HostError("no free port on the loopback address")


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def connect(shell: Shell, process: QemuProcess, paths: Paths, deadline: float) -> subprocess.Popen[bytes]:
    """The process that holds the connection to the guest, once it answers; `deadline` as `time.monotonic` counts.

    Raises PortTakenError, BootError, HostError.
    """
    with closing(Console(paths.console, paths.terminal)) as console:
        _wait(shell, process, console, deadline, paths)
    try:
        return shell.connect(max(10.0, deadline - time.monotonic()))
    except UnreachableError as error:
        raise BootError(with_console(str(error), paths.console)) from error


def check_host(process: QemuProcess, paths: Paths) -> None:
    """Raises HostError where it is the host for which the guest does not answer: QEMU failed, or a write to its files did."""
    if process.has_ended():
        if process.failed:
            raise HostError(f"QEMU was ended, or failed: {process.messages or 'it said nothing'}")
        return
    status = ""
    with suppress(TwinError), Monitor(paths.monitor) as monitor:
        status = monitor.ask("query-status")["status"]
    if status == "io-error":
        raise HostError(f"the machine stands still, for a write to its files failed; {room_in(paths.root.parent)}")  # fmt: skip


def _wait(shell: Shell, process: QemuProcess, console: Console, deadline: float, paths: Paths) -> None:
    """Until the guest answers over SSH."""
    while not shell.greets():
        console.answer()
        ended = process.has_ended()
        shown = console.shown
        if _STALE.search(shown):
            raise StaleCodeError(with_console("QEMU ran code that the kernel had replaced", console.log))
        if ended:
            if "host forwarding" in process.messages:
                raise PortTakenError
            check_host(process, paths)
            raise BootError(with_console(f"the machine ended while booting: {process.messages}", console.log))
        if _GIVEN_UP.search(shown):
            raise BootError(with_console("the guest gave up booting", console.log))
        if time.monotonic() > deadline:
            check_host(process, paths)
            raise BootError(with_console("the guest could not be reached in time", console.log))
        time.sleep(0.1)
