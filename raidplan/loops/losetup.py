"""Loop devices through losetup(8): what there is, one more, one less."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from raidplan.run import CommandFailed, run

COLUMNS = "NAME,BACK-FILE,BACK-INO,BACK-MAJ:MIN,LOG-SEC"
DELETED = " (deleted)"
"""What the kernel puts behind the name of a backing file that was removed."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop device in use, and the file behind it: by number what it is, by name what it was called."""

    node: str
    """/dev/loop5"""
    file: str
    inode: int
    device: int
    """The file system that holds the file, as `st_dev` has it."""
    sector: int
    """Bytes in a logical sector."""

    @property
    def name(self) -> str:
        """The kernel's: loop5."""
        return self.node.removeprefix("/dev/")


def loops(node: str = "") -> tuple[Loop, ...]:
    """Every loop device in use, or `node` alone, if it is in use. Raises CommandFailed."""
    only = (node,) if node else ()
    answer = run(["losetup", "--json", "--list", "--output", COLUMNS, *only])
    if not answer.ok and not node:
        raise CommandFailed(answer.argv, answer.returncode, answer.stderr)
    rows = json.loads(answer.stdout)["loopdevices"] if answer.ok and answer.stdout.strip() else []
    return tuple(found for row in rows if (found := _loop(row)) is not None)


def _loop(row: dict[str, Any]) -> Loop | None:
    """A row of losetup, of any release: numbers as such or as text, padded or not. None without a file."""
    major, _, minor = str(row.get("back-maj:min") or "").strip().partition(":")
    inode = str(row.get("back-ino") or "").strip()
    if not (major.isdigit() and minor.isdigit() and inode.isdigit()):
        return None
    return Loop(
        node=str(row["name"]),
        file=str(row.get("back-file") or ""),
        inode=int(inode),
        device=os.makedev(int(major), int(minor)),
        sector=int(str(row.get("log-sec") or 512)),
    )


def attach(file: str, sector: int) -> Loop:
    """A loop device over a file, with partitions and without direct I/O, in sectors of `sector` bytes.

    The kernel makes another device where all are taken. Raises CommandFailed, and RuntimeError where the
    kernel did not give what was asked for.
    """
    # The page cache stays in between: sparse files on any file system, and no alignment to care about.
    asked = ["losetup", "--find", "--show", "--partscan", "--direct-io=off", f"--sector-size={sector}", file]
    node = run(asked, check=True).stdout.strip()
    found = loops(node)
    if not found:
        raise RuntimeError(f"{node} was attached to {file} and is gone")
    if found[0].sector != sector:
        detach(found[0])
        raise RuntimeError(
            f"{node} has sectors of {found[0].sector} B instead of {sector} B: the kernel is too old"
        )
    return found[0]


def detach(loop: Loop) -> bool:
    """Detaches it unless it has become another's; False if it has. Raises CommandFailed, OSError.

    The kernel does it when the last user closes the device, so afterwards it may still be there for a while.
    """
    # While we hold it open it cannot be given another file between the look and the detaching.
    held = os.open(loop.node, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        now = loops(loop.node)
        if not now or (now[0].inode, now[0].device) != (loop.inode, loop.device):
            return False
        run(["losetup", "--detach", loop.node], check=True)
    finally:
        os.close(held)
    return True
