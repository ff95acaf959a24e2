"""The making of loop devices in place of a layout's disks: a sparse file each, attached, and written down."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from raidplan.base.size import SECTORS, human
from raidplan.base.words import counted
from raidplan.facts.run import CommandFailed, find_tool
from raidplan.twin.loops.folder import DEVICES, LAYOUT, NEW, RECORD, Folder, is_blank
from raidplan.twin.loops.losetup import attach, detach, loops
from raidplan.twin.loops.ours import is_ours, is_unrecorded, our_loops
from raidplan.twin.loops.record import DiskFile, Record
from raidplan.twin.loops.refused import LoopsRefused, Stopped
from raidplan.twin.loops.removing import remove

LAST_WORDS = 0.5
"""Seconds: an interrupt ends us, and not the losetup that was just running; what it makes is to be seen."""


@dataclass(frozen=True, slots=True)
class Up:
    """The loop devices of a layout."""

    folder: Path
    devices: dict[str, str]
    """Disk to device node, for every disk."""
    made: tuple[str, ...]
    """The disks whose files are new; the others were there, with what is on them."""
    attached: tuple[str, ...]
    """The disks whose loop devices are new."""

    @property
    def devices_file(self) -> Path:
        """The file that `plan` and `apply` take with --devices."""
        return self.folder / DEVICES


def up(
    record: Record,
    directory: Path,
    *,
    layout: str = "",
    needed: int = 0,
    tell: Callable[[str], None] = lambda _: None,
) -> Up:
    """Makes the files of `record` in `directory`, a loop device over each, and the mapping of disks to them.

    `layout` is the text of the scaled layout, if there is one. `needed` is how many bytes setting it all up
    will write into the sparse files. A folder that was made for the same disks is completed: after a reboot
    its files get their loop devices again. `tell` hears of each step before it is taken.

    Raises LoopsRefused where nothing was touched, Stopped after a failure; what was new has been removed then,
    unless `left` says otherwise.
    """
    problems = list(_cannot(record))
    if problems:
        raise LoopsRefused(problems)
    made = _make_folder(directory)
    try:
        with Folder.open(directory) as folder:
            known = _record_of_same_disks(folder, record)
            if known is None and needed > folder.free_bytes():
                raise LoopsRefused([_no_space(folder, needed)])
            return _build(folder, known or record, layout, tell, fresh=known is None)
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                directory.rmdir()  # only ever an empty one
        raise


def _cannot(record: Record) -> Iterator[str]:
    if os.geteuid() != 0:
        yield "not root: run it with sudo"
    if not find_tool("losetup"):
        yield "the program losetup is missing: install util-linux"
    if not record.files:
        yield "this layout uses no disks"
    for file in record.files:
        if file.sector not in SECTORS:
            yield f"{file.disk} has sectors of {file.sector} B, and loop devices have 512 B to 4096 B"


def _make_folder(directory: Path) -> bool:
    """False if it is there already. Raises LoopsRefused."""
    try:
        directory.mkdir(0o700)
    except FileExistsError:
        return False
    except OSError as error:
        raise LoopsRefused([f"cannot make the folder {directory}: {error.strerror}"]) from None
    return True


def _no_space(folder: Folder, needed: int) -> str:
    return (
        f"setting this layout up writes about {human(needed)} into the files, and {folder.path} has room for "
        f"{human(folder.free_bytes())}: take a larger --scale or another --directory"
    )


def _record_of_same_disks(folder: Folder, wanted: Record) -> Record | None:
    """The folder's record, if it was made for the same disks; None for an empty folder. Raises LoopsRefused."""
    found = folder.record()
    if found is None:
        if is_blank(folder.names()):
            return None
        raise LoopsRefused([f"{folder.path} exists and is not ours: take another --directory"])
    if not found.same_disks(wanted):
        raise LoopsRefused([f"{folder.path} was made for other disks: `raidplan loops down` removes it"])
    conflicts = list(_conflicts(folder, found))
    if conflicts:
        raise LoopsRefused(conflicts)
    return found


def _conflicts(folder: Folder, record: Record) -> Iterator[str]:
    """Files that are not the ones that were made here."""
    held = our_loops(folder, record, loops())
    for file in record.files:
        path = folder.path / file.name
        if is_ours(folder, file) or is_unrecorded(folder, file):
            continue
        if folder.stat(file.name) is not None:
            yield f"{path} is not the file that was made here: move it away, or run `raidplan loops down`"
        elif file.disk in held:
            yield f"{path} was deleted under {held[file.disk][0].node}: run `raidplan loops down` first"


def _build(folder: Folder, record: Record, layout: str, tell: Callable[[str], None], *, fresh: bool) -> Up:
    """Every step writes down what it is about to make. Raises Stopped."""
    try:
        folder.write_record(record)
        record, made = _make_files(folder, record, tell)
        if layout:
            folder.write(LAYOUT, layout)
        nodes, attached = _attach(folder, record, tell)
        folder.write_devices(record.host, nodes)
        return Up(folder.path, nodes, tuple(made), tuple(attached))
    except BaseException as error:
        if not isinstance(error, Exception):
            time.sleep(LAST_WORDS)
        undone = fresh and _undo(folder, tell)
        if isinstance(error, OSError | CommandFailed | RuntimeError):
            raise Stopped(str(error), left=not undone) from error
        raise


def _undo(folder: Folder, tell: Callable[[str], None]) -> bool:
    """Removes what was begun; nothing stands on it yet. False if it did not go."""
    tell("it failed: remove what was begun")
    try:
        record = folder.record()
        if record is None:
            folder.remove(RECORD + NEW)
            return True
        return remove(folder, record, tell).folder_removed
    except (LoopsRefused, Stopped, OSError, CommandFailed):
        return False


def _make_files(folder: Folder, record: Record, tell: Callable[[str], None]) -> tuple[Record, list[str]]:
    """The record with every inode, and the disks whose files are new."""
    missing = [file for file in record.files if not is_ours(folder, file)]
    if missing:
        total = sum(file.size for file in missing)
        tell(f"make {counted(len(missing), 'sparse file')} of {human(total)} in all in {folder.path}")
    inodes = {file.disk: folder.make(file) for file in _without_leftovers(folder, missing)}
    files = tuple(replace(file, inode=inodes.get(file.disk, file.inode)) for file in record.files)
    complete = replace(record, files=files)
    if missing:
        folder.write_record(complete)
    return complete, list(inodes)


def _without_leftovers(folder: Folder, files: Sequence[DiskFile]) -> Iterator[DiskFile]:
    """Yields each file, once an empty one of its name from an earlier try is removed."""
    for file in files:
        if is_unrecorded(folder, file):
            folder.remove(file.name)
        yield file


def _attach(folder: Folder, record: Record, tell: Callable[[str], None]) -> tuple[dict[str, str], list[str]]:
    """The node of every disk, and the disks whose loop devices are new."""
    there = our_loops(folder, record, loops())
    missing = [file for file in record.files if file.disk not in there]
    if missing:
        tell(f"attach {counted(len(missing), 'loop device')}")
    nodes = {disk: found[0].node for disk, found in there.items()}
    for file in missing:
        nodes[file.disk] = attach(f"{folder.place()}/{file.name}", file.sector)
    _check(folder, missing, nodes)
    return {file.disk: nodes[file.disk] for file in record.files}, [file.disk for file in missing]


def _check(folder: Folder, files: Sequence[DiskFile], nodes: Mapping[str, str]) -> None:
    """Compares new loop devices with the request. Raises RuntimeError if one differs."""
    found = {loop.node: loop for loop in loops()}
    for file in files:
        loop = found.get(nodes[file.disk])
        if loop is None:
            raise RuntimeError(f"{nodes[file.disk]} was attached, and somebody detached it again")
        if (loop.inode, loop.device) != (file.inode, folder.device()):
            detach([loop])
            raise RuntimeError(f"{loop.node} got {loop.file} instead of {folder.path / file.name}")
        if loop.sector != file.sector:
            raise RuntimeError(
                f"{loop.node} has sectors of {loop.sector} B instead of {file.sector} B: the kernel is too old"
            )
