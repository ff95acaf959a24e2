"""Rules about arrays that start at boot without all of their members."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.words import listed
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import array_disks, arrays, places, redundant
from raidplan.topology import Topology

SECTIONS = ("controllers", "multipliers", "expanders")
"""The parts of the hardware that may be marked as dropping disks."""


def _unreliable(topology: Topology) -> dict[str, Path]:
    """The components that lose a disk now and then, and where that is written."""
    hardware = topology.layout.hardware
    return {
        name: ("hardware", section, name, "drops_disks")
        for section in SECTIONS
        for name, entry in getattr(hardware, section).items()
        if entry.drops_disks
    }


@rule(Severity.WARNING)
def degraded_autostart(topology: Topology) -> Iterator[Hit]:
    """An array starts degraded at boot because of a component that is known to lose disks.

    Why: systemd waits 30 s for missing members and then starts the array without them. If the disk is only
    late or its port flaky, it comes back as a stranger: it has to be added by hand, and with no bitmap all of
    it is rebuilt. One machine had that after many boots, from one port of a SiI 3114; its author wanted the
    array to wait for a person, which `boot: {degraded: wait}` does. It holds for all arrays of the machine.

    Bad:
        hardware:
          controllers:
            ahci: {ports: 4}
            sil3114:
              ports: 4
              drops_disks: true    # <-- here
          disks:
            d<0-3>: {behind: ahci, size: 300GB}
            d<4-7>: {behind: sil3114, size: 300GB}
        arrays:
          s0: {level: raid5, members: [d<0-7>]}

    Good:
        hardware:
          controllers:
            ahci: {ports: 4}
            sil3114: {ports: 4, drops_disks: true}
          disks:
            d<0-3>: {behind: ahci, size: 300GB}
            d<4-7>: {behind: sil3114, size: 300GB}
        arrays:
          s0: {level: raid5, members: [d<0-7>]}
        boot: {degraded: wait}

    Source: N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server Running Linux" (2005); mdadm's
    `mdadm-last-resort@.timer`.
    """
    unreliable = _unreliable(topology) if topology.layout.boot.degraded == "start" else {}
    if not unreliable:
        return
    behind: dict[str, dict[str, list[str]]] = {name: {} for name in unreliable}
    for name, _, array in arrays(topology):
        for disk in sorted(array_disks(topology, array)) if redundant(array) else ():
            for component in topology.wiring.above(disk):
                if component.name in behind:
                    behind[component.name].setdefault(name, []).append(disk)
    for component_name, members in behind.items():
        if not members:
            continue
        disks = list(dict.fromkeys(disk for each in members.values() for disk in each))
        bare = [name for name in members if topology.layout.arrays[name].policy == "resync"]
        cost = f"; without a bitmap, {listed(bare)} must then be rebuilt whole" if bare else ""
        yield Hit(
            unreliable[component_name],
            f"{component_name} is known to lose disks ({listed(disks)}), and {listed(list(members), last=' and ')} "
            f"would start without them after 30 s{cost}",
            "and look for the cause: cable, port, firmware",
            edits=(Edit(("boot", "degraded"), "wait"),),
            related=places("array", ("arrays",), members),
        )
