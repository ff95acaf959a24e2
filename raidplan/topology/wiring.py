"""The components above each disk, from the nearest to the root, and the disks and components below each component."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.layout.model import Hardware

SECTIONS = {"buses": "bus", "controllers": "controller", "multipliers": "multiplier", "expanders": "expander"}
"""The sections of the hardware that others are attached to, with the noun for one of each."""


class Plug(NamedTuple):
    """A disk or a component that is attached to a component."""

    name: str
    kind: str
    path: Path
    behind: str | None
    port: int | None
    ports: int | None
    """The number of ports that it offers itself."""


class Wiring:
    """The tree of components; what cannot be true (an unknown name, a circle) only ends a walk."""

    def __init__(self, hardware: Hardware) -> None:
        self.plugs = list(_plugs(hardware))
        """Everything that may hang on a component, in the layout's order."""
        self.components: dict[str, Plug] = {}
        """The components by name; the first of two that have one name."""
        self.hanging: dict[str, list[Plug]] = {}
        """The disks and components directly below each name, known or not."""
        self.enclosures: dict[str, list[str]] = {}
        """The enclosures of each disk."""
        for plug in self.plugs:
            if plug.kind != "disk":
                self.components.setdefault(plug.name, plug)
            if plug.behind is not None:
                self.hanging.setdefault(plug.behind, []).append(plug)
        self._disks = {plug.name: plug for plug in self.plugs if plug.kind == "disk"}
        for name, enclosure in hardware.enclosures.items():
            for disk in enclosure.disks:
                self.enclosures.setdefault(disk, []).append(name)
        self._nearest: dict[tuple[str | None, str], str | None] = {}

    def above(self, disk: str) -> Iterator[Plug]:
        """The components between a disk and the root, the nearest first."""
        name = self._disks[disk].behind if disk in self._disks else None
        seen: set[str] = set()
        while name in self.components and name not in seen:
            seen.add(name)
            yield self.components[name]
            name = self.components[name].behind

    def nearest(self, disk: str, kind: str) -> str | None:
        """The nearest component of a kind above a disk; for `enclosure`, the first that lists the disk."""
        if kind == "enclosure":
            return next(iter(self.enclosures.get(disk, ())), None)
        key = (self._disks[disk].behind if disk in self._disks else None, kind)
        if key not in self._nearest:
            self._nearest[key] = next((plug.name for plug in self.above(disk) if plug.kind == kind), None)
        return self._nearest[key]


def _plugs(hardware: Hardware) -> Iterator[Plug]:
    for section, kind in SECTIONS.items():
        for name, entry in getattr(hardware, section).items():
            path = ("hardware", section, name)
            keys = vars(entry)
            yield Plug(name, kind, path, entry.behind, keys.get("port"), keys.get("ports"))
    for name, disk in hardware.disks.items():
        yield Plug(name, "disk", ("hardware", "disks", name), disk.behind, disk.port, None)
