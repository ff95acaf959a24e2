"""Disks with `keep: true`: the twin's own system disk stands for those on which nothing stands that needs another disk as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raidplan.base.findings import Path
from raidplan.layout.model import BUILT, Hardware
from raidplan.topology import Topology, resolve


def without_kept(topology: Topology) -> tuple[Topology, str]:
    """The layout without its kept disks and all that stands on them, and the sentence that says so, which is empty where none is kept.

    They stay where a kept disk is needed by what stands on other disks too.
    """
    layout = topology.layout
    kept = frozenset(name for name, disk in layout.hardware.disks.items() if disk.keep)
    below = dict(_below(topology))
    parts = {path for path, disks in below.items() if disks and disks <= kept}
    if not kept or any(disks & kept for path, disks in below.items() if path not in parts):
        return topology, ""
    left: dict[str, Any] = {
        section: {
            name: entry for name, entry in getattr(layout, section).items() if (section, name) not in parts
        }
        for section in BUILT
    }
    # What is allowed may be of a part that is left out; no rule keeps a layout from being rehearsed.
    reduced = layout.changed(hardware=_without(layout.hardware, kept), allow=(), **left)
    things = ", ".join(sorted(".".join(map(str, path)) for path in parts))
    words = f"{', '.join(sorted(kept))}: kept on the server, and left out of the twin{f' with {things}' if things else ''}; the twin's own system disk takes that place"
    return resolve(reduced)[0], words


def _below(topology: Topology) -> Iterator[tuple[Path, frozenset[str]]]:
    """The disks below each entry."""
    for section in BUILT:
        for name, entry in getattr(topology.layout, section).items():
            uses = entry.uses(name, (section, name))
            yield (section, name), frozenset[str]().union(*(topology.disks_below(use.device) for use in uses))


def _without(hardware: Hardware, kept: frozenset[str]) -> Hardware:
    """The machine without these disks, also in what takes or feeds them."""
    return hardware.changed(
        disks={name: disk for name, disk in hardware.disks.items() if name not in kept},
        enclosures={
            name: each.changed(disks=disks)
            for name, each in hardware.enclosures.items()
            if (disks := tuple(disk for disk in each.disks if disk not in kept))
        },
        power={
            name: each.changed(feeds=tuple(fed for fed in each.feeds if fed not in kept))
            for name, each in hardware.power.items()
        },
    )
