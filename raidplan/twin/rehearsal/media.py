"""Faults of disks that stay in place, brought about in the running QEMU: other content, unreadable sectors, a slow disk."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import replace

from raidplan.base.size import GIB
from raidplan.twin.server import Disk, Twin, TwinError
from raidplan.twin.server.arguments import content_node, disk_nodes

NO_LIMIT = 1 << 40
"""Bytes per second of a disk that nothing holds back; a group that has a limit can be given another one."""
SECTOR = 512
_STEP = GIB
"""qemu-io takes less than 2 GiB at once."""


def limited(disks: Iterable[Disk]) -> list[Disk]:
    """The disks, each with a throttle of its own, which lets everything pass until it is lowered."""
    return [replace(disk, limit_bytes_per_second=NO_LIMIT) for disk in disks]


def erase(twin: Twin, name: str) -> None:
    """Makes a disk that is out blank. Raises TwinError."""
    (size,) = (disk.size_bytes for disk in twin.machine.disks if disk.name == name)
    for at in range(0, size, _STEP):
        _write(twin, name, f"-z -u {at} {min(_STEP, size - at)}")


def change(twin: Twin, name: str, offset: int, size: int = SECTOR) -> None:
    """Other bytes at a place of a disk, which reports no error. Raises TwinError."""
    _write(twin, name, f"-P 0x5a {offset} {size}")


def make_unreadable(twin: Twin, name: str, offset: int) -> None:
    """A sector that gives a medium error when it is read for the first time, and is remapped by the write that follows."""
    content, *above = disk_nodes(name, twin.machine, twin.disk_file(name))
    bad = {
        "driver": "blkdebug",
        "node-name": _bad(name),
        "image": content["node-name"],
        "inject-error": [
            # ENODATA is what QEMU makes a medium error of (scsi/utils.c, `scsi_sense_from_errno`).
            {"event": "none", "iotype": "read", "sector": offset // SECTOR, "errno": errno.ENODATA, "once": True}
        ],
        "cache": content["cache"],
        "discard": content["discard"],
    }  # fmt: skip
    with twin.monitor() as monitor:
        monitor.ask("blockdev-add", **bad)
        monitor.ask("blockdev-reopen", options=[{**above[0], "file": _bad(name)}])


def make_readable(twin: Twin, name: str) -> None:
    """Takes the unreadable sector away. Raises TwinError where there is none."""
    _, *above = disk_nodes(name, twin.machine, twin.disk_file(name))
    with twin.monitor() as monitor:
        monitor.ask("blockdev-reopen", options=[above[0]])
        monitor.ask("blockdev-del", **{"node-name": _bad(name)})


def slow_down(twin: Twin, name: str, requests_per_second: int) -> None:
    """Lets a disk do so many requests in a second; 0: as many as it can."""
    group = disk_nodes(name, twin.machine, twin.disk_file(name))[-1]["throttle-group"]
    with twin.monitor() as monitor:
        monitor.ask(
            "qom-set", path=f"/objects/{group}", property="limits", value={"iops-total": requests_per_second}
        )


def _bad(name: str) -> str:
    return f"bad-{name}"


def _write(twin: Twin, name: str, words: str) -> None:
    command = f'qemu-io {content_node(name, twin.machine)} "write {words}"'
    log = twin.directory / "qemu.log"  # to which QEMU writes what its qemu-io says
    before = log.stat().st_size
    with twin.monitor(600) as monitor:
        said = monitor.ask("human-monitor-command", **{"command-line": command})
    written = log.read_text(errors="replace")[before:]
    if said or not written.startswith("wrote "):
        raise TwinError(f"{command}: {said.strip() or written.strip()}")
