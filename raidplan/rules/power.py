"""Rules about power: what a supply must deliver while disks run and while they start."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.words import counted, listed
from raidplan.estimate.power import DISK_WATTS, DISK_WATTS_LEAST, START_AMPS, START_AMPS_LEAST, Load, loads
from raidplan.layout.kinds.hardware import Power
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, array_disks, arrays, places, redundant
from raidplan.topology import Topology

FULL = 0.8
"""A supply that must deliver more of its rating than this has nothing left for age and peaks."""
START_GAP = 12
"""Seconds that a careful staggering leaves between the starts of two disks."""
LAST_RESORT = 30
"""Seconds after which systemd starts an array without its missing members."""


@rule(Severity.WARNING)
def power_budget(topology: Topology) -> Iterator[Hit]:
    """A power supply has too few watts for what it feeds.

    Why: a hard disk of 7200 rpm draws 10 to 15 W while it runs, 12 in this sum, so twenty of them 200 to
    300 W beside the machine itself. Near its rating a supply sags when disks seek together, and disks drop
    out one by one, several of one array. Said above 80 % of the rating; an error if even 10 W for each disk
    are more than it has. `base_watts` is what the machine draws without its disks, cards included.

    Bad:
        hardware:
          disks: {d<00-19>: {size: 2TB, rotational: true}}
          power:
            psu0:
              watts: 420    # <-- here
              base_watts: 120
              feeds: [d<00-19>]

    Good:
        hardware:
          disks: {d<00-19>: {size: 2TB, rotational: true}}
          power: {psu0: {watts: 650, base_watts: 120, feeds: [d<00-19>]}}

    Source: *Coder Blog, "Building a SoHo File Server: The Hardware" (about 2010): 10-15 W for each disk, 600 to
    750 W for twenty.
    """
    for name, supply in topology.layout.hardware.power.items():
        load = topology.once(loads)[name]
        if supply.watts is None or load.watts <= FULL * supply.watts or not load.disks:
            continue
        hopeless = load.least_watts > supply.watts
        yield Hit(
            ("hardware", "power", name, "watts"),
            f"{name} feeds {counted(len(load.disks), 'disk')}{_besides(supply)}: {load.watts:.0f} W at {DISK_WATTS:g} W for a hard "
            f"disk, of its {supply.watts} W{_part(load.watts, supply.watts)}"
            + (f"; {load.least_watts:.0f} W even at {DISK_WATTS_LEAST:g} W" if hopeless else ""),
            f"take a supply of {load.watts / FULL:.0f} W or more, or a second one for some of the disks",
            severity=Severity.ERROR if hopeless else None,
        )


@rule(Severity.WARNING)
def spinup_surge(topology: Topology) -> Iterator[Hit]:
    """All disks of a supply start at once, and need more at 12 V than it has.

    Why: a hard disk draws 1.7 to 2.2 A at 12 V for the seconds while it starts, 2.2 in this sum, three times
    as much as running; twenty take 44 A. A supply that cannot deliver it switches off, or some disks do not
    start and are missing at boot. Said above 80 % of the rating; an error if even 1.7 A for each disk are
    more than it has. Staggered spin-up starts one after another and needs little.

    Bad:
        hardware:
          disks: {d<00-15>: {size: 2TB, rotational: true}}
          power:
            psu0:
              amps_12v: 40    # <-- here
              feeds: [d<00-15>]

    Good:
        hardware:
          disks: {d<00-15>: {size: 2TB, rotational: true}}
          power: {psu0: {amps_12v: 40, staggered_spinup: true, feeds: [d<00-15>]}}

    Source: product manuals of Seagate Constellation ES.1 (1.93 A, peak 2.62 A) and ES.3 (2.16 A, peak 2.74 A);
    https://manualshive.com/en/manual/seagate/constellation-st1000nm0023/1222665?page=25.
    """
    power = topology.layout.hardware.power
    for name, load in topology.once(loads).items():
        amps = power[name].amps_12v
        if amps is None or not _strained(load, amps):
            continue
        hopeless = load.least_start_amps > amps
        if not hopeless and name == topology.once(_only_rail):
            continue  # the nearer cause has a rule of its own
        yield Hit(
            ("hardware", "power", name, "amps_12v"),
            f"{name} starts {counted(len(load.disks), 'disk')}{_besides(power[name])}: {load.start_amps:.1f} A at {START_AMPS:g} A for "
            f"a hard disk, of its {amps} A at 12 V{_part(load.start_amps, amps)}"
            + (f"; {load.least_start_amps:.1f} A even at {START_AMPS_LEAST:g} A" if hopeless else ""),
            "stagger the spin-up (a jumper or a setting of the controller), or take a supply with more at 12 V",
            severity=Severity.ERROR if hopeless else None,
        )


@rule(Severity.WARNING)
def disks_on_one_rail(topology: Topology) -> Iterator[Hit]:
    """All disks hang on one rail of several, and strain it while they start.

    Why: a supply of four rails limits each of them, whatever its total. The leads for disks often come from one:
    of an Antec EA-550 all of them do, enough for eight disks and no more. Said above 80 % of that rail, where
    another rail feeds no disk.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 2TB, rotational: true}}
          power:
            rail1:
              amps_12v: 20
              feeds: [d<0-7>]    # <-- here
            rail<2-4>: {amps_12v: 20}

    Good:
        hardware:
          disks: {d<0-7>: {size: 2TB, rotational: true}}
          power:
            rail1: {amps_12v: 20, feeds: [d<0-3>]}
            rail2: {amps_12v: 20, feeds: [d<4-7>]}
            rail<3-4>: {amps_12v: 20}

    Source: *Coder Blog, "File Server Upgrade" (2013).
    """
    name = topology.once(_only_rail)
    if name is None:
        return
    power, load = topology.layout.hardware.power, topology.once(loads)[name]
    amps = power[name].amps_12v
    idle = [
        other for other, supply in power.items() if supply.amps_12v and not topology.once(loads)[other].disks
    ]
    if amps is not None and _strained(load, amps):
        yield Hit(
            ("hardware", "power", name, "feeds"),
            f"all {len(load.disks)} disks hang on {name} and need {load.start_amps:.1f} of its {amps} A to start, while "
            f"{listed(idle, last=' and ')} {agreeing(idle, 'feeds', 'feed')} none",
            f"feed some of them from {idle[0]}, or take a supply with a single rail",
            related=places("supply", ("hardware", "power"), idle),
        )


def _besides(supply: Power) -> str:
    return f" and {supply.base_watts} W besides" if supply.base_watts else ""


def _part(need: float, limit: int) -> str:
    return f" ({need / limit:.0%})"


def _strained(load: Load, amps: int) -> bool:
    """More than a supply should have to deliver while disks start."""
    return bool(load.disks) and load.start_amps > FULL * amps


def _only_rail(topology: Topology) -> str | None:
    """The one of several rails that all disks hang on, if another with a known limit feeds none."""
    power, feeding = topology.layout.hardware.power, topology.once(loads)
    used = [name for name, load in feeding.items() if load.disks]
    idle = any(supply.amps_12v and name not in used for name, supply in power.items())
    return used[0] if len(used) == 1 and idle else None


@rule(Severity.NOTE)
def late_disks_at_boot(topology: Topology) -> Iterator[Hit]:
    """Staggered spin-up may take longer than an incomplete array is waited for.

    Why: disks that start one after another appear one after another; a maker asks for 12 s and more between
    two starts. From the first member on, systemd waits 30 s and then starts the array without those still
    missing, so that they come back as strangers and are synced anew. Many controllers are quicker; look at
    the time stamps in the boot log. With `boot: {degraded: wait}` incomplete arrays are left alone.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 3TB, rotational: true}}
          power:
            psu0:
              staggered_spinup: true    # <-- here
              feeds: [d<0-7>]
        arrays:
          s0: {level: raid6, members: [d<0-7>]}

    Good:
        hardware:
          disks: {d<0-7>: {size: 3TB, rotational: true}}
          power: {psu0: {staggered_spinup: true, feeds: [d<0-7>]}}
        arrays:
          s0: {level: raid6, members: [d<0-7>]}
        boot: {degraded: wait}

    Source: https://manualsdump.com/amp/en/manuals/120102/49 (a Fujitsu SAS disk); mdadm's
    `mdadm-last-resort@.timer`; N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server Running Linux" (2005).
    """
    if topology.layout.boot.degraded != "start":
        return
    held = {
        disk for _, _, array in arrays(topology) if redundant(array) for disk in array_disks(topology, array)
    }
    for name, supply in topology.layout.hardware.power.items():
        disks = [disk for disk in topology.once(loads)[name].disks if disk in held]
        if supply.staggered_spinup and len(disks) * START_GAP > LAST_RESORT:
            yield Hit(
                ("hardware", "power", name, "staggered_spinup"),
                f"{len(disks)} disks of arrays start one after another, at {START_GAP} s each in {len(disks) * START_GAP} s; "
                f"an incomplete array is started after {LAST_RESORT} s",
                "or look up that the controller starts them faster",
                edits=(Edit(("boot", "degraded"), "wait"),),
            )


@rule(Severity.NOTE)
def unfed_expander(topology: Topology) -> Iterator[Hit]:
    """An expander is in no power supply's list.

    Why: an expander card or backplane has a power lead of its own and draws about 10 W; forgotten in the
    budget, it is also missing in what fails with which supply.

    Bad:
        hardware:
          controllers: {hba0: {ports: 2}}
          expanders:
            exp0: {behind: hba0, lanes: 4, ports: 28}    # <-- here
          disks: {d<0-7>: {behind: exp0, size: 2TB}}
          power: {psu0: {watts: 550, feeds: [d<0-7>]}}

    Good:
        hardware:
          controllers: {hba0: {ports: 2}}
          expanders: {exp0: {behind: hba0, lanes: 4, ports: 28}}
          disks: {d<0-7>: {behind: exp0, size: 2TB}}
          power: {psu0: {watts: 550, feeds: [exp0, d<0-7>]}}

    Source: *Coder Blog, "Building a SoHo File Server: The Hardware" (about 2010).
    """
    hardware = topology.layout.hardware
    fed = {name for supply in hardware.power.values() for name in supply.feeds}
    for name in hardware.expanders:
        if fed and name not in fed:
            yield Hit(
                ("hardware", "expanders", name),
                f"no supply feeds the expander {name}: it is not in the list of {listed(list(hardware.power), last=' or ')}",
                f"add it to the list: feeds: [{name}, ...]",
            )
