"""Loop devices through losetup(8): what there is, one more, one less."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from raidplan.facts.run import run

COLUMNS = "NAME,BACK-FILE,BACK-INO,BACK-MAJ:MIN,LOG-SEC"
DELETED = " (deleted)"
"""The kernel's suffix for the name of a backing file that was removed."""


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


def loops() -> tuple[Loop, ...]:
    """Every loop device in use. Raises CommandFailed."""
    answer = run(["losetup", "--json", "--list", "--output", COLUMNS], check=True)
    # Without any it prints nothing at all.
    rows = json.loads(answer.stdout)["loopdevices"] if answer.stdout.strip() else []
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


def attach(file: str, sector: int) -> str:
    """The node of a new loop device over a file, with partitions and in sectors of `sector` bytes.

    The kernel makes another device where all are taken. An old one may ignore the sector size: look at what
    `loops` says. Raises CommandFailed.
    """
    # The page cache stays in between: sparse files on any file system, and no alignment to care about.
    asked = ("--find", "--show", "--partscan", "--direct-io=off", f"--sector-size={sector}")
    return run(["losetup", *asked, file], check=True).stdout.strip()


def detach(wanted: Sequence[Loop]) -> list[Loop]:
    """Detaches these loop devices, except those that have become another's; says which it did.

    The kernel does it when the last user closes the device, so afterwards one may still be there for a
    while. Raises CommandFailed, OSError.
    """
    with ExitStack() as held:
        # While we hold it open it cannot be given another file between the look and the detaching.
        for loop in wanted:
            held.callback(os.close, os.open(loop.node, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
        now = {loop.node: (loop.inode, loop.device) for loop in loops()}
        same = [loop for loop in wanted if now.get(loop.node) == (loop.inode, loop.device)]
        if same:
            run(["losetup", "--detach", *(loop.node for loop in same)], check=True)
    return same
