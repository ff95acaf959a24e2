"""Estimates as bars: what each array reads and writes, alone and with all others at work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidplan.base.groups import groups_by
from raidplan.estimate.estimate import estimate
from raidplan.estimate.result import Estimate, Estimates, Rate
from raidplan.render.estimate_words import (
    alike,
    bottleneck,
    capacity,
    described,
    gain_words,
    mb,
    missing_words,
    more,
    named,
    power,
    shape,
)
from raidplan.topology import Topology

MOST = 30
"""So many kinds of arrays, and of what stands on them, are shown."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A rate; `part` is its length in percent of the largest on the page."""

    title: str
    rate: str
    part: float
    beside: str
    """The bottleneck of the rate."""


@dataclass(frozen=True, slots=True)
class Card:
    """Arrays that are alike."""

    names: str
    what: str
    room: str
    bars: tuple[Bar, ...]
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Speeds:
    """The section."""

    cards: tuple[Card, ...]
    users: tuple[tuple[str, ...], ...]
    """Rows of name, kind, room, rates."""
    gains: tuple[str, ...]
    power: str
    missing: tuple[str, ...]


def speeds(topology: Topology) -> Speeds:
    """The upper bounds of the layout."""
    made = estimate(topology)
    rates = [rate for each in made.arrays for rate in _all(each)]
    top = max((rate.bytes_per_second or 0 for rate in rates), default=0)
    return Speeds(
        tuple(_card(group, top) for group in groups_by(made.arrays, shape)[:MOST]),
        tuple(_users(made)),
        tuple(f"{advice}: {change}" for advice, change in gain_words(made.gains)),
        power(made.machine),
        tuple(missing_words(made.missing)),
    )


def _all(array: Estimate) -> tuple[Rate, ...]:
    return array.alone.read, array.alone.write, array.together.read, array.together.write


def _card(group: Sequence[Estimate], top: float) -> Card:
    first = group[0]
    titles = ("read, alone", "write, alone", "read, under full load", "write, under full load")
    bars = [_bar(title, rate, top) for title, rate in zip(titles, _all(first), strict=True)]
    if [bar.rate for bar in bars[:2]] == [bar.rate for bar in bars[2:]]:
        bars = bars[:2]
    each = " each" if len(group) > 1 else ""
    return Card(
        named([array.name for array in group]),
        described(first),
        capacity(first) + each,
        tuple(bars),
        tuple(more(first)),
    )


def _bar(title: str, rate: Rate, top: float) -> Bar:
    part = 100 * (rate.bytes_per_second or 0) / top if top else 0
    return Bar(title, mb(rate.bytes_per_second), round(part, 1), bottleneck(rate.bottlenecks))


def _users(made: Estimates) -> Iterator[tuple[str, ...]]:
    for group in groups_by((*made.filesystems, *made.swap), shape)[:MOST]:
        first = group[0]
        rates = (mb(rate.bytes_per_second) for rate in _all(first))
        yield (*alike(group), capacity(first), *rates)
