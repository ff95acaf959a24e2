"""Rules about where file systems are mounted."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity, shortened
from raidplan.rules.lib.engine import Hit, rule
from raidplan.topology import Topology


@rule(Severity.ERROR)
def duplicate_mount(topology: Topology) -> Iterator[Hit]:
    """Two file systems have the same mount point.

    Why: the one mounted last hides the other. Which one that is depends on which device answers first, so
    after a boot the files may seem to be gone, and new ones are written to the wrong place.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        filesystems:
          data0: {device: d0, type: xfs, mount: /data}
          data1: {device: d1, type: xfs, mount: /data}    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        filesystems:
          data<0-1>: {device: d<1>, type: xfs, mount: /data/<1>}

    Source: mount(8); systemd.mount(5).
    """
    first: dict[str, str] = {}
    for name, entry in topology.layout.filesystems.items():
        if entry.mount and first.setdefault(entry.mount, name) != name:
            yield Hit(
                ("filesystems", name, "mount"),
                f"{shortened(entry.mount)} is already the mount point of {first[entry.mount]}",
                "give each file system a mount point of its own",
            )
