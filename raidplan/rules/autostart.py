"""Rules about arrays that start at boot without all of their members."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity, shortened
from raidplan.base.size import align_up
from raidplan.base.words import listed
from raidplan.estimate.power import loads
from raidplan.layout.kinds.boot_options import BOOT_OPTIONS, TIMEOUT, device_timeout
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import array_disks, arrays, footing, places, redundant
from raidplan.rules.power import START_GAP
from raidplan.topology import Topology

SHORTEST = 60
"""Seconds to wait for the device of a mount: a degraded array starts after 30, and needs some time itself."""
LATE = 180
"""Seconds after which a machine with disks that are slow to appear has been seen to have them all."""
PATIENCE = 60
"""Seconds of a wait beyond the last disk, in which its arrays start."""
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
    array to wait for a person, which `boot: {degraded: wait}` does.

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


@rule(Severity.NOTE)
def wait_ends_before_disks(topology: Topology) -> Iterator[Hit]:
    """A file system is given up at boot before the disks below it may have appeared.

    Why: systemd waits for the device of a mount as long as its options say, 120 s where raidplan writes them,
    and does not try again later: the machine is up, and the files are not there. Disks that start one after
    another, at 12 s each, take longer from eleven on; a machine with 40 disks behind multipliers took 3
    minutes to boot. Said for disks on a supply with staggered spin-up, and for those behind a multiplier
    where a component is known to lose disks (`drops_disks`). A longer wait costs nothing: with `nofail` the
    boot goes on meanwhile.

    Bad:
        hardware:
          disks: {d<00-15>: {size: 3TB, rotational: true}}
          power: {psu0: {staggered_spinup: true, feeds: [d<00-15>]}}
        arrays:
          s0: {level: raid6, members: [d<00-15>]}
        filesystems:
          data:    # <-- here
            device: s0
            type: xfs
            mount: /srv/data
        boot: {degraded: wait}

    Good:
        hardware:
          disks: {d<00-15>: {size: 3TB, rotational: true}}
          power: {psu0: {staggered_spinup: true, feeds: [d<00-15>]}}
        arrays:
          s0: {level: raid6, members: [d<00-15>]}
        filesystems:
          data: {device: s0, type: xfs, mount: /srv/data, options: [x-systemd.device-timeout=300s]}
        boot: {degraded: wait}

    Source: systemd.mount(5), `x-systemd.device-timeout=`; E. Aronovich, "Cheap network storage system" (2012).
    """
    for name, entry in topology.layout.filesystems.items():
        # The initramfs waits for what the root stands on; a mount that blocks the boot has a rule of its own.
        if not entry.mount or entry.mount in SYSTEM_MOUNTS or entry.stops_boot or is_short(topology, entry):
            continue
        wait = device_timeout((*BOOT_OPTIONS, *entry.options)) or 0
        seconds, why = last_disk(topology, entry)
        if wait < seconds:
            yield Hit(
                ("filesystems", name),
                f"{shortened(entry.mount)} is given up after {wait:g} s, and its disks may take {seconds} s to appear: {why}",
                "or look in the boot log how long they take",
                edits=wait_for_disks(name, entry, seconds),
            )


def is_short(topology: Topology, entry: Filesystem) -> bool:
    """The wait for a mount ends before a degraded array below it is up."""
    wait = device_timeout(entry.options)
    return wait is not None and wait < SHORTEST and bool(footing(topology, entry.device).arrays)


def last_disk(topology: Topology, entry: Filesystem) -> tuple[int, str]:
    """The seconds until the last disk below a file system may appear, and why; 0 where nothing is known to be slow."""
    late = topology.once(_late)
    below = topology.disks_below(entry.device) if late else ()
    return max((late[disk] for disk in below if disk in late), default=(0, ""))


def wait_for_disks(name: str, entry: Filesystem, seconds: int) -> tuple[Edit, ...]:
    """A file system whose mount waits for disks that take so many seconds."""
    others = tuple(option for option in entry.options if not option.startswith(f"{TIMEOUT}="))
    options = (*others, f"{TIMEOUT}={align_up(seconds + PATIENCE, 60)}s")
    return (Edit(("filesystems", name, "options"), options),)


def _late(topology: Topology) -> dict[str, tuple[int, str]]:
    """The disks that are slow to appear at boot: after how many seconds, and why."""
    unreliable = _unreliable(topology)
    found: dict[str, tuple[int, str]] = {}
    for disk in topology.layout.hardware.disks if unreliable else ():
        above = list(topology.wiring.above(disk))
        at = next((plug.name for plug in above if plug.name in unreliable), None)
        if at is not None and any(plug.kind == "multiplier" for plug in above):
            found[disk] = LATE, f"{at} is known to lose disks"
    for name, supply in topology.layout.hardware.power.items():
        disks = topology.once(loads)[name].disks if supply.staggered_spinup else ()
        for disk in disks:
            seconds = len(disks) * START_GAP
            found[disk] = max(
                found.get(disk, (0, "")), (seconds, f"{name} starts {len(disks)} one after another")
            )
    return found
