"""The folders of a twin: its own one, and a second one for sockets, whose paths must be short."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from raidplan.twin.server.arguments import OVMF, Paths
from raidplan.twin.server.failure import HostError
from raidplan.twin.server.hardware import Disk, VirtualMachine
from raidplan.twin.server.image import Image
from raidplan.twin.server.tools import tool
from raidplan.twin.server.unflushed import log_of

_SOCKET_FOLDER_AT_MOST = 60
"""Bytes. A socket's path ends at 108 bytes, and ssh appends a dozen of its own while it connects."""


def socket_folder() -> Path:
    """A new private folder with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="twin-"))
    if len(str(folder)) <= _SOCKET_FOLDER_AT_MOST:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="twin-", dir="/tmp"))


def paths_in(directory: Path, console: Path, sockets: Path, disks: tuple[Disk, ...]) -> Paths:
    """The names of a machine's files."""
    return Paths(
        root=directory / "root.img",
        kernel=directory / "vmlinuz",
        initrd=directory / "initrd.img",
        console=console,
        terminal=sockets / "console",
        monitor=sockets / "qmp",
        variables=directory / "variables.fd",
        disks={disk.name: directory / "disks" / f"{disk.name}.img" for disk in disks},
    )


def lay_out(image: Image, paths: Paths, machine: VirtualMachine) -> None:
    """A copy of the image that the guest may change, empty disks of the true sizes, new firmware variables, an empty console log."""
    if machine.firmware in OVMF:
        new = OVMF[machine.firmware][1]
        _above(new, paths.variables) if machine.snapshots else shutil.copyfile(new, paths.variables)
    paths.console.parent.mkdir(parents=True, exist_ok=True)
    paths.console.write_bytes(b"")
    shutil.copyfile(image.kernel, paths.kernel)
    shutil.copyfile(image.initrd, paths.initrd)
    if machine.snapshots:
        _above(image.root, paths.root)
    else:
        tool(["cp", "--sparse=always", "--reflink=auto", str(image.root), str(paths.root)], HostError)
    for disk in machine.disks:
        file = paths.disks[disk.name]
        file.unlink(missing_ok=True)
        if machine.snapshots:
            file.parent.mkdir(exist_ok=True)
            tool(["qemu-img", "create", "-q", "-f", "qcow2", str(file), str(disk.size_bytes)], HostError)
    lay_out_disks(paths, machine.disks)


def overlay(paths: Paths, blank: Collection[str] = ()) -> Paths:
    """New files that hold what is written from now on, above those that stand; nothing is on the `blank` disks. Raises HostError."""

    def above(path: Path, *, empty: bool = False) -> Path:
        made = path.with_suffix(".qcow2")
        made.unlink(missing_ok=True)
        if empty:
            tool(["qemu-img", "create", "-q", "-f", "qcow2", str(made), str(path.stat().st_size)], HostError)
        else:
            _above(path, made)
        return made

    disks = {name: above(path, empty=name in blank) for name, path in paths.disks.items()}
    for path in disks.values():
        log_of(path).write_bytes(b"")  # QEMU begins it with the first write
    variables = above(paths.variables) if paths.variables.exists() else paths.variables
    return replace(paths, root=above(paths.root), variables=variables, disks=disks)


def _above(base: Path, made: Path) -> None:
    """A file that holds what is written from now on, above a raw one."""
    tool(["qemu-img", "create", "-q", "-f", "qcow2", "-b", str(base), "-F", "raw", str(made)], HostError)


def lay_out_disks(paths: Paths, disks: tuple[Disk, ...]) -> None:
    """The files of disks and of their logs: empty ones of the true sizes, where there are none yet."""
    for disk in disks:
        path = paths.disks[disk.name]
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            with path.open("wb") as file:
                file.truncate(disk.size_bytes)
        if disk.keeps_log:
            log_of(path).touch()
