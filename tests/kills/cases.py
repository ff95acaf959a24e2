"""Cases by their numbers: the seed of the run, the seed of the layout, and the place among the cases of that layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import yaml

from tests.kills.adversity import PLANTED, POWER, STORM, Adversity, draw_adversity
from tests.kills.family import DISKS, FULL, Drawn, draw
from tests.kills.predicted import devices_used

LAYOUTS, PLACES = 10_000, 100


class Case(NamedTuple):
    """What `--case` takes, in its parts."""

    seed: int
    layout: int
    place: int

    @property
    def number(self) -> int:
        """The number in the record."""
        return (self.seed * LAYOUTS + self.layout) * PLACES + self.place


def case_of(number: int) -> Case:
    """The parts of a number."""
    whole, place = divmod(number, PLACES)
    return Case(*divmod(whole, LAYOUTS), place)


def cases(seed: int, count: int, each: int) -> list[Case]:
    """So many cases, `each` of a layout. Raises ValueError for more of a layout than a number can tell."""
    if not 0 < each <= PLACES:
        raise ValueError(f"{each} cases of a layout: possible are 1 to {PLACES}")
    first = seed * PLACES
    every = (
        Case(seed, (first + number) % LAYOUTS, place) for number in range(LAYOUTS) for place in range(each)
    )
    return [*islice(every, count)]


def by_layout(wanted: list[Case]) -> Iterator[tuple[int, list[Case]]]:
    """The layouts in their order, each with its cases."""
    for layout in dict.fromkeys(case.layout for case in wanted):
        yield layout, [case for case in wanted if case.layout == layout]


def by_sector(wanted: list[Case]) -> Iterator[tuple[int, list[tuple[Drawn, list[Case]]]]]:
    """The layouts with their cases, by the sectors of their disks: each of these has a server of its own."""
    drawn = [(draw(layout), its) for layout, its in by_layout(wanted)]
    for sector in dict.fromkeys(each.sector for each, _ in drawn):
        yield sector, [(each, its) for each, its in drawn if each.sector == sector]


def adversity_of(case: Case, drawn: Drawn, *, power: bool = False) -> Adversity:
    """What happens in it; where it could be told from nothing before the run what is right, something else in its place."""
    adversity = draw_adversity(case.number, power=power)
    assert power == (adversity.kind == POWER)
    if adversity.kind in PLANTED and drawn.kind == "change":
        return replace(adversity, kind=STORM)  # it would lie within our own data
    if adversity.kind == "foreign sector" and adversity.disk in FULL.get(drawn.old, ()):
        # The yes to what was on that disk may cover it or not.
        return replace(adversity, disk=next(n for n in range(DISKS) if n not in FULL[drawn.old]))
    if adversity.kind == "person's create":
        # Elsewhere the person's array is in nobody's way.
        used = [n for n in range(DISKS) if f"k{n}.a" in devices_used(yaml.safe_load(drawn.text))]
        return adversity if adversity.disk in used else replace(adversity, disk=used[0])
    return adversity
