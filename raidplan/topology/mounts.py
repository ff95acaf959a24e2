"""The file systems of a layout by mount point, and those that a file lies on or below."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.topology.resolve import Topology


def mounted(topology: Topology) -> dict[str, str]:
    """The name of the file system at each mount point."""
    entries = topology.layout.filesystems.items()
    return {entry.mount: name for name, entry in entries if entry.mount}


def filesystem_of(topology: Topology, file: str) -> str | None:
    """The file system of the layout that a file lies on: the one mounted deepest above it."""
    return next(filesystems_above(topology, file), None)


def filesystems_above(topology: Topology, file: str) -> Iterator[str]:
    """The file systems of the layout that have to be mounted before a file can be read, the one that it lies on first."""
    mounts = topology.once(mounted)
    while file:
        file = file.rpartition("/")[0]
        if (file or "/") in mounts:
            yield mounts[file or "/"]
