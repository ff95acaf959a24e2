"""Layout to topology: names become devices with exact sizes, in the order in which they can be built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple, TypeVar

from raidplan.base.findings import Finding, Path, dotted, error, nearest, suggestion
from raidplan.base.size import readable
from raidplan.layout.kinds.boot_options import ESP_MOUNTS
from raidplan.layout.kinds.device import Device, Impossible, Kind, Use
from raidplan.layout.kinds.disk import partition_for
from raidplan.layout.kinds.meant_range import meant_range
from raidplan.layout.model import BUILT, Layout
from raidplan.topology.meant_partition import meant_partition
from raidplan.topology.wiring import Wiring

SECTIONS = ("hardware.disks", *BUILT)
"""The sections of a layout that are built, whatever they hold."""
DISKS: Path = ("hardware", "disks")
MANY = 20
"""After so many unknown names no near miss is looked for: it takes a comparison with every known name."""


Fact = TypeVar("Fact")


class Item(NamedTuple):
    """A named thing of the layout."""

    path: Path
    name: str
    kind: Kind


@dataclass(slots=True)
class Topology:
    """The layout with its names resolved."""

    layout: Layout
    order: tuple[Item, ...] = ()
    """All paths, each after those that it uses; none if there is a circle."""
    items: list[Item] = field(default_factory=list)
    """The items in that order whose devices are known: none on a disk without a size."""
    devices: dict[str, Device] = field(default_factory=dict)
    used_by: dict[str, Use] = field(default_factory=dict)
    """The one use of each device."""
    provider: dict[str, Item] = field(default_factory=dict)
    """The item that offers each device; known even where the device itself is not."""
    wiring: Wiring = field(init=False)
    target: str = ""
    """The folder below which the machine's files lie and are mounted, in a rescue system; empty on the machine itself."""
    _disks: dict[Path, frozenset[str]] = field(default_factory=dict)
    """The disks below each item."""
    _known: dict[Callable[[Topology], Any], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wiring = Wiring(self.layout.hardware)

    @property
    def host(self) -> str:
        """The host's name."""
        return self.layout.host

    def once(self, fact: Callable[[Topology], Fact]) -> Fact:
        """The result of `fact` for this topology, computed for the first who asks; for facts that rules share."""
        if fact not in self._known:
            self._known[fact] = fact(self)
        known: Fact = self._known[fact]
        return known

    def taken(self, use: Use) -> Device:
        """The device a use gets: of a bare disk, the partition made for it."""
        device = self.devices[use.device]
        if device.kind != "disk" or use.whole_disk:
            return device
        return self.devices[partition_for(use.device, use)]

    @property
    def esps(self) -> frozenset[str]:
        """The EFI system partitions, named or mounted as one, and the members of arrays that are one."""
        return self.once(_esps)

    @property
    def system(self) -> frozenset[str]:
        """The devices below file systems without which the machine does not start."""
        return self.once(_system)

    def below(self, device: str) -> Iterator[Item]:
        """Every item that a device stands on, the one that offers it first; sizes need not be known."""
        seen, waiting = set[Path](), [device]
        while waiting:
            item = self.provider.get(waiting.pop())
            if item is None or item.path in seen:
                continue
            seen.add(item.path)
            yield item
            waiting += (use.device for use in item.kind.uses(item.name, item.path))

    def disks_below(self, device: str) -> frozenset[str]:
        """The disks that a device stands on, itself if it is one; a circle has none."""
        top = self.provider.get(device)
        known, opened, waiting = self._disks, set[Path](), [top] if top else []
        while waiting:
            item = waiting[-1]
            if item.path in known:
                waiting.pop()
            elif item.path[:-1] == DISKS:
                known[item.path] = frozenset((item.name,))
            else:
                uses = (self.provider.get(use.device) for use in item.kind.uses(item.name, item.path))
                parts = [part for part in uses if part is not None]
                later = [part for part in parts if part.path not in known and part.path not in opened]
                if later and item.path not in opened:
                    waiting += later
                else:
                    known[item.path] = frozenset().union(*(known.get(part.path, ()) for part in parts))
                opened.add(item.path)
        return known.get(top.path, frozenset()) if top else frozenset()


def _esps(topology: Topology) -> frozenset[str]:
    arrays, filesystems = topology.layout.arrays, topology.layout.filesystems.values()
    mounted = (entry.device for entry in filesystems if entry.mount in ESP_MOUNTS)
    named = dict.fromkeys((*topology.layout.boot.esp, *mounted))
    members = (member for name in named if name in arrays for member in arrays[name].named_members)
    return frozenset((*named, *members))


def _system(topology: Topology) -> frozenset[str]:
    entries = topology.layout.filesystems.values()
    below = (item for entry in entries if entry.stops_boot for item in topology.below(entry.device))
    return frozenset(device for item in below for device in item.kind.provides(item.name))


def sections(layout: Layout) -> Iterator[tuple[Path, Mapping[str, Kind]]]:
    """Each built section with its path."""
    for section in SECTIONS:
        path = tuple(section.split("."))
        value: object = layout
        for part in path:
            value = getattr(value, part)
        assert isinstance(value, dict)
        yield path, value


def resolve(layout: Layout) -> tuple[Topology, list[Finding]]:
    """The topology, complete only if no finding is an error."""
    topology = Topology(layout)
    items = {
        (*path, name): Item((*path, name), name, kind)
        for path, entries in sections(layout)
        for name, kind in entries.items()
    }
    topology.provider, findings = _providers(items)
    edges, more = _edges(items, topology)
    findings += more
    order, cycles = _order(edges)
    findings += cycles
    topology.order = tuple(items[path] for path in order)
    for item in topology.order:
        findings += _build(item, topology)
    return topology, findings


def _providers(items: Mapping[Path, Item]) -> tuple[dict[str, Item], list[Finding]]:
    provider: dict[str, Item] = {}
    findings = []
    for path, item in items.items():
        for device in item.kind.provides(item.name):
            if device in provider:
                findings.append(
                    error(
                        "duplicate-name",
                        path,
                        f"'{device}' is also the name of {dotted(provider[device].path)}",
                        "give it another name",
                        on_key=True,
                    )
                )
            else:
                provider[device] = item
    return provider, findings


def _edges(items: Mapping[Path, Item], topology: Topology) -> tuple[dict[Path, list[Path]], list[Finding]]:
    """The items that each item needs, and the first use of each device."""
    edges: dict[Path, list[Path]] = {path: [] for path in items}
    findings: list[Finding] = []
    for path, item in items.items():
        for use in item.kind.uses(item.name, path):
            first = topology.used_by.get(use.device)
            if use.device not in topology.provider:
                near = suggestion(meant_range(use.device, topology.provider))
                near = near or meant_partition(use.device, topology.layout.hardware.disks)
                meant = nearest(use.device, topology.provider) if not near and len(findings) < MANY else ""
                message = f"there is no device '{use.device}' in this layout"
                hint = near or "describe it, or correct the name"
                findings.append(error("unknown-device", use.path, message, hint, meant=meant))
            elif first is not None:
                findings.append(
                    error(
                        "device-used-twice",
                        use.path,
                        f"{use.device} is already used by {dotted(first.path)}",
                        "give each user a device or a partition of its own",
                    )
                )
            else:
                topology.used_by[use.device] = use
                edges[path].append(topology.provider[use.device].path)
    return edges, findings


def _order(edges: Mapping[Path, list[Path]]) -> tuple[list[Path], list[Finding]]:
    """The paths so that each stands after what it needs, in the layout's order where there is a choice."""
    try:
        return list(TopologicalSorter(edges).static_order()), []
    except CycleError as cycle:
        ring: list[Path] = cycle.args[1]
        chain = " -> ".join(dotted(path) for path in reversed(ring))
        return [], [
            error(
                "cycle",
                ring[0],
                f"these stand on each other: {chain}",
                "let one of them stand on disks",
                on_key=True,
            )
        ]


def _build(item: Item, topology: Topology) -> list[Finding]:
    """Adds the item's devices, or reports why they cannot exist; silent where a device below was reported."""
    uses = item.kind.uses(item.name, item.path)
    if any(use.device not in topology.devices or topology.used_by[use.device] != use for use in uses):
        return []
    try:
        # All or none: a disk whose partitions do not fit gives nothing to stand on.
        devices = list(item.kind.resolve(item.name, item.path, topology))
    except Impossible as problem:
        return [error(problem.rule, problem.path, readable(problem.message), problem.hint)]
    topology.devices |= {device.name: device for device in devices}
    topology.items.append(item)
    return []
