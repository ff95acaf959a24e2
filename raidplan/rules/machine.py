"""Rules about the machine as a whole: what must go on when a disk fails, and what its disks have in common."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity, shortened
from raidplan.base.words import listed
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import (
    agreeing,
    all_of,
    arrays,
    footing,
    own_disks,
    places,
    redundant,
)
from raidplan.topology import Topology
from raidplan.topology.mounts import mounted

BATCH_CHARACTERS = 3
"""Serial numbers that differ in their last so many characters only are of one batch."""


@rule(Severity.NOTE)
def root_without_redundancy(topology: Topology) -> Iterator[Hit]:
    """The root file system is lost with one disk, while the data survive it.

    Why: the data are safe, but the machine is down until the system is installed or copied back. That is a
    deliberate choice where an image of a small boot stick lies ready; otherwise two partitions and a raid1
    cost nothing.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}, stick: {size: 128GB}}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}
        filesystems:
          root:
            device: stick    # <-- here
            type: ext4
            mount: /
          data: {device: s0, type: xfs, mount: /srv}

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}, ssd<0-1>: {size: 128GB}}
        arrays:
          os: {level: raid1, members: [ssd<0-1>]}
          s0: {level: raid6, members: [d<0-3>]}
        filesystems:
          root: {device: os, type: ext4, mount: /}
          data: {device: s0, type: xfs, mount: /srv}

    Source: *Coder Blog, "File Server Upgrade" (2013).
    """
    layout, root = topology.layout, topology.once(mounted).get("/")
    exposed = sorted(footing(topology, layout.filesystems[root].device).exposed) if root is not None else []
    if root is None or not exposed:
        return
    safe = [
        name
        for name, entry in layout.filesystems.items()
        if name != root and topology.disks_below(entry.device) and not footing(topology, entry.device).exposed
    ]
    if safe:
        yield Hit(
            ("filesystems", root, "device"),
            f"the root file system is lost with {listed(exposed, last=' or ')}, while {listed(safe)} "
            f"{agreeing(safe, 'survives', 'survive')} the loss of a disk",
            "put it on a raid1, or keep an image of it at hand",
            related=places("disk", ("hardware", "disks"), exposed),
        )


@rule(Severity.NOTE)
def same_batch_members(topology: Topology) -> Iterator[Hit]:
    """All members of an array seem to be of one batch: one model, and serial numbers close together.

    Why: disks made and bought together have the same weak spots and the same age, so they tend to fail close
    together, and the load of a rebuild finds the next one. How much is contested; that it happens is not.
    A rule of thumb: serial numbers that differ only in their last three characters come from one batch.

    Bad:
        hardware:
          disks:
            d0: {size: 3TB, model: ST3000DM001, serial: Z1F2A311}
            d1: {size: 3TB, model: ST3000DM001, serial: Z1F2A34K}
        arrays:
          s0:
            level: raid1
            members: [d<0-1>]    # <-- here

    Good:
        hardware:
          disks:
            d0: {size: 3TB, model: ST3000DM001, serial: Z1F2A311}
            d1: {size: 3TB, model: WD30EFRX, serial: WD-WCAV51234567}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: https://raid.wiki.kernel.org/index.php/Why_RAID%3F; the threshold is raidplan's own.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        members = [disks[disk] for disk in own_disks(topology, array)] if redundant(array) else []
        stems = {disk.serial[:-BATCH_CHARACTERS] if disk.serial is not None else "" for disk in members}
        model, stem = members[0].model if members else None, min(stems, default="")
        if model is not None and len(stems) == 1 and stem and all(disk.model == model for disk in members):
            yield Hit(
                (*path, "members"),
                f"{all_of(members)} members of {name} are {shortened(model)} with serial numbers that begin with "
                f"{shortened(stem)}: one batch tends to fail together",
                "mix makers or batches, or replace some of them early",
            )
