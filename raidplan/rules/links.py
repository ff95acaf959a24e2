"""Rules about links that slow down one array that works alone."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from raidplan.base.findings import Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import SHOWN, counted, listed, mb
from raidplan.estimate.levels import reading
from raidplan.estimate.links import Link
from raidplan.geometry.md_shape import check_count
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import with_ports
from raidplan.rules.lib.parts import behind_multipliers
from raidplan.rules.lib.shares import ENOUGH, UNEQUAL, Share, held_back, paths, shares
from raidplan.rules.lib.subjects import agreeing, arrays, own_disks, place
from raidplan.topology import Topology

WIDER = {
    "pci": "put a PCIe host adapter in place of the PCI card",
    "pcie": "take a slot with more lanes or of a newer generation",
    "dmi": "put a host adapter into a slot of the processor",
    "usb": "attach the disks by SATA or SAS",
    "thunderbolt": "use a port of a newer generation",
    "expander": "connect it by more lanes",
    "multiplier": "use one with a faster uplink",
    "controller": "use a faster controller",
}
"""The remedy for a narrow link, by its kind or the type of the bus."""


@rule(Severity.WARNING)
def oversubscribed_link(topology: Topology) -> Iterator[Hit]:
    """A link carries less than the members of one array behind it can read together.

    Why: disks that share a link share its rate, and a striped array goes at the pace of its slowest member.
    Four disks of 60 MB/s on a PCI bus of 95 MB/s have 24 each; the other four then wait for them. It is a
    warning with less than 70 % of a disk's rate left, a note below 100 %. Links are counted as what they
    carry of data, less than the line rate: 0.92 of a SATA port, 0.83 of a multiplier's uplink, 0.82 of
    PCIe; a measured `rate:` of a bus, controller or multiplier takes the place of that. A link that carries
    one member only is not shared, and those figures are no closer than a few percent: it is told of below
    70 %, as an NVMe disk for four lanes in a slot of one.

    Bad:
        hardware:
          buses: {slot1: {type: pcie, generation: 1, lanes: 1}}
          controllers: {hba0: {behind: slot1, ports: 4, speed: 3Gbps}}
          disks: {d<0-3>: {behind: hba0, port: <1>, size: 3TB, rate: 150MB/s}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          buses: {slot1: {type: pcie, generation: 1, lanes: 4}}
          controllers: {hba0: {behind: slot1, ports: 4, speed: 3Gbps}}
          disks: {d<0-3>: {behind: hba0, port: <1>, size: 3TB, rate: 150MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server Running Linux" (2005);
    https://serverfault.com/questions/556265 (410 of 500 MB/s on PCIe); `raidplan estimate` names the source of
    each figure.
    """
    for name, path, array in arrays(topology):
        for severity, groups in topology.once(oversubscribed)[name].items():
            worst, *others = groups
            share, link = worst
            alone, could = _passing(share) == 1, _suffers(topology, array, share, link)
            what = (
                f", and {share.disk} of {name} could {could} {_mb(share.rate)} MB/s alone"
                if alone
                else f" for {_passing(share)} members of {name}: "
                f"{_mb(share.left)} MB/s for each, which could {could} {_mb(share.rate)} MB/s"
            )
            yield Hit(
                (*path, "members"),
                f"{carrier(link)} carries {_mb(link.bytes_per_second)} MB/s{what}{_and_more(others)}",
                _relief(topology, link, alone=alone),
                severity=severity,
                related=tuple(place(link.kind, link.path) for _, link in groups[:SHOWN]),
            )


def _suffers(topology: Topology, array: Array, share: Share, link: Link) -> str:
    """The work that a link slows down: `read`, or `write` where the disks bound the reading, which moves less."""
    disks, known = own_disks(topology, array), topology.once(paths)
    over = [any(each.path == link.path for each in known[disk]) for disk in disks]
    try:
        check_count(array.level, len(disks))
        parts = reading(array.level, array.effective_layout, len(disks))
    except ValueError:
        return "read"  # another finding says that there is no such array
    moved = sum(part.moved for part in parts if any(over[slot] for slot in part.slots))
    passed = max(part.passed for part in parts)
    return "read" if moved * (share.rate or 0) > passed * (link.bytes_per_second or 0) else "write"


Squeeze = tuple[Share, Link]
"""The member that a link holds back most, and that link."""


def oversubscribed(topology: Topology) -> dict[str, dict[Severity, list[Squeeze]]]:
    """The links that hold the members of each array back, the worst first, by how grave that is.

    Without what rules about multipliers say: that one carries the whole array, or serves one disk at a time.
    """
    found: dict[str, dict[Severity, list[Squeeze]]] = {}
    for name, _, _ in arrays(topology):
        grave = found.setdefault(name, {})
        whole = len(topology.once(behind_multipliers)[name]) == 1
        worst = (
            min(some, key=lambda share: share.part)
            for some in held_back(topology.once(shares)[name]).values()
        )
        for share in sorted(worst, key=lambda share: share.part):
            link = share.link
            if link is not None and not link.one_at_a_time and not (whole and link.kind == "multiplier"):
                severity = Severity.WARNING if share.part < ENOUGH else Severity.NOTE
                if severity is Severity.NOTE and _passing(share) == 1:
                    continue  # nothing is shared, and the link's figure is no closer than that
                grave.setdefault(severity, []).append((share, link))
    return found


def carrier(link: Link) -> str:
    """`slot1`, or `the uplink of pm0`."""
    return f"the uplink of {link.name}" if link.kind in ("multiplier", "expander") else link.name


def _passing(share: Share) -> int:
    """The number of members that share the link."""
    whole = share.link.bytes_per_second if share.link else None
    return round(whole / share.left) if whole and share.left else 0


def _mb(rate: float | None) -> str:
    return mb(rate or 0)


def _and_more(others: list[Squeeze]) -> str:
    names = [link.name for _, link in others]
    return f"; so {agreeing(names, 'does', 'do')} {listed(names)}" if names else ""


def _relief(topology: Topology, link: Link, *, alone: bool) -> str:
    """Advice that widens a link, and the room beside it in this machine."""
    bus = topology.layout.hardware.buses.get(link.name) if link.kind == "bus" else None
    wider = WIDER.get(bus.type if bus else link.kind, "take a wider link")
    behind = {plug.name for plug in topology.wiring.hanging.get(link.name, ())} | {link.name}
    ports = with_ports(topology, lambda name: name not in behind)
    if ports:
        return f"{wider}, or move {'it' if alone else 'members'}: {ports}"
    return wider if alone else f"{wider}, or put fewer members behind it"


@rule(Severity.WARNING)
def slow_path_in_stripe(topology: Topology) -> Iterator[Hit]:
    """Some members of a striped array sit on a path that is much slower than the others'.

    Why: a full stripe is there when its last chunk is, so all members go at the pace of the slowest. With
    four disks at 61 MB/s on the chipset and four at 24 on PCI, a raid5 of eight read 174 MB/s, where the pace
    of the good ports would have allowed over 400. Said where the link leaves one member less than its own
    rate, and another is more than 1.5 times as fast.

    Bad:
        hardware:
          buses: {pci0: {type: pci, width: 32, clock: 33MHz}}
          controllers: {nforce4: {ports: 4, speed: 3Gbps}, sil3114: {behind: pci0, ports: 4, speed: 1.5Gbps}}
          disks:
            d<0-3>: {behind: nforce4, port: <1>, size: 300GB, rate: 60MB/s}
            d<4-7>: {behind: sil3114, port: <1:0-3>, size: 300GB, rate: 60MB/s}
        arrays:
          s0:
            level: raid5
            members: [d<0-7>]    # <-- here

    Good:
        hardware:
          buses: {pci0: {type: pci, width: 32, clock: 33MHz}}
          controllers: {nforce4: {ports: 4, speed: 3Gbps}, sil3114: {behind: pci0, ports: 4, speed: 1.5Gbps}}
          disks:
            d<0-3>: {behind: nforce4, port: <1>, size: 300GB, rate: 60MB/s}
            d<4-7>: {behind: sil3114, port: <1:0-3>, size: 300GB, rate: 60MB/s}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}
          s1: {level: raid5, members: [d<4-7>]}

    Source: N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server Running Linux" (2005).
    """
    for name, path, array in arrays(topology):
        members = topology.once(shares)[name] if LEVELS[array.level].chunked else []
        paced = [(share.pace, share) for share in members if share.pace is not None]
        slow = min((each for each in paced if each[1].part < 1), key=itemgetter(0), default=None)
        fast = max(paced, key=itemgetter(0), default=None)
        if slow is None or fast is None or fast[0] <= UNEQUAL * slow[0] or slow[1].link is None:
            continue
        link, disk, quick = slow[1].link, slow[1].disk, fast[1].disk
        alike = sum(pace == slow[0] for pace, _ in paced) - 1
        who = (
            f"{disk} and {counted(alike, 'other member')} of {name} get"
            if alike
            else f"{disk} of {name} gets"
        )
        over = "its own port" if link.kind == "port" else carrier(link)
        yield Hit(
            (*path, "members"),
            f"{who} {_mb(slow[0])} MB/s over {over}, while {quick} reads {_mb(fast[0])} MB/s: every stripe waits for the slowest",
            "put all members on equal paths, or make an array for each path",
            related=tuple(place("disk", ("hardware", "disks", each)) for each in (disk, quick)),
        )
