"""The kind of work that each thing is for, and the rule about work that should not share disks."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path, Severity
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import are_free, free_disks
from raidplan.rules.lib.subjects import arrays, place
from raidplan.topology import Topology

RANDOM = frozenset(("database", "small-files"))
"""Work that no read-ahead helps, and that waits for every seek."""
ENOUGH = 4
"""Free disks of which an array for the other work can be made."""


def carried(topology: Topology) -> dict[Path, dict[str, str]]:
    """The kinds of work on each thing, and one file system of each: of its own, else of the machine's `workload`."""
    general = topology.layout.workload
    found: dict[Path, dict[str, str]] = {}
    for item in reversed(topology.items):
        if item.path[0] == "filesystems":
            work = topology.layout.filesystems[item.name].workload or general
            found[item.path] = {work: item.name} if work else {}
        for use in item.kind.uses(item.name, item.path) if item.path in found else ():
            below = topology.provider.get(use.device)
            if below is not None:
                found.setdefault(below.path, {}).update(found[item.path])
    return found


def work_on(topology: Topology, path: Path) -> frozenset[str]:
    """The kinds of work on a thing; what no file system stands on is for the machine's."""
    general = topology.layout.workload
    return frozenset(topology.once(carried).get(path, {general} if general else ()))


@rule(Severity.NOTE)
def workloads_share_array(topology: Topology) -> Iterator[Hit]:
    """One array carries a database, or many small files, and large files, though there are disks for two.

    Why: a stream of large files keeps the heads of all members busy, and every commit of the database waits
    behind it. With a mirror of its own for the noisy database, beside two others, one server saw nothing of it
    in its other work. One array for all has the higher peak and wastes less space. Said where the file systems
    name different `workload`s and at least four disks are free.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 500GB, rotational: true}}
        arrays:
          s0:    # <-- here
            level: raid10
            members: [d<0-3>]
        volume_groups:
          vg0: {devices: [s0], volumes: {db: {size: 100GiB}, films: {size: 500GiB}}}
        filesystems:
          db: {device: vg0.db, type: ext4, mount: /srv/db, workload: database}
          films: {device: vg0.films, type: xfs, mount: /srv/films, workload: large-files}

    Good:
        hardware:
          disks: {d<0-7>: {size: 500GB, rotational: true}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}
          s1: {level: raid10, members: [d<4-7>]}
        filesystems:
          db: {device: s0, type: ext4, mount: /srv/db, workload: database}
          films: {device: s1, type: xfs, mount: /srv/films, workload: large-files}

    Source: *Coder Blog, "Distributing load across multiple volumes" (about 2014).
    """
    free = topology.once(free_disks)
    if len(free) < ENOUGH:
        return
    for name, path, _ in arrays(topology):
        works = topology.once(carried).get(path, {})
        waiting = min(RANDOM & works.keys(), default=None)
        if waiting is not None and "large-files" in works:
            pair = (works[waiting], works["large-files"])
            yield Hit(
                path,
                f"{name} carries {pair[0]} ({waiting}) and {pair[1]} (large-files): the one waits behind the other",
                f"make an array for each; {are_free(free[:ENOUGH])}",
                related=tuple(place("file system", ("filesystems", each)) for each in pair),
            )
