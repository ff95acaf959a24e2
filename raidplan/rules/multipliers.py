"""Rules about port multipliers: one uplink for all the disks behind one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from raidplan.base.findings import Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import mb
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import exchange
from raidplan.rules.lib.free_devices import MOST_VISITED, fitting, free_disks, multiplier_rooms, with_ports
from raidplan.rules.lib.parts import behind_multipliers, most_together
from raidplan.rules.lib.shares import shares
from raidplan.rules.lib.subjects import all_of, arrays, own_disks, place, redundant
from raidplan.topology import Topology

UNEVEN = 2
"""So many more members behind one multiplier than behind another are worth moving one."""


@rule(Severity.WARNING)
def array_behind_one_multiplier(topology: Topology) -> Iterator[Hit]:
    """All members of an array hang behind one port multiplier.

    Why: everything the array reads or writes goes through one SATA link: 3Gbps are 300 MB/s on the line and
    249 of data, so five disks have 50 MB/s each, where one 7200 rpm disk streams 150. And the multiplier is a
    single point of failure; one hung disk can reset the port and all its neighbours with it. Member k of
    every array behind multiplier k was the arrangement of the 40-disk machine that read about 500 and wrote
    344 MB/s.

    Bad:
        hardware:
          controllers: {sil0: {ports: 8}}
          multipliers: {pm<0-4>: {behind: sil0, speed: 3Gbps, ports: 5}}
          disks: {d<0-4><0-4>: {behind: pm<1>, port: <2>, size: 3TB}}
        arrays:
          s0:
            level: raid6
            members: [d0<0-4>]    # <-- here

    Good:
        hardware:
          controllers: {sil0: {ports: 8}}
          multipliers: {pm<0-3>: {behind: sil0, speed: 3Gbps, ports: 5}}
          disks: {d<0-3><0-4>: {behind: pm<1>, port: <2>, size: 3TB}}
        arrays:
          s<0-4>: {level: raid6, members: [d<0-3><1>]}

    Source: E. Aronovich, "Cheap network storage system" (2012);
    https://staging.45drives.com/blog/Hardware/our-biggest-design-decision-direct-wired-or-backplane.
    """
    for name, path, array in arrays(topology):
        disks = own_disks(topology, array)
        (multiplier, *more) = topology.once(behind_multipliers)[name] or [None]
        if len(disks) < 2 or multiplier is None or more:
            continue
        edits = exchange(topology, name, wholly=False)
        yield Hit(
            (*path, "members"),
            f"{all_of(disks)} members of {name} share the one uplink of {multiplier}"
            f"{_share_of_uplink(topology, name, multiplier)}",
            "" if edits else _spread_hint(topology),
            related=(place("multiplier", ("hardware", "multipliers", multiplier)),),
            edits=edits,
        )


def _share_of_uplink(topology: Topology, name: str, multiplier: str) -> str:
    """`, 50 MB/s for each`: what its uplink leaves to each member of an array, if that is known."""
    at = ("hardware", "multipliers", multiplier)
    members = topology.once(shares)[name]
    left = [
        share.left
        for share in members
        if share.left is not None and share.link is not None and share.link.path == at
    ]
    return f", {mb(min(left))} MB/s for each" if left else ""


def _spread_hint(topology: Topology) -> str:
    if len(topology.layout.hardware.multipliers) > 1:
        return "take them from behind different multipliers; members: {from: [...], count: N, spread: multiplier} picks them so"
    return "take them from ports of different controllers or multipliers"


def _elsewhere(topology: Topology, array: Array, crowded: str, members: Counter[str | None]) -> str:
    """The multiplier with the fewest members where most free disks fit, or the controller if they hang there directly."""
    free = Counter[str]()
    for disk in fitting(topology, array, topology.once(free_disks), MOST_VISITED):
        carrier = topology.layout.hardware.disks[disk].behind
        if carrier is not None and topology.wiring.nearest(disk, "multiplier") != crowded:
            free[carrier] += 1
    return max(free, key=lambda carrier: (-members[carrier], free[carrier]), default="")


@rule(Severity.WARNING)
def unbalanced_multipliers(topology: Topology) -> Iterator[Hit]:
    """An array has several members behind one multiplier, while another has room for some of them.

    Why: the uplink of a multiplier is shared by the disks behind it, and a striped array goes at the pace of
    its slowest member. With three members behind one and one behind the other the three get a third of a
    link each, 83 MB/s of 249, and so the fourth cannot be faster; two and two get half a link each. Said
    where the numbers differ by two or more, and the other multiplier has a port more than it carries for
    this array; not where even the smaller share is all that the disks can read.

    Bad:
        hardware:
          controllers: {sil0: {ports: 4}}
          multipliers: {pm<0-1>: {behind: sil0, port: <1>, speed: 3Gbps, ports: 5}}
          disks: {d<0-1><0-3>: {behind: pm<1>, port: <2>, size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d0<0-2>, d10]    # <-- here

    Good:
        hardware:
          controllers: {sil0: {ports: 4}}
          multipliers: {pm<0-1>: {behind: sil0, port: <1>, speed: 3Gbps, ports: 5}}
          disks: {d<0-1><0-3>: {behind: pm<1>, port: <2>, size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-1><0-1>]}

    Source: E. Aronovich, "Cheap network storage system" (2012).
    """
    rooms = topology.once(multiplier_rooms)
    for name, path, array in arrays(topology):
        members = topology.once(behind_multipliers)[name]
        crowded = max(filter(None, members), key=members.__getitem__, default=None)
        if crowded is None or len(members) < 2 or not LEVELS[array.level].chunked:
            continue
        where = _elsewhere(topology, array, crowded, members)
        other = where if where in rooms else _roomy(rooms, members)
        if other is None or members[crowded] - members[other] < UNEVEN or _plenty(topology, name, crowded):
            continue
        moved, edits = (members[crowded] - members[other]) // 2, exchange(topology, name, wholly=False)
        new = next((edit.new for edit in edits if isinstance(edit.new, tuple)), ())
        after = Counter(topology.wiring.nearest(disk, "multiplier") for disk in new)
        left, roomy = after[crowded], _roomy(rooms, after)
        if roomy and max(after[pm] for pm in rooms) - after[roomy] >= UNEVEN:
            edits = ()  # some hang elsewhere then, and the load is uneven still
        yield Hit(
            (*path, "members"),
            f"{members[crowded]} members of {name} hang behind {crowded}{_share_of_uplink(topology, name, crowded)}, and {members[other]} behind {other}",
            f"which evens the load{_still(array, crowded, left)}"
            if edits
            else f"move {moved} of them to {other}"
            + (
                f"; that evens the load{still}"
                if (still := _still(array, crowded, members[crowded] - moved))
                else ""
            ),
            related=tuple(place("multiplier", ("hardware", "multipliers", pm)) for pm in (crowded, other)),
            edits=edits,
        )


def _still(array: Array, crowded: str, members: int) -> str:
    """The advice of another rule, as far as evening out the load leaves it."""
    keeps = most_together(array) if redundant(array) else members
    return f", and {crowded} still takes {members} members with it" if members > keeps else ""


def _plenty(topology: Topology, name: str, crowded: str) -> bool:
    """The uplink leaves every member behind it all of its rate, as far as is known."""
    members = [
        share
        for share in topology.once(shares)[name]
        if topology.wiring.nearest(share.disk, "multiplier") == crowded
    ]
    return all(
        share.rate is not None and share.left is not None and share.left >= share.rate for share in members
    )


def _roomy(rooms: Mapping[str, int], members: Counter[str | None]) -> str | None:
    """The multiplier with the fewest members of an array that could carry one more."""
    none_yet = next((pm for pm in rooms if pm not in members), None)
    candidates = (pm for pm in (none_yet, *members) if pm is not None and rooms[pm] > members[pm])
    return min(candidates, key=members.__getitem__, default=None)


@rule(Severity.WARNING)
def command_based_switching(topology: Topology) -> Iterator[Hit]:
    """A port multiplier with several disks is driven by command-based switching.

    Why: with command-based switching the host has commands under way to one disk behind the multiplier at a
    time, so all its disks together are as fast as one, and queueing across them is lost. FIS-based switching
    talks to all of them at once. The host must do it too: AHCI controllers only with the FBS capability
    (`FBS` in the boot log), Intel's ICH8 to ICH10 without; SiI 3124 and 3132, and many Marvell, ASMedia and
    JMicron chips do.

    Bad:
        hardware:
          controllers: {ahci: {ports: 4}}
          multipliers:
            pm0:
              behind: ahci
              ports: 5
              switching: command    # <-- here
          disks: {d<0-4>: {behind: pm0, port: <1>, size: 3TB}}

    Good:
        hardware:
          controllers: {sil0: {ports: 4, fis_switching: true}}
          multipliers: {pm0: {behind: sil0, ports: 5, switching: fis}}
          disks: {d<0-4>: {behind: pm0, port: <1>, size: 3TB}}

    Source: https://ata.wiki.kernel.org/index.php?title=SATA_hardware_features;
    https://en.wikipedia.org/?oldid=486074033&title=Port_multiplier.
    """
    hardware, hanging = topology.layout.hardware, topology.wiring.hanging
    controllers = hardware.controllers
    for name, multiplier in hardware.multipliers.items():
        disks = [plug.name for plug in hanging.get(name, ()) if plug.kind == "disk"]
        controller = hardware.controllers.get(multiplier.behind)
        blind = controller is not None and controller.fis_switching is False
        if len(disks) < 2 or not (multiplier.switching == "command" or blind):
            continue
        rates = [rate for disk in disks if (rate := hardware.disks[disk].rate)]
        one = f", about {mb(max(rates))} MB/s in all" if rates else ""
        why = (
            "is driven by command-based switching"
            if multiplier.switching == "command"
            else f"hangs on {multiplier.behind}, which has no FIS-based switching"
        )
        yield Hit(
            ("hardware", "multipliers", name, "switching" if multiplier.switching == "command" else "behind"),
            f"{name} {why}: its {len(disks)} disks take turns{one}",
            "use a controller and a multiplier with FIS-based switching"
            + (
                f": {ports}"
                if (ports := with_ports(topology, lambda c: bool(controllers[c].fis_switching)))
                else ""
            ),
            related=(place("controller", ("hardware", "controllers", multiplier.behind)),) if blind else (),
        )
