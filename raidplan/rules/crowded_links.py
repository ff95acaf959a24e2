"""Rules about links that carry less than all disks behind them, whichever arrays these are in."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import counted, mb
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import own_ports, with_ports
from raidplan.rules.lib.shares import ENOUGH, Crowd, crowds
from raidplan.rules.links import carrier, oversubscribed
from raidplan.topology import Topology

MULTIPLIERS_ON_CARD = 2
"""More of them on one card are worth a look at the others."""


@rule(Severity.WARNING)
def crowded_slot(topology: Topology) -> Iterator[Hit]:
    """A PCIe slot carries less than all disks of its card can read.

    Why: a lane of PCIe 1 carries 250 MB/s on the line and about 205 of data; a card with four or eight ports
    in a slot of one lane shares that between all its disks. Cards also fall back: one of two lanes came up
    with one in several servers, so `lanes` is what was negotiated (`LnkSta` in `lspci -vv`). Where one array
    alone is held back, another rule says so; this one adds up all disks in use. A warning below 70 % of what
    they could read, else a note.

    Bad:
        hardware:
          buses: {slot1: {type: pcie, generation: 1, lanes: 1}}    # <-- here
          controllers: {hba0: {behind: slot1, ports: 4}}
          disks: {d<0-3>: {behind: hba0, port: <1>, size: 3TB, rate: 100MB/s}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
          s1: {level: raid1, members: [d<2-3>]}

    Good:
        hardware:
          buses: {slot1: {type: pcie, generation: 1, lanes: 4}}
          controllers: {hba0: {behind: slot1, ports: 4}}
          disks: {d<0-3>: {behind: hba0, port: <1>, size: 3TB, rate: 100MB/s}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
          s1: {level: raid1, members: [d<2-3>]}

    Source: https://serverfault.com/questions/556265 (410 of 500 MB/s, and lanes lost); *Coder Blog, "Building a
    SoHo File Server: The Hardware" (about 2010).
    """
    for crowd in _crowded(topology, "bus", "pcie"):
        if "multiplier" not in crowd.over:
            yield _hit(topology, crowd, "take a slot with more lanes or of a newer generation")


@rule(Severity.WARNING)
def crowded_expander(topology: Topology) -> Iterator[Hit]:
    """The uplink of a SAS expander carries less than all disks behind it can read.

    Why: an expander with four lanes of 3 Gb/s has 1200 MB/s on the line for all its disks; 24 disks have 50
    each, where one reads 110. That may be enough for a network; for a rebuild or a scrub of everything it is
    not. A warning below 70 % of what they could read, else a note.

    Bad:
        hardware:
          controllers: {hba0: {ports: 2, lanes: 4, speed: 3Gbps}}
          expanders: {exp0: {behind: hba0, port: 0, lanes: 4, speed: 3Gbps, ports: 28}}    # <-- here
          disks: {e<00-23>: {behind: exp0, port: <1>, size: 2TB, rate: 110MB/s}}
        arrays:
          s<0-2>: {level: raid6, members: [e<1:00/08/16>, e<1:01/09/17>, e<1:02/10/18>, e<1:03/11/19>,
                                           e<1:04/12/20>, e<1:05/13/21>, e<1:06/14/22>, e<1:07/15/23>]}

    Good:
        hardware:
          controllers: {hba0: {ports: 2, lanes: 4, speed: 12Gbps}}
          expanders: {exp0: {behind: hba0, port: 0, lanes: 4, speed: 12Gbps, ports: 28}}
          disks: {e<00-23>: {behind: exp0, port: <1>, size: 2TB, rate: 110MB/s}}
        arrays:
          s<0-2>: {level: raid6, members: [e<1:00/08/16>, e<1:01/09/17>, e<1:02/10/18>, e<1:03/11/19>,
                                           e<1:04/12/20>, e<1:05/13/21>, e<1:06/14/22>, e<1:07/15/23>]}

    Source: *Coder Blog, "Building a SoHo File Server: The Hardware" (about 2010): 24 disks on 1200 MB/s.
    """
    for crowd in _crowded(topology, "expander"):
        yield _hit(topology, crowd, "connect it by more or faster lanes")


@rule(Severity.NOTE)
def crowded_chipset(topology: Topology) -> Iterator[Hit]:
    """The link between chipset and processor carries less than all disks on the chipset can read.

    Why: onboard SATA ports, chipset slots and the network share one DMI link: 1000 MB/s on the line with DMI
    1, 2000 with 2, 3940 with 3. A RAID of solid-state disks on a DMI 2 chipset levelled off near 1500 MB/s,
    whatever was added. Where one array alone is held back, another rule warns; this one adds up all disks in
    use.

    Bad:
        hardware:
          buses: {dmi: {type: dmi, generation: 2}}    # <-- here
          controllers: {ahci: {behind: dmi, ports: 6, speed: 6Gbps}}
          disks: {d<0-5>: {behind: ahci, port: <1>, size: 480GB, rate: 500MB/s}}
        arrays:
          s<0-2>: {level: raid1, members: [d<1:0/2/4>, d<1:1/3/5>]}

    Good:
        hardware:
          buses: {dmi: {type: dmi, generation: 3}}
          controllers: {ahci: {behind: dmi, ports: 6, speed: 6Gbps}}
          disks: {d<0-5>: {behind: ahci, port: <1>, size: 480GB, rate: 500MB/s}}
        arrays:
          s<0-2>: {level: raid1, members: [d<1:0/2/4>, d<1:1/3/5>]}

    Source: https://www.tomshardware.com/reviews/ssd-dc-s3500-raid-performance,3613-7.html.
    """
    for crowd in _crowded(topology, "bus", "dmi"):
        yield _hit(topology, crowd, "put a host adapter into a slot of the processor", Severity.NOTE)


@rule(Severity.WARNING)
def multipliers_crowd_card(topology: Topology) -> Iterator[Hit]:
    """One card carries several port multipliers, and its slot less than their uplinks.

    Why: the uplinks of the multipliers on one card share its slot, as the disks share each uplink. Four of
    them at 249 MB/s want 996 where four lanes of PCIe 1 carry 820. The builder of a machine with 40 disks
    found fewer multipliers on each card faster. A warning below 70 %, else a note; a note as well where a
    card has more than two and another has at least two fewer and a free port.

    Bad:
        hardware:
          buses: {slot0: {type: pcie, generation: 1, lanes: 1}}    # <-- here
          controllers: {sil0: {behind: slot0, ports: 4, speed: 3Gbps, fis_switching: true}}
          multipliers: {pm<0-1>: {behind: sil0, port: <1>, ports: 5, speed: 3Gbps}}
          disks: {d<0-1><0-4>: {behind: pm<1>, port: <2>, size: 3TB, rate: 100MB/s}}
        arrays: {s<0-4>: {level: raid1, members: [d<0-1><1>]}}

    Good:
        hardware:
          buses: {slot0: {type: pcie, generation: 1, lanes: 4}}
          controllers: {sil0: {behind: slot0, ports: 4, speed: 3Gbps, fis_switching: true}}
          multipliers: {pm<0-1>: {behind: sil0, port: <1>, ports: 5, speed: 3Gbps}}
          disks: {d<0-1><0-4>: {behind: pm<1>, port: <2>, size: 3TB, rate: 100MB/s}}
        arrays: {s<0-4>: {level: raid1, members: [d<0-1><1>]}}

    Source: E. Aronovich, "Cheap network storage system" (2012).
    """
    narrow = [crowd for crowd in _crowded(topology, "bus") if "multiplier" in crowd.over]
    for crowd in narrow:
        yield _hit(topology, crowd, "spread the multipliers over more cards, or take a slot with more lanes")
    if not narrow:
        yield from _uneven_cards(topology)


def _uneven_cards(topology: Topology) -> Iterator[Hit]:
    """Cards with many multipliers beside one with few and a free port."""
    hanging, own = topology.wiring.hanging, topology.once(own_ports)
    carried = {name: sum(plug.kind == "multiplier" for plug in hanging.get(name, ())) for name in own}
    room = [name for name, free in own.items() if free]
    other = min(room, key=carried.__getitem__, default=None)
    for name, count in carried.items():
        if other is not None and count > MULTIPLIERS_ON_CARD and count - carried[other] >= 2:
            yield Hit(
                ("hardware", "controllers", name),
                f"{name} carries {count} multipliers, and {other} {carried[other] or 'none'}",
                f"move {(count - carried[other]) // 2} of them: {other} has {counted(own[other], 'free port')}",
                severity=Severity.NOTE,
            )


def _crowded(topology: Topology, kind: str, bus: str = "") -> Iterator[Crowd]:
    """Links of a kind that carry less than what is behind them, where no single array is the reason."""
    named = {
        link.path
        for groups in topology.once(oversubscribed).values()
        for group in groups.values()
        for _, link in group
    }
    buses = topology.layout.hardware.buses
    for crowd in topology.once(crowds):
        link = crowd.link
        if (
            link.kind == kind
            and crowd.part < (1 if crowd.disks > 1 else ENOUGH)
            and link.path not in named
            and (not bus or buses[link.name].type == bus)
        ):
            yield crowd


def _hit(topology: Topology, crowd: Crowd, wider: str, mildest: Severity = Severity.WARNING) -> Hit:
    """The disks behind a link, and its rate."""
    link = crowd.link
    behind = {plug.name for plug in topology.wiring.hanging.get(link.name, ())} | {link.name}
    ports = with_ports(topology, lambda name: name not in behind)
    return Hit(
        link.path,
        f"the {counted(crowd.disks, 'disk')} in use behind {link.name} could send {mb(crowd.demand)} MB/s at once, "
        f"and {carrier(link)} carries {mb(link.bytes_per_second or 0)} MB/s",
        f"{wider}, or move disks: {ports}" if ports else wider,
        severity=mildest if crowd.part < ENOUGH else Severity.NOTE,
    )
