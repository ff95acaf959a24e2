"""Rules about who is told of a failure, and about the reading that finds bad sectors in time."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.words import listed
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, arrays, redundant
from raidplan.topology import Topology


def _watched(topology: Topology) -> list[str]:
    """The arrays that survive a failure, and so can go on unnoticed."""
    return [name for name, _, array in arrays(topology) if redundant(array)]


def _section(topology: Topology) -> Path:
    """The place of monitoring in the layout: the section, else the arrays."""
    return ("monitoring",) if topology.layout.monitoring.written else ("arrays",)


@rule(Severity.WARNING)
def no_alarm(topology: Topology) -> Iterator[Hit]:
    """Nobody is told when a disk of a redundant array fails.

    Why: a degraded array works as before, only without its safety. `mdadm --monitor --scan` sends mail at a
    failure, but without an address it refuses to run. Then the second failure is the first one that is
    noticed.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        monitoring:    # <-- here
          scrub: monthly

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        monitoring: {mail: root@example.org, scrub: monthly}

    Source: mdadm(8), "MONITOR MODE"; mdadm.conf(5), MAILADDR.
    """
    watched = _watched(topology)
    if watched and topology.layout.monitoring.mail is None:
        yield Hit(
            _section(topology),
            f"nobody is told when a disk of {listed(watched, last=' or ')} fails",
            "choose an address that is read, and write monitoring: {mail: root@example.org} with it",
        )


@rule(Severity.WARNING)
def no_scrub(topology: Topology) -> Iterator[Hit]:
    """The members of redundant arrays are never read as a whole, so bad sectors are found too late.

    Why: a sector can go bad while nobody reads it. A scrub reads every member, and md rewrites what cannot be
    read from the others. Without it the bad sector is found by the rebuild after a failure, when there may be
    no redundancy left to repair it with.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        monitoring:
          mail: root@example.org
          scrub: none    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        monitoring: {mail: root@example.org, scrub: monthly}

    Source: md(4), "SCRUBBING AND MISMATCHES".
    """
    watched, scrub = _watched(topology), topology.layout.monitoring.scrub
    if watched and scrub != "monthly":
        yield Hit(
            ("monitoring", "scrub") if scrub else _section(topology),
            f"the members of {listed(watched, last=' and ')} are never read for latent errors",
            edits=(Edit(("monitoring", "scrub"), "monthly"),),
        )


@rule(Severity.NOTE)
def monitoring_without_redundancy(topology: Topology) -> Iterator[Hit]:
    """Monitoring is set up, and no array has the redundancy that it could report or repair.

    Why: raid0 and linear cannot be degraded: they are there or they are lost. mdadm's monitor reports such an
    array once (DeviceDisappeared, Wrong-Level) and watches it no further, and there is nothing to scrub. What
    can be watched is the disks themselves.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          scratch: {level: raid0, members: [d<0-1>]}
        monitoring:    # <-- here
          mail: root@example.org

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          scratch: {level: raid0, members: [d<0-1>]}

    Source: mdadm(8), "MONITOR MODE" (DeviceDisappeared, Wrong-Level).
    """
    monitoring = topology.layout.monitoring
    names = [name for name, _, _ in arrays(topology)]
    if names and not _watched(topology) and (monitoring.mail or monitoring.scrub == "monthly"):
        verb = agreeing(names, "has", "have")
        yield Hit(
            ("monitoring",),
            f"{listed(names, last=' and ')} {verb} no redundancy, so mdadm neither watches nor scrubs anything",
            "and let smartd watch the disks, or choose a level with redundancy",
            edits=tuple(
                Edit(("monitoring", key), None) for key in ("mail", "scrub") if key in monitoring.written
            ),
        )
