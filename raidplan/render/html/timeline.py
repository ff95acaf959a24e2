"""The plan as a timeline: what can go on at once, one wave after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from raidplan.plan import Plan, Run, Step
from raidplan.render import overview
from raidplan.render.estimate_words import alike
from raidplan.render.html.source import Place
from raidplan.render.losses import loss_texts
from raidplan.render.plan_text import action_lines, shape


@dataclass(frozen=True, slots=True)
class Kind:
    """Steps that differ in nothing but what they are done to."""

    phase: str
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
    """The section; `chart` has a row for each phase with the number of its steps in each wave."""

    waves: tuple[Wave, ...]
    chart: tuple[tuple[str, tuple[int, ...]], ...]
    steps: int
    created: str
    destroyed: tuple[str, ...]
    files: tuple[str, ...]
    digest: str


def timeline(plan: Plan, place: Callable[[int], Place]) -> Timeline:
    """The plan's steps, each as early as what it needs allows; `place` says where a line of the layout is."""
    earliest = waves(plan.steps)
    count = max(earliest.values(), default=0)
    by_wave: list[list[Step]] = [[] for _ in range(count)]
    for step in plan.steps:
        by_wave[earliest[step.id] - 1].append(step)
    used = [phase for phase in plan.phases if any(step.phase == phase for step in plan.steps)]
    chart = tuple(
        (phase, tuple(sum(step.phase == phase for step in steps) for steps in by_wave)) for phase in used
    )
    return Timeline(
        tuple(_wave(number, steps, place) for number, steps in enumerate(by_wave, start=1)),
        chart,
        len(plan.steps),
        ", ".join(overview.created(plan)),
        overview.written_disks(plan),
        overview.changed_files(plan),
        plan.layout_digest,
    )


def waves(steps: Iterable[Step]) -> dict[str, int]:
    """For each step the number of the wave in which it can begin, from 1: one after all that it needs."""
    found: dict[str, int] = {}
    for step in steps:  # what a step needs stands before it
        found[step.id] = 1 + max((found.get(need, 0) for need in step.needs), default=0)
    return found


def _wave(number: int, steps: Sequence[Step], place: Callable[[int], Place]) -> Wave:
    groups = alike(steps, _alike_to)
    return Wave(number, tuple(_kind(group, place(group[0].line)) for group in groups), len(steps))


def _alike_to(step: Step) -> Hashable:
    """The same for steps that do the same to different things."""
    if isinstance(step.action, Run):
        return step.phase, shape(step)
    name = step.because.rpartition(".")[2]
    return step.phase, type(step.action), re.sub(rf"\b{re.escape(name)}\b", "", step.say)


def _kind(group: Sequence[Step], place: Place) -> Kind:
    first = group[0]
    return Kind(
        first.phase,
        tuple(step.say for step in group),
        overview.symbol(first),
        loss_texts(loss for step in group for loss in step.destroys),
        tuple(action_lines(first)),
        place,
    )
