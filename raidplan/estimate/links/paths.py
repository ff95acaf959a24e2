"""The links between each disk and the root, with what each carries, or which fact is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.estimate.links.rates import (
    DMI_LANES,
    TABLE,
    Row,
    pci_line,
    pcie_line,
    serial_line,
    thunderbolt,
    usb,
)
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.hardware import Bus, Controller, Expander, Multiplier
from raidplan.layout.model import Hardware
from raidplan.topology.wiring import Plug, Wiring

MEASURED = "the layout's own rate"
TURNS = (
    "command-based switching has commands under way to one disk at a time; 115 MB/s in all measured with five disks "
    "(http://apollo.backplane.com/DFlyMisc/portmult01.txt)"
)


class Missing(NamedTuple):
    """A fact that the layout does not state."""

    fact: str
    """`bus`, `port speed`, ...; what is assumed instead, if anything is, stands in it."""
    of: str
    """The component or disk."""

    def __str__(self) -> str:
        return f"the {self.fact} of {self.of}"


class Link(NamedTuple):
    """Something that data passes on its way, shared by every disk that has it on its path."""

    name: str
    kind: str
    """bus, controller, multiplier or expander; `port` is the link of one disk, and bears the disk's name."""
    path: Path
    """The path in the layout; no two links have the same."""
    bytes_per_second: float | None
    """Usable in one direction; None if the layout does not say enough."""
    line: float | None = None
    """Bytes per second after coding, before overhead; None if measured or not known."""
    source: str = ""
    """The source of `bytes_per_second`."""
    missing: Missing | None = None
    one_at_a_time: bool = False
    """Command-based switching: all disks together are as fast as the fastest one."""


LACKING = {
    "pci": "width or clock",
    "pcie": "generation or number of lanes",
    "dmi": "generation or number of lanes",
    "usb": "speed",
    "thunderbolt": "generation",
    "other": "rate",
}
"""The facts that a bus of each type must state for its rate to be known."""

Rate = tuple[float, Row] | Missing
"""Line rate and row of the table, or what is missing."""


class Links:
    """The links of a machine. What cannot be true (an unknown name, a circle) only ends a path."""

    def __init__(self, hardware: Hardware, wiring: Wiring) -> None:
        self._hardware = hardware
        self._wiring = wiring
        self._shared: dict[str, tuple[Link, ...]] = {}

    def of(self, disk: str) -> tuple[Link, ...]:
        """The links of a disk, its own port first; of an unknown disk, none."""
        entry = self._hardware.disks.get(disk)
        if entry is None:
            return ()
        if entry.behind is None:
            path = ("hardware", "disks", disk, "behind")
            return (Link(disk, "port", path, None, missing=Missing("place (behind)", disk)),)
        if entry.behind not in self._shared:
            self._shared[entry.behind] = tuple(
                link for plug in self._wiring.above(disk) for link in self._links(plug)
            )
        return (*self._port(disk, entry), *self._shared[entry.behind])

    def _port(self, name: str, disk: Disk) -> Iterator[Link]:
        """The cable of one disk; on a bus, the bus is all there is."""
        carrier = self._wiring.components.get(disk.behind or "")
        if carrier is None or carrier.kind == "bus":
            return
        speeds = [disk.link, self._speed(carrier.name)]
        rate = _serial("sata", *speeds) or Missing("port speed", carrier.name)
        yield _link(name, "port", ("hardware", "disks", name, "link"), None, rate)

    def _speed(self, component: str) -> int | None:
        """The line speed of a component's ports."""
        hardware = self._hardware
        for section in (hardware.controllers, hardware.multipliers, hardware.expanders):
            if component in section:
                speed: int | None = section[component].speed
                return speed
        return None

    def _links(self, plug: Plug) -> Iterator[Link]:
        hardware, name = self._hardware, plug.name
        match plug.kind:
            case "bus":
                entry = hardware.buses[name]
                yield _link(name, "bus", plug.path, entry.rate, _bus(name, entry))
            case "controller":
                yield from _controller(plug, hardware.controllers[name])
            case "expander":
                yield self._expander(plug, hardware.expanders[name])
            case "multiplier":
                yield self._multiplier(plug, hardware.multipliers[name])

    def _expander(self, plug: Plug, entry: Expander) -> Link:
        controller = self._hardware.controllers.get(entry.behind)
        lanes = [each for each in (entry.lanes, controller and controller.lanes) if each and each > 0]
        rate: Rate | None = _serial(
            "sas", entry.speed, self._speed(entry.behind), lanes=min(lanes, default=1)
        )
        if rate is None or not lanes:
            rate = Missing("uplink speed" if rate is None else "lanes of the uplink", plug.name)
        return _link(plug.name, "expander", plug.path, entry.rate, rate)

    def _multiplier(self, plug: Plug, entry: Multiplier) -> Link:
        controller = self._hardware.controllers.get(entry.behind)
        rate = _serial("multiplier", entry.speed, self._speed(entry.behind))
        link = _link(
            plug.name,
            "multiplier",
            plug.path,
            entry.rate,
            rate or Missing("uplink speed", plug.name),
        )
        fis = controller.fis_switching if controller else None
        if entry.switching == "command" or fis is False:
            return self._taking_turns(link)
        if entry.rate is None and entry.switching is None and fis is None:
            unsure = Missing("kind of switching (FIS is assumed)", plug.name)
            return link._replace(missing=link.missing or unsure)
        return link

    def _taking_turns(self, link: Link) -> Link:
        """Command-based switching: commands are under way to one disk at a time."""
        behind = [plug.name for plug in self._wiring.hanging.get(link.name, ()) if plug.kind == "disk"]
        rates = [rate for disk in behind if (rate := self._hardware.disks[disk].rate)]
        known = [rate for rate in (link.bytes_per_second, max(rates, default=None)) if rate is not None]
        missing = link.missing if rates else Missing("disks' rate", link.name)
        return link._replace(
            bytes_per_second=min(known, default=None), source=TURNS, missing=missing, one_at_a_time=True
        )


def _link(name: str, kind: str, path: Path, measured: int | None, rate: Rate) -> Link:
    if measured:
        return Link(name, kind, path, float(measured), source=MEASURED)
    if isinstance(rate, Missing):
        return Link(name, kind, path, None, missing=rate)
    line, row = rate
    return Link(name, kind, path, line * row.share, line, row.source)


def _serial(row: str, *speeds: int | None, lanes: int = 1) -> tuple[float, Row] | None:
    """The slower end decides; None if neither says."""
    known = [speed for speed in speeds if speed and speed > 0]
    return (serial_line(min(known), lanes), TABLE[row]) if known else None


def _controller(plug: Plug, entry: Controller) -> Iterator[Link]:
    """A controller is as fast as its bus, unless measured."""
    if entry.rate or entry.behind is None:
        yield _link(plug.name, "controller", plug.path, entry.rate, Missing("bus", plug.name))


def _bus(name: str, bus: Bus) -> Rate:
    """The line rate of a bus, or which of its keys is missing; what cannot be true is as good as missing."""
    found = _stated(bus)
    return found if found and found[0] > 0 else Missing(LACKING[bus.type], name)


def _stated(bus: Bus) -> tuple[float, Row] | None:
    match bus.type:
        case "pci" if bus.width and bus.clock:
            return pci_line(bus.width, bus.clock), TABLE["pci"]
        case "pcie" | "dmi" if bus.generation:
            lanes = bus.lanes or (DMI_LANES if bus.type == "dmi" and bus.generation < 4 else 0)
            return pcie_line(bus.generation, lanes), TABLE[bus.type]
        case "usb" if bus.speed:
            return usb(bus.speed)
        case "thunderbolt" if bus.generation:
            return thunderbolt(bus.generation)
        case _:
            return None
