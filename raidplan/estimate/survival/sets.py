"""The smallest sets of components, disks among them, whose loss at one instant stops a thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.base.groups import by_key
from raidplan.estimate.survival.components import Component
from raidplan.estimate.survival.loss import Outcome, outcomes
from raidplan.estimate.survival.smallest import MOST_LOSSES, Smallest
from raidplan.estimate.survival.structure import MACHINE, Structure
from raidplan.topology.resolve import DISKS

MOST_TRIED = 2500
"""With more sets to try, only those of components that take most disks along are looked at."""

Mask = int
"""Disks as bits; one more for the board."""
Part = tuple[tuple[int, ...], Mask]
"""Components by number, several only where supplies take more along together; and what is gone with them."""


@dataclass(frozen=True, slots=True)
class Some:
    """Any `count` of these components of one kind."""

    count: int
    kind: str
    names: tuple[str, ...]


class Sets(NamedTuple):
    """The smallest sets, described: one set for each way to choose from every part of one of them."""

    losses: int | None
    """The number of components in each; None if no three stop the thing, or too many would have to be tried."""
    choices: tuple[tuple[Some, ...], ...] = ()
    complete: bool = True
    """False if a component was left out because another one takes the same disks along, and more."""


class SmallestSets:
    """The smallest sets of everything in a layout. `smallest` gives those of disks alone."""

    def __init__(
        self,
        structure: Structure,
        components: Sequence[Component],
        smallest: Callable[[Path], Smallest],
        dark: Mapping[frozenset[str], Iterable[str]],
        boards: frozenset[str],
    ) -> None:
        self._structure, self._components, self._smallest = structure, components, smallest
        self._bits = {disk: 1 << number for number, disk in enumerate(_disks(components))}
        self._board = 1 << len(self._bits)
        self._dark = {supplies: self._mask(disks) for supplies, disks in dark.items()}
        if boards:
            self._dark[boards] = self._dark.get(boards, 0) | self._board
        self._masks = [self._mask(each.disks) for each in components]
        self._taking: dict[str, list[int]] = {}
        for number, each in enumerate(components):
            for disk in each.disks:
                self._taking.setdefault(disk, []).append(number)
        self._known: dict[object, Sets] = {}

    def of(self, thing: Path, alone: Sequence[Component]) -> Sets:
        """The sets of a thing, and `alone` are the components without any of which it stops."""
        if alone:
            return _described(1, [(each,) for each in alone])
        board = self._board if thing == MACHINE else 0
        disks = self._structure.disks.get(thing, ())
        below = self._mask(disks) | board
        taking = sorted({number for disk in disks for number in self._taking.get(disk, ())})
        # A bus and the one card on it fail as one: the one that is nearer to the disks stands for both.
        near = {
            (self._components[number].kind == "disk", self._masks[number]): (
                (number,),
                self._masks[number] & below,
            )
            for number in taking
        }
        joint = ((supplies, mask & below) for supplies, mask in self._together if mask & below)
        parts: list[Part] = [*near.values(), *joint]
        if all(len(some) == 1 and self._components[some[0]].kind == "disk" for some, _ in parts):
            return self.of_disks(thing)
        needs = self._needs(thing)
        if needs is None:
            return self._tried(parts, lambda lost: bool(lost & board) or self._stops(thing, lost))
        needs += [(board, 0)] * bool(board)
        key = tuple(needs)
        if key not in self._known:
            self._known[key] = self._tried(
                parts, lambda lost: any((lost & mask).bit_count() > most for mask, most in needs)
            )
        return self._known[key]

    def of_disks(self, thing: Path) -> Sets:
        """The sets of disks alone."""
        found = self._smallest(thing)
        choices = (tuple(Some(part.count, "disk", part.disks) for part in choice) for choice in found.choices)
        return Sets(found.losses, tuple(choices), found.complete)

    @cached_property
    def _together(self) -> list[Part]:
        """Supplies that take more along together than each of them alone."""
        number = {each.name: n for n, each in enumerate(self._components) if each.kind == "power"}
        groups = [supplies for supplies in self._dark if 1 < len(supplies) <= MOST_LOSSES]
        unions = dict.fromkeys(
            union for one in groups for other in groups if len(union := one | other) <= MOST_LOSSES
        )
        found: list[Part] = []
        for supplies in unions:
            mask = 0
            for some, dark in self._dark.items():
                mask |= dark if some <= supplies else 0
            found.append((tuple(sorted(number[supply] for supply in supplies)), mask))
        return found

    def _mask(self, disks: Iterable[str]) -> Mask:
        return sum(self._bits[disk] for disk in disks if disk in self._bits)

    def _needs(self, thing: Path) -> list[tuple[Mask, int]] | None:
        """Groups of disks, and how many of each may be lost; None where arrays with redundancy are inside others."""
        found: list[tuple[Mask, int]] = []
        for stand in self._structure.stands[thing]:
            below = [part for part in stand.parts if part[:-1] != DISKS]
            leaves = [str(part[-1]) for part in stand.parts if part[:-1] == DISKS]
            if stand.whole:
                every = [disk for part in below for disk in self._structure.disks[part]]
                found.append((self._mask({*leaves, *every}), 0))
            elif not stand.may_lose or len(stand.parts) == 1:
                found += [(self._bits[leaf], 0) for leaf in leaves]
                for part in below:
                    inner = self._needs(part)
                    if inner is None:
                        return None
                    found += inner
            elif below or len(set(leaves)) < len(leaves):
                return None
            else:
                found.append((self._mask(leaves), stand.may_lose))
        return found

    def _stops(self, thing: Path, lost: Mask) -> bool:
        disks = [disk for disk, bit in self._bits.items() if lost & bit]
        return not outcomes(self._structure, disks).get(thing, Outcome.INTACT).survives

    def _tried(self, parts: list[Part], stops: Callable[[Mask], bool]) -> Sets:
        """No part of one component stops it alone."""
        largest = list(_largest(parts))
        for losses in range(2, MOST_LOSSES + 1):
            if comb(len(largest), losses) > MOST_TRIED:
                return Sets(None, complete=False)
            found = self._stopping(largest, losses, stops)
            if found:
                if comb(len(parts), losses) > MOST_TRIED:
                    return _described(losses, found, complete=False)
                return _described(losses, self._stopping(parts, losses, stops))
        return Sets(None)

    def _stopping(
        self, parts: Sequence[Part], losses: int, stops: Callable[[Mask], bool]
    ) -> list[tuple[Component, ...]]:
        """The sets of so many components that stop it, each once."""
        found: dict[tuple[int, ...], None] = {}
        heaviest = max((len(numbers) for numbers, _ in parts), default=1)
        for some in chain.from_iterable(
            combinations(parts, size) for size in range(-(-losses // heaviest), losses + 1)
        ):
            numbers = {number for each, _ in some for number in each}
            lost = 0
            for _, mask in some:
                lost |= mask
            if len(numbers) == losses and stops(lost):
                found[tuple(sorted(numbers))] = None
        return [tuple(self._components[number] for number in each) for each in found]


def _disks(components: Iterable[Component]) -> Iterator[str]:
    yield from (each.name for each in components if each.kind == "disk")


def _largest(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts that take along what no other one does that is no larger a set; of equal ones the first."""
    seen = set[Mask]()
    for each, mask in parts:
        inside = any(
            mask != more and mask & more == mask and len(other) <= len(each) for other, more in parts
        )
        if mask not in seen and not inside:
            seen.add(mask)
            yield each, mask


def _described(losses: int, sets: Iterable[tuple[Component, ...]], *, complete: bool = True) -> Sets:
    """Sets of the same kinds together; those that differ in the last component alone as one choice."""
    by_kinds = by_key((tuple(part.kind for part in each), tuple(part.name for part in each)) for each in sets)
    return Sets(
        losses,
        tuple(choice for kinds, names in by_kinds.items() for choice in _choices(kinds, names)),
        complete,
    )


def _choices(kinds: tuple[str, ...], sets: list[tuple[str, ...]]) -> Iterator[tuple[Some, ...]]:
    every = tuple(dict.fromkeys(name for each in sets for name in each))
    if len(set(kinds)) == 1 and len(sets) == comb(len(every), len(kinds)):
        yield (Some(len(kinds), kinds[0], every),)
        return
    by_head = by_key((each[:-1], each[-1]) for each in sorted(sets, key=lambda each: each[:-1]))
    last = by_key((tuple(ends), head) for head, ends in by_head.items())
    for ends, heads in last.items():
        if len(kinds) == 2:
            yield Some(1, kinds[0], tuple(head[0] for head in heads)), Some(1, kinds[1], ends)
        else:
            for head in heads:
                one = (Some(1, kind, (name,)) for kind, name in zip(kinds, head, strict=False))
                yield (*one, Some(1, kinds[-1], ends))
