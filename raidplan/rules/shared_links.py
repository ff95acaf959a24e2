"""The rule about links that slow down several arrays only when they work at once."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import SHOWN, listed, mb
from raidplan.estimate.links import Link
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.shares import ENOUGH, Crowd, crowds, shares, shares_together
from raidplan.rules.lib.subjects import place
from raidplan.topology import Topology


@rule(Severity.NOTE)
def arrays_share_links(topology: Topology) -> Iterator[Hit]:
    """Arrays that are fast alone share links that cannot carry all of them at once.

    Why: measured one at a time, each array has the links to itself; 500 MB/s read and 344 written were
    measured on one array of a machine with 40 disks, while the other four were idle. With all five busy, five
    disks share each uplink. That is no mistake where they are rarely busy together, but a scrub of all, or a
    rebuild under load, is such a moment. Said once for a layout, where a member keeps 70 % of its rate alone
    and less with all.

    Bad:
        hardware:
          controllers: {sil<0-1>: {ports: 4, speed: 3Gbps, fis_switching: true}}
          multipliers: {pm<0-2>: {behind: sil0, port: <1>, ports: 5, speed: 3Gbps}}
          disks: {d<0-2><0-4>: {behind: pm<1>, port: <2>, size: 3TB, rate: 150MB/s}}
        arrays:
          s<0-4>: {level: raid5, members: [d<0-2><1>]}    # <-- here

    Good:
        hardware:
          controllers: {sil<0-1>: {ports: 4, speed: 3Gbps, fis_switching: true}}
          multipliers: {pm<0-2>: {behind: sil0, port: <1>, ports: 5, speed: 3Gbps}}
          disks: {d<0-2>0: {behind: pm<1>, port: 0, size: 3TB, rate: 150MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-2>0]}

    Source: E. Aronovich, "Cheap network storage system" (2012).
    """
    crowded = {
        crowd.link.path for crowd in topology.once(crowds) if crowd.part < 1 and _slot(topology, crowd)
    }
    hurt: dict[str, tuple[float, float]] = {}
    over: dict[str, Link] = {}
    for name, alone in topology.once(shares).items():
        together = topology.once(shares_together)[name]
        worst = min(together, key=lambda share: share.part, default=None)
        first = min((share.part for share in alone), default=0.0)
        if (
            worst is None
            or worst.part >= ENOUGH
            or first < ENOUGH
            or worst.link is None
            or worst.link.path in crowded
        ):
            continue
        pace = min(share.pace or 0 for share in alone)
        hurt[name] = (pace, worst.left or 0)
        over |= {
            share.link.name: share.link
            for share in together
            if share.link is not None and share.part < ENOUGH
        }
    if len(hurt) > 1:
        name, (alone_pace, left) = min(hurt.items(), key=lambda each: each[1][1])
        yield Hit(
            ("arrays", next(iter(hurt))),
            f"{listed(list(hurt), last=' and ')} share {listed(list(over), last=' and ')}: alone each member has "
            f"{mb(alone_pace)} MB/s, with all arrays busy {mb(left)} MB/s",
            "count on that while all are busy, as in a scrub; nothing to do where they take turns",
            related=tuple(place(link.kind, link.path) for link in list(over.values())[:SHOWN]),
        )


def _slot(topology: Topology, crowd: Crowd) -> bool:
    """One of the links that rules/crowded_links.py speaks about."""
    link = crowd.link
    return link.kind == "expander" or (
        link.kind == "bus" and topology.layout.hardware.buses[link.name].type in ("pcie", "dmi")
    )
