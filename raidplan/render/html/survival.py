"""Survival as a table: things by rows, components by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.base.groups import groups_by
from raidplan.base.names import folded
from raidplan.base.words import plural
from raidplan.estimate.survival import Component, Survival, survive
from raidplan.estimate.survival.loss import Outcome
from raidplan.estimate.survival.smallest import MOST_LOSSES
from raidplan.render.draw.words import kind_of, name_of
from raidplan.render.estimate_words import named
from raidplan.render.sets_words import sets_words
from raidplan.topology import Topology

MOST_COLUMNS = 24
"""So many components have a column of their own; of more, the disks have none, then each other kind has one."""
MOST_ALIKE = 8
"""So many components of a kind have a column each, also where they are alike."""
MOST_ROWS = 40
WORDS = {
    Outcome.INTACT: "does not stand on it",
    Outcome.DEGRADED: "goes on, with less redundancy",
    Outcome.READ_ONLY: "can be read only",
    Outcome.LOST: "stops",
}
SIGNS = {Outcome.INTACT: "·", Outcome.DEGRADED: "✓", Outcome.READ_ONLY: "◐", Outcome.LOST: "✕"}


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of a loss for a thing."""

    sign: str
    words: str
    tone: str
    """intact, degraded, read_only or lost."""


@dataclass(frozen=True, slots=True)
class Row:
    """Things that share one fate."""

    kind: str
    """The kind of the things; empty for the machine as a whole, which its name says."""
    names: str
    every: str
    """All of their names."""
    cells: tuple[Cell, ...]
    disks: str
    """The number of disks that may be lost, whichever they are."""
    sets: str
    """The smallest sets of components that stop the first of the things."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table; `columns` are (kind, names of its columns)."""

    columns: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[Row, ...]
    left_out: int
    """Rows that are not shown."""


def matrix(topology: Topology) -> Matrix | None:
    """The table of components and of the things that each takes along; None if nothing stands on a component."""
    survival = survive(topology)
    things = [path for path, fates in survival.fates.items() if fates]
    if not things:
        return None
    kinds = [_same(survival, things, kind) for kind in groups_by(survival.components, lambda part: part.kind)]
    if sum(map(len, kinds)) > MOST_COLUMNS:
        kinds = [kind for kind in kinds if kind[0][0].kind != "disk"]
    condensed = sum(map(len, kinds)) > MOST_COLUMNS
    columns = tuple(
        (
            plural(kind[0][0].kind),
            ("all",) if condensed else tuple(folded(part.name for part in same) for same in kind),
        )
        for kind in kinds
    )
    groups = [[part for same in kind for part in (same if condensed else same[:1])] for kind in kinds]
    made = [(path, _cells(survival, path, groups, condensed), _disks(survival, path)) for path in things]
    rows = [_row(survival, group) for group in groups_by(made, lambda row: (row[1], row[2], kind_of(row[0])))]
    return Matrix(columns, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS))


def _same(
    survival: Survival, things: Sequence[Path], kind: Sequence[Component]
) -> Sequence[Sequence[Component]]:
    """The components of a kind by columns: many that no thing tells apart share one."""
    if len(kind) <= MOST_ALIKE:
        return [[part] for part in kind]
    return groups_by(kind, lambda part: tuple(_cell(survival, thing, part).sign for thing in things))


def _row(survival: Survival, group: Sequence[tuple[Path, tuple[Cell, ...], str]]) -> Row:
    path, cells, disks = group[0]
    names = [name_of(path) for path, _, _ in group]
    sets = sets_words(survival.sets(path), survival.sets_of_disks(path))
    return Row(kind_of(path) if len(path) > 1 else "", named(names), ", ".join(names), cells, disks, sets)


def _cells(
    survival: Survival, thing: Path, groups: Sequence[Sequence[Component]], condensed: bool
) -> tuple[Cell, ...]:
    if condensed:
        return tuple(_whole_kind(survival, thing, kind) for kind in groups)
    return tuple(_cell(survival, thing, part) for kind in groups for part in kind)


def _cell(survival: Survival, thing: Path, component: Component) -> Cell:
    outcome = survival.outcome(thing, component)
    if outcome is Outcome.INTACT and component.path in survival.fates[thing]:
        return Cell("✓", f"without {component.name}: goes on, fed by another supply", "degraded")
    return Cell(SIGNS[outcome], f"without {component.name}: {WORDS[outcome]}", outcome.name.lower())


def _whole_kind(survival: Survival, thing: Path, kind: Sequence[Component]) -> Cell:
    """The losses of many components of a kind that are not survived."""
    outcomes = {component.name: survival.outcome(thing, component) for component in kind}
    worst = max(outcomes.values())
    bad = [name for name, outcome in outcomes.items() if not outcome.survives]
    words = f"not without {named(bad)}" if bad else f"survives any of {len(kind)}"
    return Cell(f"{len(bad)} of {len(kind)}" if bad else SIGNS[worst], words, worst.name.lower())


def _disks(survival: Survival, thing: Path) -> str:
    most = survival.smallest(thing).always_survived
    return f"{most} or more" if most >= MOST_LOSSES else str(most)
