"""Steps for the machine's own duties: the alarm, the timer of the monthly check (scrub)."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.levels import LEVELS
from raidplan.plan.places import CHECK, DEFAULTS, MONITOR
from raidplan.plan.step import Proof, Step, WriteBlock
from raidplan.plan.switches import MONITOR_READS, MONITOR_STEP, scrub
from raidplan.topology import Topology

EVERY = "all arrays of this machine, also those that no layout names"
"""All arrays, as the target of these switches of the distribution."""


def watch_steps(topology: Topology) -> Iterator[Step]:
    """The steps that `monitoring` asks for; arrays without redundancy have nothing to watch."""
    monitoring = topology.layout.monitoring
    redundant = any(LEVELS[array.level].redundant for array in topology.layout.arrays.values())
    if redundant and monitoring.mail:
        yield _monitor(monitoring.mail)
    if redundant and monitoring.scrub:
        yield (_scrub if monitoring.scrub == "monthly" else _no_scrub)(topology.target)
        yield _no_second_scrub(topology.host)


def _monitor(mail: str) -> Step:
    """udev starts the monitor with the first array; one that runs keeps the address it read then."""
    return Step(
        id=MONITOR_STEP,
        phase="configure",
        say=f"let the monitor read its configuration again, so that it writes to {mail}",
        action=MONITOR_READS,
        because="monitoring.mail",
        needs=("config.mdadm.conf",),
        follows=("config.mdadm.conf",),
        targets=(MONITOR,),
    )


def _scrub(target: str) -> Step:
    start = CHECK[0]
    return Step(
        id="config.scrub",
        phase="configure",
        say=f"read all members once a month to find latent errors ({EVERY})",
        action=scrub(target, "monthly")[0],
        because="monitoring.scrub",
        targets=(start,),
        proof=Proof("unit", start, {"enabled": "enabled"}),
    )


def _no_scrub(target: str) -> Step:
    return Step(
        id="config.scrub",
        phase="configure",
        say=f"no longer read the members once a month to find latent errors ({EVERY})",
        action=scrub(target, "none")[0],
        because="monitoring.scrub",
        targets=CHECK,
        proof=Proof("unit", CHECK[0], {"enabled": "disabled"}),
    )


def _no_second_scrub(host: str) -> Step:
    """Debian's cron runs checkarray on the same Sunday, and all at once instead of night by night."""
    return Step(
        id="config.autocheck",
        phase="configure",
        say=f"switch off checkarray, which cron runs on the same first Sunday ({EVERY})",
        action=WriteBlock(DEFAULTS, "AUTOCHECK=false\n", host),
        because="monitoring.scrub",
        targets=(DEFAULTS,),
    )
