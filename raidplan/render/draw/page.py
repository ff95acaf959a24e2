"""The whole page: heading, storage, wiring, what fails as one, and the legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from raidplan.base.findings import Path
from raidplan.base.words import counted
from raidplan.estimate.survival import BOOT, MACHINE
from raidplan.render.draw import words
from raidplan.render.draw.cards import Row, card, height, wanted
from raidplan.render.draw.effects import sentence, stops_row
from raidplan.render.draw.legend import legend
from raidplan.render.draw.machine import Machine
from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import fitted, listed
from raidplan.render.draw.picture import Box, Icon, Line, Part, Picture, Rect, Text
from raidplan.render.draw.storage import storage
from raidplan.render.draw.things import Thing, slices, tags, things
from raidplan.topology import Topology

MARGIN = 28
ROOM = 1080
"""Width that the sections try to keep to."""
LEAST = 560
LONGEST_TAG = 9
"""Characters of a name that is written on a disk."""
BETWEEN_SECTIONS = 30
WORKLOADS = {
    "database": "for a database",
    "small-files": "for small files",
    "large-files": "for large files",
    "mixed": "for files of all sizes",
}

Placed = TypeVar("Placed", bound=Box | Line | Text | Rect | Icon)


def picture(topology: Topology, marks: Marks) -> Picture:
    """The machine as it stands in the layout, with the marks."""
    standing, parts_of = things(topology), slices(topology)
    names = tags(parts_of, standing, LONGEST_TAG)
    machine = Machine(topology, standing, parts_of, names, marks, ROOM)
    wide = max(machine.width, LEAST)
    above = storage(standing, names, marks, max(wide, ROOM if len(standing) > 2 else wide))
    wide = max(wide, above.width)
    boxes: list[Box] = []
    lines: list[Line] = []
    parts: list[Part] = []
    head = list(_head(topology, marks, machine, wide))
    y = MARGIN
    parts += _moved(head, MARGIN, y)
    y += 46 + 17 * (sum(isinstance(p, Icon) for p in head)) + 18
    if above.boxes:
        parts.append(Text(MARGIN, y + 10, "STORAGE", "heading", "muted"))
        boxes += _moved(above.boxes, MARGIN, y + 20)
        lines += _moved(above.lines, MARGIN, y + 20)
        y += 20 + above.height + BETWEEN_SECTIONS
    boxes += _moved(machine.boxes(), MARGIN, y)
    lines += _moved(machine.lines(), MARGIN, y)
    parts += _moved(machine.parts(), MARGIN, y)
    y += machine.bottom + BETWEEN_SECTIONS
    groups = list(_groups(topology, marks, standing, wide))
    if groups:
        parts.append(Text(MARGIN, y + 10, "FAILS AS ONE", "heading", "muted"))
        boxes += _moved(groups, MARGIN, y + 20)
        y += 20 + max(box.frame.y + box.frame.height for box in groups) + BETWEEN_SECTIONS
    signs, more, tall = legend(boxes, lines, marks, names, parts_of, wide)
    lines += _moved(more, MARGIN, y)
    parts += _moved(signs, MARGIN, y)
    y += tall
    title, text = f"{topology.host}: storage and wiring", _description(topology, marks, standing)
    return Picture(wide + 2 * MARGIN, y + MARGIN, title, text, tuple(lines), tuple(boxes), tuple(parts))


def _head(topology: Topology, marks: Marks, machine: Machine, wide: int) -> Iterator[Part]:
    """The host, what it has, and what the machine itself does not survive."""
    yield Text(0, 20, fitted(topology.host, wide, "title"), "title")
    yield Text(0, 40, fitted(_summary(topology), wide), tone="muted")
    y = 62
    for thing, verb in (
        (MACHINE, "The running system fails without "),
        (BOOT, "The next start fails without "),
    ):
        killers = list(dict.fromkeys(map(machine.called, marks.killers.get(thing, ()))))
        if killers:
            yield Icon(0, y - 9, "cross")
            yield Text(14, y, listed(killers, wide - 14, before=verb), tone="loss")
            y += 17
    if marks.holds:
        holders = list(dict.fromkeys(map(machine.called, marks.holds)))
        yield Icon(0, y - 9, "narrow")
        yield Text(14, y, listed(holders, wide - 14, before="The arrays are held back by "), tone="limit")


def _summary(topology: Topology) -> str:
    layout = topology.layout
    counts = (
        (len(layout.arrays), "array"),
        (len(layout.encryption), "encrypted device"),
        (len(layout.volume_groups), "volume group"),
        (len(layout.filesystems), "file system"),
        (len(layout.swap), "swap area"),
    )
    texts = [
        words.disks(layout.hardware.disks.values()),
        *(counted(n, noun) for n, noun in counts if n),
    ]
    return " · ".join([*texts, *([WORKLOADS[layout.workload]] if layout.workload else [])])


def _groups(topology: Topology, marks: Marks, standing: Mapping[Path, Thing], room: int) -> Iterator[Box]:
    """Enclosures and supplies, side by side."""
    hardware = topology.layout.hardware
    groups: list[tuple[Path, list[Row]]] = []
    for name, enclosure in hardware.enclosures.items():
        groups.append((("hardware", "enclosures", name), _group_rows(name, "enclosure", enclosure.disks)))
    for name, supply in hardware.power.items():
        watts = f", {supply.watts} W" if supply.watts else ""
        groups.append((("hardware", "power", name), _group_rows(name, f"supply{watts}", supply.feeds)))
    for path, rows in groups:
        if stops := stops_row(path, marks, standing):
            rows.append(stops)
    wide = max((wanted(rows, 120, 210) for _, rows in groups), default=0)
    high = height(max((len(rows) for _, rows in groups), default=0))
    x = y = 0
    for path, rows in groups:
        if x and x + wide > room:
            x, y = 0, y + high + 8
        text = f"{rows[1].text} {path[-1]}"
        if path in marks.stops:
            text += f". Without it stops {sentence(marks.stops[path])}"
        yield card(path, Rect(x, y, wide, high, "part", 5), rows, text)
        x += wide + 12


def _group_rows(name: str, kind: str, held: Iterable[str]) -> list[Row]:
    names = list(held)
    what = f"{len(names)}: {listed(names, 180)}" if names else "nothing"
    return [Row(name, "name", "ink"), Row(kind), Row(what)]


def _description(topology: Topology, marks: Marks, standing: Mapping[Path, Thing]) -> str:
    lines = [_summary(topology) + "."]
    lines += [
        f"{words.kind_of(path)} {path[-1]}: {thing.detail}{', ' + thing.size if thing.size else ''}."
        for path, thing in standing.items()
    ]
    for component, stopped in marks.stops.items():
        lines.append(f"Without {component[-1]} stops {sentence(stopped)}.")
    for link, held in marks.holds.items():
        lines.append(f"{words.name_of(link)} holds back {sentence(held)}.")
    return " ".join(lines)


def _moved(values: Iterable[Placed], x: int, y: int) -> Iterator[Placed]:
    """Everything further right and down."""
    for value in values:
        if isinstance(value, Box):
            frame = replace(value.frame, x=value.frame.x + x, y=value.frame.y + y)
            yield replace(value, frame=frame, parts=tuple(_moved(value.parts, x, y)))
        elif isinstance(value, Line):
            yield replace(value, points=tuple((a + x, b + y) for a, b in value.points))
        else:
            yield replace(value, x=value.x + x, y=value.y + y)
