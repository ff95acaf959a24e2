"""The plan as a timeline: what can go on at once, one wave after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from raidplan.plan.step import Plan, Step
from raidplan.render import overview
from raidplan.render.folded import grouped
from raidplan.render.html.source import Place
from raidplan.render.line_folding import one_line
from raidplan.render.losses import loss_texts
from raidplan.render.plan_text import action_lines


@dataclass(frozen=True, slots=True)
class Kind:
    """Steps that differ in nothing but what they are done to."""

    phase: str
    together: str
    """The one sentence that stands for all of these steps."""
    says: tuple[str, ...]
    symbol: str
    destroys: tuple[str, ...]
    commands: tuple[str, ...]
    """The commands of the first step."""
    place: Place


@dataclass(frozen=True, slots=True)
class Wave:
    """Steps that need nothing of each other."""

    number: int
    kinds: tuple[Kind, ...]
    steps: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The section; `chart` has a row for each phase: the number of its steps in each wave, and whether they destroy something."""

    waves: tuple[Wave, ...]
    chart: tuple[tuple[str, tuple[tuple[int, bool], ...]], ...]
    steps: int
    summary: Mapping[str, str]
    lost: tuple[str, ...]
    """The present content of the machine that is destroyed."""
    digest: str
    loud: bool
    """Something is destroyed, or may be."""
    legend: tuple[tuple[str, str], ...] = overview.SYMBOLS


def timeline(plan: Plan, place: Callable[[int], Place]) -> Timeline:
    """The plan's steps, each as early as what it needs allows; `place` says where a line of the layout is."""
    earliest = waves(plan.steps)
    count = max(earliest.values(), default=0)
    by_wave: list[list[Step]] = [[] for _ in range(count)]
    for step in plan.steps:
        by_wave[earliest[step.id] - 1].append(step)
    used = [phase for phase in plan.phases if any(step.phase == phase for step in plan.steps)]
    chart = tuple(
        (phase, tuple(_cell([step for step in steps if step.phase == phase]) for steps in by_wave))
        for phase in used
    )
    return Timeline(
        tuple(_wave(number, steps, place) for number, steps in enumerate(by_wave, start=1)),
        chart,
        len(plan.steps),
        overview.summary(plan),
        loss_texts(plan.lost),
        plan.layout_digest,
        overview.destroys(plan),
    )


def _cell(steps: Sequence[Step]) -> tuple[int, bool]:
    return len(steps), any(overview.losses(step) for step in steps)


def waves(steps: Iterable[Step]) -> dict[str, int]:
    """The number of the wave in which each step can begin, from 1: one after all that it needs."""
    found: dict[str, int] = {}
    for step in steps:  # what a step needs stands before it
        found[step.id] = 1 + max((found.get(need, 0) for need in step.needs), default=0)
    return found


def _wave(number: int, steps: Sequence[Step], place: Callable[[int], Place]) -> Wave:
    kinds = tuple(_kind(group, place(group[0].line)) for group in grouped(steps))
    return Wave(number, kinds, len(steps))


def _kind(group: Sequence[Step], place: Place) -> Kind:
    first = group[0]
    return Kind(
        first.phase,
        one_line([step.say for step in group]),
        tuple(step.say for step in group),
        overview.symbol(first),
        loss_texts(loss for step in group for loss in overview.losses(step)),
        tuple(action_lines(first)),
        place,
    )
