"""Rules about the links nearest to a disk, and the buses they lead to."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed, mb
from raidplan.estimate.links.rates import serial_line
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import with_ports
from raidplan.rules.lib.parts import bus_above
from raidplan.rules.lib.shares import paths
from raidplan.rules.lib.subjects import agreeing, arrays, own_disks, place, redundant
from raidplan.topology import Topology

ENOUGH = 0.9
"""A line rate of this part of a disk's rate holds nothing up that could be felt."""


@rule(Severity.WARNING)
def members_on_pci(topology: Topology) -> Iterator[Hit]:
    """Several members of an array hang on one conventional PCI bus.

    Why: a PCI bus of 32 bits and 33 MHz moves 133 MB/s on paper and 95 to 129 in practice, for all cards on
    it together; a second card adds ports and no bandwidth, and a 66 MHz chip on a 33 MHz bus runs at 33. A
    raid5 of eight disks, four of them on PCI, read 174 MB/s; its four good ports alone gave 245.

    Bad:
        hardware:
          buses: {pci0: {type: pci, width: 32, clock: 33MHz}}
          controllers: {nforce4: {ports: 4}, sil3114: {behind: pci0, ports: 4}}
          disks:
            d<0-3>: {behind: nforce4, port: <1>, size: 300GB}
            d<4-7>: {behind: sil3114, port: <1:0-3>, size: 300GB}
        arrays:
          s0:
            level: raid5
            members: [d<0-7>]    # <-- here

    Good:
        hardware:
          buses: {slot1: {type: pcie, generation: 1, lanes: 4}}
          controllers: {nforce4: {ports: 4}, hba0: {behind: slot1, ports: 4}}
          disks:
            d<0-3>: {behind: nforce4, port: <1>, size: 300GB}
            d<4-7>: {behind: hba0, port: <1:0-3>, size: 300GB}
        arrays:
          s0: {level: raid5, members: [d<0-7>]}

    Source: N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server Running Linux" (2005); *Coder Blog,
    "Building a SoHo File Server: The Hardware" (about 2010).
    """
    on_pci = topology.once(pci_disks)
    for name, path, array in arrays(topology):
        below: dict[str, list[str]] = {}
        for disk in own_disks(topology, array):
            if disk in on_pci:
                below.setdefault(on_pci[disk], []).append(disk)
        for bus, disks in below.items():
            if len(disks) > 1:
                yield Hit(
                    (*path, "members"),
                    f"{len(disks)} of {len(array.named_members)} members of {name} ({listed(disks)}) share the PCI "
                    f"bus {bus}{_pci_rate(topology, bus, disks[0], len(disks))}",
                    _ports(topology)
                    or "put a PCIe host adapter in place of the PCI card, or leave these disks out",
                    related=(place("bus", ("hardware", "buses", bus)),),
                )


def _pci_rate(topology: Topology, bus: str, disk: str, disks: int) -> str:
    """`, which carries 100 MB/s, 25 MB/s for each`, if that is known."""
    rates = (
        link.bytes_per_second
        for link in topology.once(paths)[disk]
        if link.path == ("hardware", "buses", bus)
    )
    rate = next(rates, None)
    return f", which carries {mb(rate)} MB/s, {mb(rate / disks)} MB/s for each" if rate else ""


def pci_disks(topology: Topology) -> dict[str, str]:
    """The conventional PCI bus that each disk hangs on, where it does."""
    return _below(topology, "pci")


def usb_disks(topology: Topology) -> dict[str, str]:
    """The USB link that each disk hangs on, where it does."""
    return _below(topology, "usb")


def _below(topology: Topology, kind: str) -> dict[str, str]:
    """The bus of a kind that each disk hangs on."""
    known: dict[str | None, str | None] = {}
    for disk in topology.layout.hardware.disks.values():
        if disk.behind not in known:
            known[disk.behind] = bus_above(topology, disk.behind, kind)
    found = ((name, known[disk.behind]) for name, disk in topology.layout.hardware.disks.items())
    return {name: bus for name, bus in found if bus is not None}


def _ports(topology: Topology) -> str:
    """Free ports of controllers that are on neither PCI nor USB, if there are any."""
    ports = with_ports(topology, lambda name: bus_above(topology, name, "pci") is None)
    return f"move them: {ports}" if ports else ""


@rule(Severity.WARNING)
def usb_member(topology: Topology) -> Iterator[Hit]:
    """A member of a redundant array is attached by USB.

    Why: USB resets, time-outs and loose plugs take a disk away for seconds and bring it back under another
    name. md has thrown it out by then, so the array is degraded by a disk that is not broken, and with two
    such disks it falls over. The md wiki advises against it. A USB disk is a good target for backups.

    Bad:
        hardware:
          buses: {usb3: {type: usb, speed: 5Gbps}}
          controllers: {ahci: {ports: 4}}
          disks:
            d0: {behind: ahci, size: 3TB}
            d1: {behind: usb3, size: 3TB}
        arrays:
          s0:
            level: raid1
            members:
              - d0
              - d1    # <-- here

    Good:
        hardware:
          controllers: {ahci: {ports: 4}}
          disks: {d<0-1>: {behind: ahci, port: <1>, size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: https://raid.wiki.kernel.org/index.php/Choosing_your_hardware,_and_what_is_a_device%3F.
    """
    on_usb = topology.once(usb_disks)
    for name, path, array in arrays(topology):
        disks = own_disks(topology, array) if redundant(array) and on_usb else []
        bus_of = {number: on_usb[disk] for number, disk in enumerate(disks) if disk in on_usb}
        if bus_of:
            members = [array.named_members[number] for number in bus_of]
            yield Hit(
                (*path, "members", *(bus_of if len(bus_of) == 1 else ())),
                f"{listed(members)} of {name} {agreeing(members, 'hangs', 'hang')} on USB: "
                "a reset or a loose plug there degrades the array",
                _ports(topology) or "attach by SATA or SAS, or use the disk for backups",
                related=tuple(
                    place("bus", ("hardware", "buses", bus)) for bus in dict.fromkeys(bus_of.values())
                ),
            )


@rule(Severity.WARNING)
def link_slower_than_disk(topology: Topology) -> Iterator[Hit]:
    """A disk is faster than the port that it is plugged into.

    Why: SATA at 1.5, 3 and 6Gbps moves 150, 300 and 600 MB/s at most. A SATA SSD of 550 MB/s on a 3Gbps port
    loses half of its rate. Hard disks stay below about 280 MB/s, so SATA II slows none of them, however
    fast their own interface is; one on 1.5Gbps is a note.

    Bad:
        hardware:
          controllers: {ahci: {ports: 4, speed: 3Gbps}}
          disks:
            d0:
              behind: ahci    # <-- here
              size: 480GB
              rate: 550MB/s
              rotational: false

    Good:
        hardware:
          controllers: {ahci: {ports: 4, speed: 6Gbps}}
          disks: {d0: {behind: ahci, size: 480GB, rate: 550MB/s, rotational: false}}

    Source: Serial ATA 3.0, 7.2 (8b/10b coding: ten bits on the line for a byte).
    """
    hardware = topology.layout.hardware
    speeds = {
        name: entry.speed
        for section in (hardware.controllers, hardware.multipliers, hardware.expanders)
        for name, entry in section.items()
    }
    for name, disk in hardware.disks.items():
        ends = {"link": disk.link, "behind": speeds.get(disk.behind or "")}
        known = {key: speed for key, speed in ends.items() if speed is not None}
        if not known or disk.rate is None:
            continue
        key = min(known, key=known.__getitem__)
        line = serial_line(known[key])
        if line < ENOUGH * disk.rate:
            where = f"{disk.behind}, whose ports carry" if key == "behind" else "a link that carries"
            yield Hit(
                ("hardware", "disks", name, key),
                f"{name} can read {mb(disk.rate)} MB/s and hangs on {where} {mb(line)} MB/s",
                _faster(topology, known[key])
                if key == "behind"
                else "look for a jumper or a setting, or take a faster disk",
                severity=Severity.WARNING if disk.rotational is False else Severity.NOTE,
            )


def _faster(topology: Topology, speed: int) -> str:
    controllers = topology.layout.hardware.controllers
    ports = with_ports(topology, lambda name: (controllers[name].speed or 0) > speed)
    return f"plug it into a faster port{f': {ports}' if ports else ''}"
