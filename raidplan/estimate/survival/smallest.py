"""The smallest sets of disks whose loss stops a thing: exact up to three disks.

A set is described, not listed: any 3 of 8 disks are one choice, not 56 sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement, islice, product
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.base.groups import groups_by
from raidplan.estimate.survival.loss import Outcome, outcomes
from raidplan.estimate.survival.structure import Stand, Structure
from raidplan.topology.resolve import DISKS

MOST_LOSSES = 3
"""More disks lost at one instant are not looked at."""
MOST_CHOICES = 1000
"""So many choices are described; a RAID6 over a hundred RAID0 has 161,700 of them."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Any `count` of these disks."""

    count: int
    disks: tuple[str, ...]


Choice = tuple[AnyOf, ...]
"""One set of disks for each way to choose from every part; no disk is in two parts."""


class Smallest(NamedTuple):
    """The smallest sets of disks whose loss stops something."""

    losses: int | None
    """The number of disks in each choice; None if no three disks, whichever they are, stop it."""
    choices: tuple[Choice, ...] = ()
    complete: bool = True
    """False if there are more choices than are described."""

    @property
    def always_survived(self) -> int:
        """The number of disks that may be lost, whichever they are; 3 stands for three or more."""
        return MOST_LOSSES if self.losses is None else self.losses - 1

    def sets(self) -> Iterator[frozenset[str]]:
        """The sets of disks, each once."""
        seen = set[frozenset[str]]()
        for choice in self.choices:
            for parts in product(*(combinations(part.disks, part.count) for part in choice)):
                disks = frozenset(chain.from_iterable(parts))
                if disks not in seen:
                    seen.add(disks)
                    yield disks


NEVER = Smallest(None)


def smallest(structure: Structure, thing: Path) -> Smallest:
    """The smallest sets of disks without which `thing` stops."""
    known: dict[Path, Smallest] = {}
    for path in _below(structure, thing):
        ways = [_of_stand(structure, stand, known) for stand in structure.stands[path]]
        known[path] = _least(ways)
    return known.get(thing, NEVER)


def _below(structure: Structure, thing: Path) -> list[Path]:
    """The thing and all it stands on but disks, bottom up."""
    found, waiting = set[Path](), [thing]
    while waiting:
        path = waiting.pop()
        if path in structure.stands and path not in found:
            found.add(path)
            waiting += (part for stand in structure.stands[path] for part in stand.parts)
    return sorted(found, key=structure.rank.__getitem__)


def _least(ways: Iterable[Smallest]) -> Smallest:
    """The smallest of several ways to stop a thing, together."""
    ways = [way for way in ways if way.losses is not None]
    losses = min((way.losses for way in ways if way.losses is not None), default=None)
    best = [way for way in ways if way.losses == losses]
    choices = _merged(chain.from_iterable(way.choices for way in best))
    return _described(losses, choices, complete=all(way.complete for way in best))


def _described(losses: int | None, choices: Iterable[Choice], *, complete: bool = True) -> Smallest:
    if losses is None or losses > MOST_LOSSES:
        return NEVER
    shown = tuple(islice(choices, MOST_CHOICES + 1))
    return Smallest(losses, shown[:MOST_CHOICES], complete and len(shown) <= MOST_CHOICES)


def _merged(choices: Iterable[Choice]) -> Iterator[Choice]:
    """The choices, each once; the single disks of all of them as one choice."""
    singles, others = dict[str, None](), dict[Choice, None]()
    for choice in choices:
        if len(choice) == 1 and choice[0].count == 1:
            singles |= dict.fromkeys(choice[0].disks)
        else:
            others[choice] = None
    if singles:
        yield (AnyOf(1, tuple(singles)),)
    yield from others


def _of_stand(structure: Structure, stand: Stand, known: Mapping[Path, Smallest]) -> Smallest:
    """The choices that stop more than `may_lose` of the parts."""
    if stand.whole:
        disks = sorted(frozenset().union(*(_disks(structure, part) for part in stand.parts)))
        return _described(1 if disks else None, [(AnyOf(1, tuple(disks)),)])
    leaves = [str(part[-1]) for part in stand.parts if part[:-1] == DISKS]
    others = [part for part in stand.parts if part[:-1] != DISKS]
    if not stand.may_lose:
        singles = Smallest(1, ((AnyOf(1, tuple(dict.fromkeys(leaves))),),)) if leaves else NEVER
        return _least([singles, *(known[part] for part in others)])
    counted = Counter(chain(leaves, *(_disks(structure, part) for part in others)))
    if any(times > 1 for times in counted.values()):
        return _tried(structure, stand, counted)
    return _chosen(stand.may_lose + 1, leaves, [known[part] for part in others])


def _disks(structure: Structure, part: Path) -> frozenset[str]:
    return frozenset((str(part[-1]),)) if part[:-1] == DISKS else structure.disks[part]


def _chosen(fatal: int, leaves: list[str], others: list[Smallest]) -> Smallest:
    """`fatal` of the parts are stopped, and no two parts share a disk: their smallest sets add up."""
    by_losses = sorted((part for part in others if part.losses is not None), key=lambda p: p.losses or 0)
    costs = sorted([1] * len(leaves) + [part.losses or 0 for part in by_losses])
    least = sum(costs[:fatal])
    if len(costs) < fatal or least > MOST_LOSSES:
        return NEVER

    def choices() -> Iterator[Choice]:
        for picked in range(max(0, fatal - len(by_losses)), min(fatal, len(leaves)) + 1):
            for parts in combinations(by_losses, fatal - picked):
                if picked + sum(part.losses or 0 for part in parts) == least:
                    for inner in product(*(part.choices for part in parts)):
                        own = (AnyOf(picked, tuple(leaves)),) if picked else ()
                        yield _joined((*own, *chain.from_iterable(inner)))

    return _described(least, choices(), complete=all(part.complete for part in by_losses))


def _joined(choice: Choice) -> Choice:
    """The choice with all disks that are lost in any case in one part."""
    fixed = [disk for part in choice if part.count == len(part.disks) for disk in part.disks]
    rest = tuple(part for part in choice if part.count < len(part.disks))
    return ((AnyOf(len(fixed), tuple(fixed)),) if fixed else ()) + rest


def _tried(structure: Structure, stand: Stand, counted: Mapping[str, int]) -> Smallest:
    """Parts share disks: every set of one, two and three disks is tried, of equal disks only one."""
    if stand.may_lose + 1 > MOST_LOSSES * max(counted.values()):
        return NEVER
    equal = _interchangeable(structure, stand, counted)
    for losses in range(1, MOST_LOSSES + 1):
        choices = (
            tuple(AnyOf(count, equal[number]) for number, count in Counter(picked).items())
            for picked in combinations_with_replacement(range(len(equal)), losses)
        )
        possible = (choice for choice in choices if all(part.count <= len(part.disks) for part in choice))
        found = _described(losses, (choice for choice in possible if _stops(structure, stand, choice)))
        if found.choices:
            return found
    return NEVER


def _interchangeable(structure: Structure, stand: Stand, disks: Iterable[str]) -> list[tuple[str, ...]]:
    """The disks in classes; those of one class stand in the same places."""
    inside = set(chain.from_iterable(_below(structure, part) for part in stand.parts))

    def places(disk: str) -> tuple[object, ...]:
        path = (*DISKS, disk)
        return stand.parts.count(path), *(user for user in structure.above[path] if user[0] in inside)

    return [tuple(each) for each in groups_by(disks, places)]


def _stops(structure: Structure, stand: Stand, choice: Choice) -> bool:
    """Any set of a choice stops the stand; of interchangeable disks, the first ones are as good as any."""
    lost = [disk for part in choice for disk in part.disks[: part.count]]
    found = {(*DISKS, disk): Outcome.LOST for disk in lost} | outcomes(structure, lost)
    return sum(found.get(part, Outcome.INTACT) > Outcome.DEGRADED for part in stand.parts) > stand.may_lose
