"""Rules about disks that are described only."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed
from raidplan.rules.lib.engine import Hit, rule
from raidplan.topology import Topology
from raidplan.topology.kept import kept_disks
from raidplan.topology.resolve import DISKS


@rule(Severity.ERROR)
def kept_in_part(topology: Topology) -> Iterator[Hit]:
    """Something stands on disks with `keep: true` and on others, or such a disk may be wiped.

    Why: nothing can be both kept and made.

    Bad:
        hardware:
          disks:
            d0: {size: 1TB, keep: true, partitions: {os: {size: rest}}}
            d1: {size: 1TB, partitions: {os: {size: rest}}}
        arrays:
          os:
            level: raid1
            members: [d0.os, d1.os]    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 1TB, keep: true, partitions: {os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d0.os, d1.os]}

    Source: docs/layout.md, `keep`.
    """
    kept = kept_disks(topology)
    for name in kept:
        if topology.layout.hardware.disks[name].wipe:
            yield Hit((*DISKS, name, "wipe"), f"{name} is to be kept and may be wiped", "remove one of them")
    seen: set[frozenset[str]] = set()
    for item in topology.order if kept else ():
        uses = [*item.kind.uses(item.name, item.path)]
        below = frozenset[str]().union(*(topology.disks_below(use.device) for use in uses))
        if below & kept and below - kept and below not in seen:
            seen.add(below)
            yield Hit(
                uses[0].path,
                f"{item.name} stands on {listed(sorted(below & kept))}, which is kept, and on {listed(sorted(below - kept))}, which is not",
                "keep all of its disks, or none",
            )
