"""The effect of a loss of disks on everything that stands on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from heapq import heappop, heappush

from raidplan.base.findings import Path
from raidplan.estimate.survival.structure import Stand, Structure
from raidplan.topology.resolve import DISKS


class Outcome(IntEnum):
    """The outcome for a thing; the graver, the higher."""

    INTACT = 0
    DEGRADED = 1
    """The thing goes on; an array below it has lost members."""
    READ_ONLY = 2
    """The thing takes no more writes: its journal is gone."""
    LOST = 3

    @property
    def survives(self) -> bool:
        """The thing still reads and writes."""
        return self <= Outcome.DEGRADED


def outcomes(structure: Structure, disks: Iterable[str]) -> dict[Path, Outcome]:
    """The outcome for each thing at the instant when these disks are gone; a thing that is not named is intact.

    Takes time for what stands on the disks only, however large the rest of the layout is.
    """
    hit: dict[Path, dict[int, list[Outcome]]] = {}
    waiting: list[tuple[int, Path]] = []
    found: dict[Path, Outcome] = {}

    def pass_on(path: Path, outcome: Outcome) -> None:
        for user, number in structure.above.get(path, ()):
            if user not in hit:
                hit[user] = {}
                heappush(waiting, (structure.rank[user], user))
            hit[user].setdefault(number, []).append(outcome)

    for disk in dict.fromkeys(disks):
        pass_on((*DISKS, disk), Outcome.LOST)
    while waiting:
        _, path = heappop(waiting)
        found[path] = _worst(structure.stands[path], hit[path])
        pass_on(path, found[path])
    return found


def _worst(stands: tuple[Stand, ...], hit: Mapping[int, list[Outcome]]) -> Outcome:
    return max(_judged(stands[number], parts) for number, parts in hit.items())


def _judged(stand: Stand, parts: list[Outcome]) -> Outcome:
    """The outcome of the loss of some parts of one stand; `parts` are those that are not intact."""
    stopped = sum(part > Outcome.DEGRADED or stand.whole for part in parts)
    if stopped <= stand.may_lose:
        return Outcome.DEGRADED
    lost = sum(part is Outcome.LOST or stand.whole for part in parts)
    return Outcome.READ_ONLY if stand.read_only or lost <= stand.may_lose else Outcome.LOST
