"""The stacks as columns: disks' users at the left, mounts at the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.layout.model import BUILT
from raidplan.render.draw.things import Thing


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a thing in its stack; `top` and `height` in rows, as shares of the whole."""

    path: Path
    column: int
    columns: int
    """The number of columns that it spans: up to the start of its user."""
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Stack:
    """Things that are connected."""

    places: tuple[Place, ...]
    columns: int
    rows: int


def stacks(things: Mapping[Path, Thing]) -> list[Stack]:
    """Everything: arrays before file systems before swap; no two places of a stack overlap."""
    users: dict[Path, list[Path]] = {path: [] for path in things}
    for thing in things.values():
        for part in thing.parts:
            users[part].append(thing.path)
    groups = sorted(_connected(things, users), key=lambda group: BUILT.index(group[0][0]))
    return [_stack(group, things, users) for group in groups]


def _connected(things: Mapping[Path, Thing], users: Mapping[Path, list[Path]]) -> list[list[Path]]:
    seen: set[Path] = set()
    groups = []
    for start in things:
        if start in seen:
            continue
        group, waiting = set[Path](), [start]
        while waiting:
            path = waiting.pop()
            if path not in group:
                group.add(path)
                waiting += [*things[path].parts, *users[path]]
        seen |= group
        groups.append([path for path in things if path in group] if len(group) > 1 else [start])
    return groups


def _stack(group: list[Path], things: Mapping[Path, Thing], users: Mapping[Path, list[Path]]) -> Stack:
    column: dict[Path, int] = {}
    for path in group:
        column[path] = 1 + max((column[part] for part in things[path].parts), default=-1)
    columns = 1 + max(column.values())
    ends = {path: min((column[user] for user in users[path]), default=column[path] + 1) for path in group}
    weights = _weights(group, things, users)
    order = _order(group, things, users)
    # What ends early keeps its rows free to the right, so that its neighbours stay in line.
    rows = [
        [path for path in order if column[path] <= n and (n < ends[path] or not users[path])]
        for n in range(columns)
    ]
    whole = max(sum(weights[path] for path in row) for row in rows)
    tops = [_tops(row, weights, whole) for row in rows]
    places = []
    for path in group:
        top, height = tops[column[path]][path]
        places.append(Place(path, column[path], _span(path, column[path], ends[path], tops), top, height))
    return Stack(tuple(places), columns, whole)


def _span(path: Path, first: int, end: int, tops: Sequence[Mapping[Path, tuple[float, float]]]) -> int:
    """The number of columns up to the user of a thing, if its rows are the same all the way; else 1."""
    return end - first if all(tops[n].get(path) == tops[first][path] for n in range(first, end)) else 1


def _tops(row: list[Path], weights: Mapping[Path, int], whole: int) -> dict[Path, tuple[float, float]]:
    share = whole / sum(weights[path] for path in row)
    found, top = {}, 0.0
    for path in row:
        height = weights[path] * share
        found[path] = (top, height)
        top += height
    return found


def _weights(
    group: list[Path], things: Mapping[Path, Thing], users: Mapping[Path, list[Path]]
) -> dict[Path, int]:
    """Rows that each needs for all that stands on it, and all that it stands on."""
    most = len(group)
    down: dict[Path, int] = {}
    for path in group:
        down[path] = min(most, max(1, sum(down[part] for part in things[path].parts)))
    up: dict[Path, int] = {}
    for path in reversed(group):
        up[path] = min(most, max(1, sum(up[user] for user in users[path])))
    return {path: max(up[path], down[path]) for path in group}


def _order(group: list[Path], things: Mapping[Path, Thing], users: Mapping[Path, list[Path]]) -> list[Path]:
    """An order that keeps related things side by side: from each top downwards, parts before their users."""
    done: dict[Path, None] = {}
    for top in group:
        waiting = [] if users[top] else [(top, False)]
        while waiting:
            path, opened = waiting.pop()
            if opened:
                done.setdefault(path)
            elif path not in done:
                waiting.append((path, True))
                waiting += [(part, False) for part in reversed(things[path].parts) if part not in done]
    return list(done)
