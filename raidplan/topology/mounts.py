"""The file systems of a layout by where they are mounted."""

from __future__ import annotations

from raidplan.topology.resolve import Topology


def mounted(topology: Topology) -> dict[str, str]:
    """The name of the file system at each mount point."""
    entries = topology.layout.filesystems.items()
    return {entry.mount: name for name, entry in entries if entry.mount}
