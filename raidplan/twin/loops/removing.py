"""The removal of what `up` made, whatever state it is in: what stands on it, the loop devices, the files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from raidplan.base.words import counted
from raidplan.facts.run import CommandFailed, find_tool, run
from raidplan.twin.loops.folder import OURS, Folder, is_blank
from raidplan.twin.loops.losetup import Loop, detach, loops
from raidplan.twin.loops.ours import is_ours, is_unrecorded, our_loops, taken_over
from raidplan.twin.loops.record import Record
from raidplan.twin.loops.refused import LoopsRefused, Stopped
from raidplan.twin.loops.teardown import Action, teardown
from raidplan.twin.loops.users import read_users

ROUNDS = 8
"""How often the devices on top are read again: udev may assemble an array that was just stopped."""
DETACH_SECONDS = 10.0
"""How long the last user of a loop device may take to close it; udev looks at every change."""


@dataclass(frozen=True, slots=True)
class Down:
    """The devices and files that were removed, and those that were left alone, in words."""

    folder: Path
    detached: tuple[str, ...] = ()
    """Loop devices, by node."""
    removed: tuple[str, ...] = ()
    """Files, by name."""
    left: tuple[str, ...] = ()
    folder_removed: bool = True


def down(directory: Path, host: str = "", *, tell: Callable[[str], None] = lambda _: None) -> Down:
    """Removes the loop devices of a folder, all that stands on them, and their files.

    `tell` hears of each step before it is taken. `host` must be the folder's, if it is given. A second call
    finds nothing to do. Raises LoopsRefused if something that is not ours would be touched, and Stopped where a
    step fails: the next call goes on from there.
    """
    try:
        folder = Folder.open(directory)
    except FileNotFoundError:
        return Down(directory)
    with folder:
        record = folder.record()
        if record is None:
            return _not_ours(folder)
        _may_remove(folder, record, host)
        try:
            _clear(folder, record, tell)
            return remove(folder, record, tell)
        except (OSError, CommandFailed) as error:
            raise Stopped(str(error), left=True) from error


def _not_ours(folder: Folder) -> Down:
    """Without a record nothing is ours, but for the beginning of a record that was never finished."""
    names = folder.names()
    if not is_blank(names):
        return Down(
            folder.path, left=(f"{folder.path} has no record of ours: left alone",), folder_removed=False
        )
    for name in names:
        folder.remove(name)
    folder.path.rmdir()
    return Down(folder.path)


def _may_remove(folder: Folder, record: Record, host: str) -> None:
    if os.geteuid() != 0:
        raise LoopsRefused(["not root: run it with sudo"])
    if host and host != record.host:
        raise LoopsRefused([f"{folder.path} was made for the host {record.host}, not for {host}"])
    if not find_tool("losetup"):
        raise LoopsRefused(["the program losetup is missing: install util-linux"])


def _clear(folder: Folder, record: Record, tell: Callable[[str], None]) -> None:
    """Takes off everything that stands on our loop devices. Raises LoopsRefused at first, later Stopped."""
    before: list[Action] = []
    for number in range(ROUNDS):
        try:
            actions = _actions(folder, record)
        except LoopsRefused as error:
            if number == 0:
                raise
            raise Stopped(str(error), left=True) from error
        if not actions:
            return
        if actions == before:
            break
        for action in actions:
            tell(action.say)
            run(action.argv, check=True)
            _settle()
        before = actions
    stuck = "; ".join(action.say for action in actions)
    raise Stopped(
        f"the users of the loop devices come back as soon as they are taken off: {stuck}", left=True
    )


def _actions(folder: Folder, record: Record) -> list[Action]:
    """The commands that clear the way now. Raises LoopsRefused, also for a program that would be needed and is missing."""
    listed = loops()
    names = [loop.name for found in our_loops(folder, record, listed).values() for loop in found]
    actions = teardown(names, listed, read_users())
    missing = sorted({action.argv[0] for action in actions if not find_tool(action.argv[0])})
    if missing:
        raise LoopsRefused([f"the program {tool} is missing: install it" for tool in missing])
    return actions


def _settle() -> None:
    """Waits for udev, where it runs, to have looked at what changed: it keeps devices open meanwhile."""
    if find_tool("udevadm") and Path("/run/udev/control").exists():
        run(["udevadm", "settle", "--timeout=30"])


def remove(folder: Folder, record: Record, tell: Callable[[str], None]) -> Down:
    """Detaches the loop devices and deletes the files. Raises Stopped, OSError, CommandFailed."""
    listed = loops()
    ours = our_loops(folder, record, listed)
    left = taken_over(folder, ours, listed)
    nodes = [loop for found in ours.values() for loop in found]
    if nodes:
        tell(f"detach {counted(len(nodes), 'loop device')}")
    detached = [loop.node for loop in detach(nodes)]
    _await_detached(folder, record)
    removed = [file.name for file in record.files if is_ours(folder, file) or is_unrecorded(folder, file)]
    if removed:
        tell(f"delete {counted(len(removed), 'file')}")
    for name in (*removed, *OURS):
        folder.remove(name)
    kept = folder.names()
    left += [f"{folder.path / name} is not ours: left alone" for name in kept]
    if not kept:
        folder.path.rmdir()
    return Down(folder.path, tuple(detached), tuple(removed), tuple(left), folder_removed=not kept)


def _await_detached(folder: Folder, record: Record) -> None:
    """Detaching waits for the last user. Raises Stopped if one keeps a loop device open."""
    until = time.monotonic() + DETACH_SECONDS
    while busy := [loop for found in our_loops(folder, record, loops()).values() for loop in found]:
        if time.monotonic() > until:
            raise Stopped(f"still in use: {_nodes(busy)}; close what uses it and try again", left=True)
        time.sleep(0.05)


def _nodes(busy: Iterable[Loop]) -> str:
    return ", ".join(loop.node for loop in busy)
