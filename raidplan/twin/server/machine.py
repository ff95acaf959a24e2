"""A running twin: started, spoken to, rebooted, robbed of disks and of power."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from raidplan.twin.server import states
from raidplan.twin.server.arguments import Paths, disk_device, disk_id, state_nodes
from raidplan.twin.server.boot import connect, power_on
from raidplan.twin.server.boot_files import take_boot_files
from raidplan.twin.server.failure import (
    BootError,
    CommandTimeoutError,
    HostError,
    TwinError,
    of_host,
    room_in,
    with_console,
)
from raidplan.twin.server.folders import lay_out, overlay, paths_in, socket_folder
from raidplan.twin.server.guest import Guest
from raidplan.twin.server.hardware import Disk, Firmware, Link, VirtualMachine, check_machine
from raidplan.twin.server.image import Image, Say, find_or_build
from raidplan.twin.server.process import QemuProcess
from raidplan.twin.server.qmp import Monitor
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.ssh import Shell
from raidplan.twin.server.tools import without_interruption
from raidplan.twin.server.unflushed import log_of, lose_above

BOOT_SECONDS = 240.0


class Twin(Guest):
    """A virtual server with the given disks; a context manager that ends it.

    Its files are in `directory`: root.img, one sparse file per disk below disks/, console.log, ssh_config.
    """

    def __init__(
        self, machine: VirtualMachine, image: Image, directory: Path, console: Path, *, own: bool, say: Say
    ) -> None:
        """Use `Twin.start`."""
        self.directory = directory
        self.console = console
        self.machine = machine
        self.first_order = machine.disks
        """The disks in the order of the first start, which `start_over` keeps to unless it is told another one."""
        self._image = image
        self.booted_in = 0.0
        self.settled_in = 0.0
        self._say = say
        self._own = own
        self._sockets = socket_folder()
        self._paths = paths_in(directory, console, self._sockets, machine.disks)
        self._base: Paths | None = None
        self._process: QemuProcess | None = None
        self._master: subprocess.Popen[bytes] | None = None
        self._shell = Shell(directory / "ssh_config", 0, self._sockets / "ssh")

    @classmethod
    def start(
        cls,
        disks: Iterable[Disk],
        *,
        directory: Path | None = None,
        memory_mib: int = 2048,
        cpus: int = 2,
        links: Sequence[Link] = (),
        release: str = "bookworm",
        console: Path | None = None,
        cache: str = "unsafe",
        accelerator: str = "tcg,thread=multi",
        online: bool = False,
        kernel_arguments: str = "",
        firmware: Firmware = "bios",
        snapshots: bool = False,
        recipe: Recipe | None = None,
        image: Image | None = None,
        boot_timeout: float = BOOT_SECONDS,
        say: Say = lambda _: None,
    ) -> Self:
        """A machine that has booted and answers over SSH, of `image` or of one that is built first where the cache has none.

        Without `directory` its files are in a temporary folder that `stop` removes; with it they stay. `cache`
        is one of QEMU's cache modes for the disks; `online` lets the guest out to the network; with `snapshots` its
        states can be saved and restored. Raises ValueError for hardware that cannot be shown as given, BuildError, BootError.
        """
        words = (memory_mib, cpus, cache, accelerator, online, kernel_arguments)
        machine = VirtualMachine(tuple(disks), tuple(links), *words, firmware=firmware, snapshots=snapshots)
        check_machine(machine)
        image = image or find_or_build(recipe or Recipe(release), say=say)
        twin: Self | None = None
        try:
            with without_interruption():  # whoever ends it knows of all that was made
                folder = directory or Path(tempfile.mkdtemp(prefix="twin-"))
                folder.mkdir(parents=True, exist_ok=True)
                console = console or folder / "console.log"
                twin = cls(machine, image, folder, console, own=directory is None, say=say)
                atexit.register(twin.stop)
            with of_host(folder):
                lay_out(image, twin._paths, machine)
            twin._boot(boot_timeout)
        except BaseException:
            if twin:
                twin.stop()
            raise
        return twin

    @property
    def pid(self) -> int | None:
        """The process id of QEMU while the machine is on."""
        return self._process.pid if self._process and self.running else None

    @property
    def running(self) -> bool:
        """Whether the machine is on."""
        return self._process is not None and not self._process.has_ended()

    def disk_file(self, name: str) -> Path:
        """The sparse file that holds the content of a disk."""
        return self._paths.disks[name]

    def shut_down(self, *, timeout: float = BOOT_SECONDS) -> None:
        """Shuts the guest down cleanly. Raises BootError where it is still on after `timeout` seconds."""
        if not self.running:
            raise TwinError("the machine is off")
        self.run("systemctl poweroff --no-block", check=False, timeout=60)
        if self._process and not self._process.wait(timeout):
            raise BootError(with_console(f"the guest did not shut down within {timeout:.0f} s", self.console))
        self._disconnect()

    def save(self, name: str) -> None:
        """Keeps the state of the whole machine, with its memory and all disks. Raises TwinError for one without `snapshots`."""
        with self._states() as monitor:
            try:
                states.save(monitor, name, state_nodes(self.machine))
            except TwinError as error:
                raise HostError(f"{error}; {room_in(self.directory)}") from error

    def restore(self, name: str, *, timeout: float = BOOT_SECONDS) -> None:
        """Makes the machine what it was when the state was saved. Raises TwinError where there is none."""
        self._disconnect()
        with self._states() as monitor:
            states.load(monitor, name, state_nodes(self.machine))
        assert self._process is not None
        self._master = connect(self._shell, self._process, self._paths, time.monotonic() + timeout)

    def _states(self) -> Monitor:
        if not self.machine.snapshots:
            raise TwinError("the machine was started without snapshots")
        return self.monitor(states.SECONDS)

    def monitor(self, timeout: float = 60) -> Monitor:
        """QEMU's monitor; a context manager. Raises TwinError where the machine is off."""
        return Monitor(self._paths.monitor, timeout)

    def power_cut(self) -> None:
        """Ends the machine in the middle of whatever it does; `start_again` gives it power again."""
        if self._process:
            self._process.kill()
        self._disconnect()

    def lose_power(self, kept: Callable[[int], bool]) -> int:
        """`power_cut`, and of the writes that a disk had not flushed since `start_over` those stay whose numbers are `kept`.

        Returns how many were lost; no disk keeps a log after that. Raises HostError.
        """
        self.power_cut()
        base = self._base.disks if self._base else {}
        lost = 0
        with of_host(self.directory):
            for name, file in self._paths.disks.items():
                try:
                    lost += lose_above(file, base[name], kept)
                except ValueError as error:
                    raise HostError(f"disk {name}: {error}; {room_in(self.directory)}") from None
                log_of(file).write_bytes(b"")
        self.machine = replace(self.machine, disks=tuple(replace(disk, keeps_log=False) for disk in self.machine.disks))  # fmt: skip
        return lost

    def start_again(self, *, timeout: float = BOOT_SECONDS, snapshots: bool = False) -> None:
        """Boots a machine that is off as a boot loader would: from its own disk; with `snapshots` on new files above those
        that stand, so that its states can be saved. One that has such files boots with the kernel of before. Raises BootError.
        """
        if self.running:
            raise TwinError("the machine is on already")
        if not (self.machine.snapshots or self.machine.boots_itself):
            take_boot_files(self._paths.root, self._paths.kernel, self._paths.initrd)
        if snapshots and not self.machine.snapshots:
            self.start_over(without=self.machine.unplugged, timeout=timeout)
        else:
            self._boot(timeout)

    def start_over(
        self, *, without: Iterable[str] = (), blank: Collection[str] = (), disks: Sequence[Disk] = (), logged: bool = False,
        timeout: float = BOOT_SECONDS,
    ) -> None:  # fmt: skip
        """Boots on new files above those of the first start with `snapshots`: what came since is forgotten, also saved states.

        `without` some disks, with nothing on the `blank` ones, and with `disks`, the same ones, in another order until the next
        start over; `logged` for `lose_power`. Raises BootError, HostError.
        """
        if self.machine.snapshots and self._base is None:
            raise TwinError("the disks of this machine were never raw files")
        self.power_cut()
        if self._base is None:
            self._base, self.first_order = self._paths, self.machine.disks
        with of_host(self.directory):
            self._paths = overlay(self._base, blank)
        order = tuple(replace(disk, keeps_log=logged) for disk in disks or self.first_order)
        self.machine = replace(self.machine, snapshots=True, disks=order, unplugged=frozenset(without))
        self._boot(timeout)

    def start_from_disks(self, *, timeout: float = BOOT_SECONDS) -> None:
        """Boots a machine that is off without its root disk: by firmware and what is on the other disks. Raises BootError."""
        if self.running:
            raise TwinError("the machine is on already")
        self.machine = replace(self.machine, boots_itself=True)
        self._boot(timeout)

    def halted(self) -> bool:
        """Whether a disk has stopped the machine, which waits for `power_cut`. Raises TwinError where it is off."""
        with self.monitor() as monitor:
            return bool(monitor.ask("query-status")["status"] == "io-error")

    def unplug(self, *names: str) -> None:
        """Pulls disks out, all at once; they stay out over a reboot until `plug`. Raises TwinError."""
        self._check_names(names)
        with self.monitor() as monitor:
            for name in names:
                monitor.ask("device_del", id=disk_id(name))
            for name in names:
                monitor.wait_for("DEVICE_DELETED", 60, device=disk_id(name))
        self.machine = replace(self.machine, unplugged=self.machine.unplugged | set(names))

    def plug(self, *names: str) -> None:
        """Puts disks that were pulled back to where they were, with what is on them, also into a machine that is off. Raises TwinError."""
        self._check_names(names)
        if self.running:
            with self.monitor() as monitor:
                for disk in self.machine.disks:
                    if disk.name in names:
                        monitor.ask("device_add", **disk_device(disk, self.machine))
        self.machine = replace(self.machine, unplugged=self.machine.unplugged - set(names))

    def stop(self) -> None:
        """Ends the machine and removes what is temporary. Does nothing a second time."""
        with without_interruption():
            self.power_cut()
            shutil.rmtree(self._sockets, ignore_errors=True)
            if self._own:
                shutil.rmtree(self.directory, ignore_errors=True)
            atexit.unregister(self.stop)

    def _boot(self, timeout: float) -> None:
        began = time.monotonic()
        self._say(f"booting a machine with {len(self.machine.disks)} disks")
        log, until = self.directory / "qemu.log", began + timeout
        with of_host(self.directory):
            on = power_on(self.machine, self._paths, self._image, self._shell, log, until)
        self._shell, self._process, self._master = on
        self.booted_in = time.monotonic() - began
        left = max(1.0, timeout - self.booted_in)
        with contextlib.suppress(CommandTimeoutError):  # a unit that hangs is for the caller to find
            self.run("systemctl is-system-running --wait", check=False, timeout=left)
        self.settled_in = time.monotonic() - began

    def _disconnect(self) -> None:
        if self._master:
            self._master.kill()
            self._master.communicate()
            self._master = None

    def _check_names(self, names: Iterable[str]) -> None:
        if unknown := set(names) - {disk.name for disk in self.machine.disks}:
            raise ValueError(f"the machine has no disk {', '.join(sorted(unknown))}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
