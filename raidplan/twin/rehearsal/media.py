"""Faults of disks that stay in place, brought about in the running QEMU: other content, unreadable sectors, a slow disk."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from raidplan.base.size import GIB, SECTOR
from raidplan.twin.server import Twin, TwinError
from raidplan.twin.server.arguments import content_node, disk_id, disk_nodes

_STEP = GIB
"""qemu-io takes less than 2 GiB at once."""


def erase(twin: Twin, name: str) -> None:
    """Makes a disk that is out blank. Raises TwinError."""
    (size,) = (disk.size_bytes for disk in twin.machine.disks if disk.name == name)
    for at in range(0, size, _STEP):
        _write(twin, name, f"-z -u {at} {min(_STEP, size - at)}")


def change(twin: Twin, name: str, offset: int, size: int = SECTOR) -> None:
    """Other bytes at a place of a disk, which reports no error. Raises TwinError."""
    _write(twin, name, f"-P 0x5a {offset} {size}")


def is_changed(twin: Twin, name: str, offset: int) -> bool:
    """Whether a sector that was changed has that content still. Raises TwinError."""
    return "verification failed" not in _ask_qemu_io(twin, f"{content_node(name, twin.machine)}", f"read -P 0x5a {offset} {SECTOR}")  # fmt: skip


@contextmanager
def unreadable(twin: Twin, name: str, offset: int, times: int = 1) -> Iterator[None]:
    """A sector gives a medium error the first times that it is read, and is remapped by the write that follows."""
    # ENODATA is what QEMU makes a medium error of (scsi/utils.c, `scsi_sense_from_errno`).
    error = {"event": "none", "iotype": "read", "sector": offset // SECTOR, "errno": errno.ENODATA, "once": True}  # fmt: skip
    with _above(twin, name, {"driver": "blkdebug", "inject-error": [error] * times}, "image"):
        yield


@contextmanager
def slow(twin: Twin, name: str, requests_per_second: int) -> Iterator[None]:
    """A disk does so many requests in a second."""
    group = f"slow-{name}"
    with twin.monitor() as monitor:
        monitor.ask("object-add", **{"qom-type": "throttle-group", "id": group, "limits": {"iops-total": requests_per_second}})  # fmt: skip
    try:
        with _above(twin, name, {"driver": "throttle", "throttle-group": group}, "file"):
            yield
    finally:
        with twin.monitor() as monitor:
            monitor.ask("object-del", id=group)


@contextmanager
def _above(twin: Twin, name: str, node: dict[str, object], child: str) -> Iterator[None]:
    """A block node between a disk and its content.

    It is taken away again before a state is restored: in QEMU 7.2 a disk with a filter never answers after that.
    """
    content = disk_nodes(name, twin.machine, twin.disk_file(name))[-1]
    common = {"cache": content["cache"], "discard": content["discard"]}
    above = {**node, **common, "node-name": f"above-{name}", child: content["node-name"]}
    device = f"/machine/peripheral/{disk_id(name)}"
    with twin.monitor() as monitor:
        monitor.ask("blockdev-add", **above)
        monitor.ask("qom-set", path=device, property="drive", value=above["node-name"])
    try:
        yield
    finally:
        with twin.monitor() as monitor:
            monitor.ask("qom-set", path=device, property="drive", value=content["node-name"])
            monitor.ask("blockdev-del", **{"node-name": above["node-name"]})


def _write(twin: Twin, name: str, words: str) -> None:
    said = _ask_qemu_io(twin, content_node(name, twin.machine), f"write {words}")
    if not said.startswith("wrote "):
        raise TwinError(f"qemu-io, write {words}: {said.strip()}")


def _ask_qemu_io(twin: Twin, node: str, words: str) -> str:
    """The answer of QEMU's own qemu-io, which goes to QEMU's log. Raises TwinError."""
    log = twin.directory / "qemu.log"
    before = log.stat().st_size
    with twin.monitor(600) as monitor:
        said = monitor.ask("human-monitor-command", **{"command-line": f'qemu-io {node} "{words}"'})
    return str(said) + log.read_text(errors="replace")[before:]
