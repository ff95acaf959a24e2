"""The outcome predicted for each thing at a boot without some disks."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.base.findings import Path
from raidplan.estimate.survival import BOOT, MACHINE, Outcome, Structure, structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.estimate.survival.structure import early_filesystems
from raidplan.topology import Topology


def outcomes_at_boot(topology: Topology, absent: Iterable[str]) -> dict[Path, Outcome]:
    """As `survive` has it, where degraded arrays are started; with `boot.degraded: wait` one that lacks a member is not.

    But the initramfs, once it has waited for / or /usr, which it does where these lack a member, starts all of them.

    A whole server boots as `survive` has it, where that knows of a boot. Else the twin has a boot loader of its own, and the
    boot itself hangs on the file systems that it waits for. A machine that has booted runs, whatever swap it lacks.
    """
    whole = structure(topology)
    absent = tuple(absent)
    found = promised = outcomes(whole, absent)
    if topology.layout.boot.degraded == "wait" and promised.keys().isdisjoint(early_filesystems(topology)):
        found = outcomes(_waiting(whole), absent)
    needed = (
        [promised.get(BOOT, Outcome.INTACT)]
        if BOOT in whole.stands and boots_itself(topology)
        else [
            found.get(("filesystems", name), Outcome.INTACT)
            for name, entry in topology.layout.filesystems.items()
            if entry.stops_boot
        ]
    )
    found.pop(MACHINE, None)
    found[BOOT] = Outcome.INTACT if all(outcome.survives for outcome in needed) else Outcome.LOST
    return found


def boots_itself(topology: Topology) -> bool:
    """A whole server: it has the root file system, is made from a rescue system, and starts from its own disks."""
    return any(entry.mount == "/" for entry in topology.layout.filesystems.values())


def _waiting(whole: Structure) -> Structure:
    """Arrays that stop as soon as they lack one member."""
    return Structure(
        {
            path: tuple(stand._replace(may_lose=0, whole=True) for stand in stands)
            if path[0] == "arrays"
            else stands
            for path, stands in whole.stands.items()
        }
    )
