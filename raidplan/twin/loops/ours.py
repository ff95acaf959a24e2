"""The marks of our own loop devices and files: inodes, never a name or a number that others may reuse."""

from __future__ import annotations

import stat
from collections.abc import Iterable

from raidplan.twin.loops.folder import Folder
from raidplan.twin.loops.losetup import DELETED, Loop
from raidplan.twin.loops.record import DiskFile, Record


def is_ours(folder: Folder, file: DiskFile) -> bool:
    """The file that was made here still stands under its name."""
    found = folder.stat(file.name)
    return (
        found is not None
        and stat.S_ISREG(found.st_mode)
        and found.st_ino == file.inode
        and found.st_dev == folder.device()
    )


def is_unrecorded(folder: Folder, file: DiskFile) -> bool:
    """A file from before its inode was recorded: ours by its name alone, so only as long as it is empty."""
    found = folder.stat(file.name)
    return file.inode is None and found is not None and stat.S_ISREG(found.st_mode) and found.st_blocks == 0


def our_loops(folder: Folder, record: Record, loops: Iterable[Loop]) -> dict[str, list[Loop]]:
    """The loop devices over the recorded files, by disk.

    While a loop device holds a file, nothing else can get its inode. So if our file stands under its name,
    the inode tells. If it was deleted, its number may be somebody else's by now: then the name that
    the kernel remembers must be ours too.
    """
    device, at = folder.device(), folder.place()
    found: dict[str, list[Loop]] = {}
    listed = list(loops)
    for file in record.files:
        if file.inode is None:
            continue
        same = [loop for loop in listed if (loop.inode, loop.device) == (file.inode, device)]
        if not is_ours(folder, file):
            same = [loop for loop in same if loop.file == f"{at}/{file.name}{DELETED}"]
        if same:
            found[file.disk] = same
    return found


def taken_over(folder: Folder, ours: dict[str, list[Loop]], loops: Iterable[Loop]) -> list[str]:
    """The loop devices that we wrote down and that now carry something else, in words."""
    current = {loop.node: loop for loop in loops}
    mine = {loop.node for found in ours.values() for loop in found}
    return [
        f"{node}, once {disk}, now belongs to {current[node].file}: left alone"
        for disk, node in folder.devices().items()
        if node in current and node not in mine
    ]
