"""Rules about the wiring: what hangs behind what."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path, Severity, dotted, nearest, suggestion
from raidplan.rules.lib.engine import Hit, rule
from raidplan.topology import Topology
from raidplan.topology.resolve import MANY

PLACES = {
    "bus": ("bus",),
    "controller": ("bus",),
    "multiplier": ("controller",),
    "expander": ("controller", "expander"),
    "disk": ("bus", "controller", "multiplier", "expander"),
}
"""The kinds of things that each kind can be attached to."""


@rule(Severity.ERROR)
def unknown_component(topology: Topology) -> Iterator[Hit]:
    """Something hangs behind a component that the layout does not describe.

    Why: the name says which link a disk shares and with what it fails. A name that leads nowhere leaves the
    disk out of every estimate and of every rule about links and failure domains. Disks, multipliers,
    expanders, controllers and buses hang behind buses, controllers, multipliers or expanders; an enclosure
    or a power supply lists its disks instead.

    Bad:
        hardware:
          controllers: {sil0: {ports: 4}}
          disks:
            d0: {behind: sil0, size: 3TB}
            d1: {behind: sil1, size: 3TB}    # <-- here

    Good:
        hardware:
          controllers: {sil<0-1>: {ports: 4}}
          disks:
            d0: {behind: sil0, size: 3TB}
            d1: {behind: sil1, size: 3TB}

    Source: the layout file's own contract.
    """
    hardware, known = topology.layout.hardware, topology.wiring.components
    misses = 0
    for plug in topology.wiring.plugs:
        if plug.behind is None or plug.behind in known:
            continue
        misses += 1
        if plug.behind in hardware.enclosures or plug.behind in hardware.power:
            advice, meant = f"list {plug.name} in {plug.behind} instead", ""
        else:
            advice = "describe it under hardware, or remove 'behind'"
            meant = nearest(plug.behind, known) if misses <= MANY else ""
        message = f"no bus, controller, multiplier or expander is named '{plug.behind}'"
        yield Hit((*plug.path, "behind"), message, suggestion(meant) or advice, meant=meant)


@rule(Severity.WARNING)
def misplaced_component(topology: Topology) -> Iterator[Hit]:
    """A component hangs behind something that cannot carry it.

    Why: a controller stands on a bus, a multiplier on a port of a controller (multipliers cannot be chained),
    an expander on a controller or another expander, a bus on a bus. Anything else is a slip in the layout,
    and estimates of its links would be wrong.

    Bad:
        hardware:
          controllers: {sil0: {ports: 4}}
          multipliers:
            pm0: {behind: sil0, ports: 5}
            pm1: {behind: pm0, ports: 5}    # <-- here

    Good:
        hardware:
          controllers: {sil0: {ports: 4}}
          multipliers:
            pm0: {behind: sil0, port: 0, ports: 5}
            pm1: {behind: sil0, port: 1, ports: 5}

    Source: Serial ATA 3.0, 16.1 (port multipliers are not cascaded); Serial Attached SCSI 2.1, 4.1.
    """
    for plug in topology.wiring.plugs:
        carrier = topology.wiring.components.get(plug.behind or "")
        if carrier is not None and carrier is not plug and carrier.kind not in PLACES[plug.kind]:
            yield Hit(
                (*plug.path, "behind"),
                f"the {plug.kind} {plug.name} hangs behind the {carrier.kind} {carrier.name}",
                f"let it hang behind a {' or '.join(PLACES[plug.kind])}",
            )


@rule(Severity.ERROR)
def component_cycle(topology: Topology) -> Iterator[Hit]:
    """Components hang behind each other in a circle.

    Why: following `behind` from a disk must end at the machine. In a circle it never does, so no link can be
    called shared and no failure contained.

    Bad:
        hardware:
          buses:
            slot1: {type: pcie, behind: slot2}    # <-- here
            slot2: {type: pcie, behind: slot1}

    Good:
        hardware:
          buses:
            dmi: {type: dmi, generation: 2}
            slot<1-2>: {type: pcie, behind: dmi}

    Source: the layout file's own contract.
    """
    components, done = topology.wiring.components, set[str]()
    for start in components:
        walked: dict[str, None] = {}
        name: str | None = start
        while name in components and name not in done and name not in walked:
            walked[name] = None
            name = components[name].behind
        if name in walked:
            ring = list(walked)[list(walked).index(name) :]
            yield Hit(
                (*components[name].path, "behind"),
                f"{' -> '.join([*ring[:8], name] if len(ring) <= 8 else [*ring[:8], '...', name])} is a circle",
                "let one of them hang on the machine itself: remove its 'behind'",
            )
        done.update(walked)


@rule(Severity.ERROR)
def duplicate_component(topology: Topology) -> Iterator[Hit]:
    """Two components have one name.

    Why: `behind` names a bus, a controller, a multiplier or an expander by its name alone, so that name must
    stand for one of them only.

    Bad:
        hardware:
          buses: {sata: {type: dmi, generation: 2}}
          controllers:
            sata: {behind: sata, ports: 6}    # <-- here

    Good:
        hardware:
          buses: {dmi: {type: dmi, generation: 2}}
          controllers: {sata: {behind: dmi, ports: 6}}

    Source: the layout file's own contract.
    """
    for plug in topology.wiring.plugs:
        first = topology.wiring.components.get(plug.name)
        if plug.kind != "disk" and first is not None and first.path != plug.path:
            yield Hit(
                plug.path,
                f"'{plug.name}' is also the name of {dotted(first.path)}",
                "give it another name",
            )


@rule(Severity.ERROR)
def unlisted_disk(topology: Topology) -> Iterator[Hit]:
    """An enclosure, a power supply or `boot` names something that the layout does not have.

    Why: what fails together, what a supply must start up, and which partitions the firmware reads follow from
    these lists; a name that stands for nothing leaves a gap there.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
          enclosures:
            cage0: {disks: [d<0-3>, e4]}    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
          enclosures:
            cage0: {disks: [d<0-3>]}

    Source: the layout file's own contract.
    """
    disks, misses = topology.layout.hardware.disks, 0
    for path, name in _named(topology):
        known = topology.provider if path[0] == "boot" else disks
        if name in known or (path[1] == "power" and _is_hardware(name, topology)):
            continue
        misses += 1
        what = "device" if path[0] == "boot" else "disk"
        meant = nearest(name, known) if misses <= MANY else ""
        hint = suggestion(meant) or "describe it, or remove the name"
        yield Hit(path, f"there is no {what} '{name}' in this layout", hint, meant=meant)


def _named(topology: Topology) -> Iterator[tuple[Path, str]]:
    """Every name in a list that no device is built on."""
    hardware = topology.layout.hardware
    for name, enclosure in hardware.enclosures.items():
        for number, disk in enumerate(enclosure.disks):
            yield ("hardware", "enclosures", name, "disks", number), disk
    for name, supply in hardware.power.items():
        for number, disk in enumerate(supply.feeds):
            yield ("hardware", "power", name, "feeds", number), disk
    for number, device in enumerate(topology.layout.boot.esp):
        yield ("boot", "esp", number), device


def _is_hardware(name: str, topology: Topology) -> bool:
    """A backplane or an expander draws power too."""
    return name in topology.wiring.components or name in topology.layout.hardware.enclosures
