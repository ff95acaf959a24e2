"""The texts of a picture about losses: what stops without a component, and without which components a thing stops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from raidplan.base.findings import Path
from raidplan.base.words import counted
from raidplan.base.words import rate as rate_text
from raidplan.render.draw import words
from raidplan.render.draw.cards import Row
from raidplan.render.draw.marks import Bound, Marks
from raidplan.render.draw.measure import listed
from raidplan.render.draw.things import Thing
from raidplan.topology.resolve import DISKS

COMPONENT_ROOM, THING_ROOM = 139, 179
"""Pixels for a line of names in the widest card of a component, and of a thing."""


def stopped(component: Path, marks: Marks, things: Mapping[Path, Thing]) -> list[Path]:
    """The things that stop with a component, without those that only stand on another such thing."""
    stopped = set(marks.stops.get(component, ()))
    first = [path for path in things if path in stopped and not _stands_on(path, stopped, things)]
    return first or sorted(stopped - things.keys())


def _stands_on(path: Path, stopped: set[Path], things: Mapping[Path, Thing]) -> bool:
    waiting = list(things[path].parts)
    while waiting:
        part = waiting.pop()
        if part in stopped:
            return True
        waiting += things[part].parts
    return False


def stops_row(component: Path, marks: Marks, things: Mapping[Path, Thing]) -> Row | None:
    """The line of a component."""
    first = stopped(component, marks, things)
    if not first:
        return None
    grounds = [path for path, thing in things.items() if not thing.parts]
    if len(first) > 2 and first == grounds:
        return Row("takes down everything", tone="loss", icon="cross")
    return Row(
        listed([words.name_of(p) for p in first], COMPONENT_ROOM, before="takes down "),
        tone="loss",
        icon="cross",
    )


def killers_row(thing: Path, marks: Marks, things: Mapping[Path, Thing]) -> Row | None:
    """The line of a thing: the components, named; the disks, counted."""
    killers = [path for path in marks.killers.get(thing, ()) if thing in stopped(path, marks, things)]
    return Row(_named(killers, "fails without "), tone="loss", icon="cross") if killers else None


def _named(killers: Sequence[Path], before: str) -> str:
    disks = [path for path in killers if path[:-1] == DISKS]
    names = [str(path[-1]) for path in killers if path[:-1] != DISKS]
    if len(disks) == 1:
        names.append(str(disks[0][-1]))
    elif disks:
        names.append(f"any of {counted(len(disks), 'disk')}")
    return listed(names, THING_ROOM, before=before)


def speed_rows(array: Path, marks: Marks) -> Iterator[Row]:
    """The lines of an array: how fast it reads alone, and under full load if that is less."""
    alone, together = marks.alone.get(array), marks.together.get(array)
    if alone:
        yield _speed("reads ≤ {}", alone)
    if together and (alone is None or together.bytes_per_second < 0.99 * alone.bytes_per_second):
        yield _speed("≤ {} under full load", together)


def _speed(text: str, bound: Bound) -> Row:
    text = text.format(rate_text(bound.bytes_per_second))
    return Row(text, tone="limit", icon="narrow") if bound.by else Row(text)


def sentence(things: Sequence[Path]) -> str:
    """Names with what they are: `array s0, file system data0`."""
    return ", ".join(
        f"{words.kind_of(path)} {path[-1]}" if len(path) > 1 else words.name_of(path) for path in things
    )
