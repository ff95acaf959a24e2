"""The steps of a plan put together for a person: those that do the same to different things are one line."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raidplan.base.groups import groups_by
from raidplan.base.names import number_ranges
from raidplan.plan.step import Plan, Run, Step, Zero
from raidplan.render import overview
from raidplan.render.line_folding import frame, one_line
from raidplan.render.losses import loss_texts

_WORD = re.compile(r"[A-Za-z0-9_-]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{8}(:[0-9a-f]{8}){3}")


@dataclass(frozen=True, slots=True)
class Group:
    """Steps of one phase that differ in names alone, with their numbers in the plan."""

    phase: str
    numbers: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def says(self) -> str:
        """The sentence of all of them."""
        return one_line([step.say for step in self.steps])

    @property
    def symbol(self) -> str:
        """The symbol of each of them."""
        return overview.symbol(self.steps[0])

    @property
    def losses(self) -> tuple[str, ...]:
        """Everything that they destroy."""
        return loss_texts(loss for step in self.steps for loss in overview.losses(step))

    @property
    def count(self) -> str:
        """`40 × `, in front of the sentence of more than one."""
        return f"{len(self.steps)} × " if len(self.steps) > 1 else ""


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One line of a plan: a group, or neighbours of one symbol whose sentences are short."""

    groups: tuple[Group, ...]

    @property
    def phase(self) -> str:
        """The phase of all of them."""
        return self.groups[0].phase

    @property
    def symbol(self) -> str:
        """The symbol of all of them."""
        return self.groups[0].symbol

    @property
    def says(self) -> str:
        """The sentences of the groups, each with the number of its steps in front."""
        return "; ".join(group.count + group.says for group in self.groups)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all of them."""
        return tuple(step for group in self.groups for step in group.steps)

    @property
    def losses(self) -> tuple[str, ...]:
        """Everything that they destroy."""
        return tuple(loss for group in self.groups for loss in group.losses)

    @property
    def lines(self) -> str:
        """The lines of the layout that ask for them."""
        return number_ranges(step.line for step in self.steps if step.line)

    @property
    def place(self) -> str:
        """The numbers of their steps, `12-18` or `6, 9, 12`; of many that are no range the first and the last, `6 … 120`."""
        numbers = [number for group in self.groups for number in group.numbers]
        listed = number_ranges(numbers)
        return listed if len(listed) <= PLACE else f"{min(numbers)} … {max(numbers)}"

    def takes(self, group: Group) -> bool:
        """Whether the line has room for one more group; what creates or destroys has a line of its own."""
        same = (self.phase, self.symbol) == (group.phase, group.symbol)
        return same and self.symbol in "~>" and len(f"{self.says}; {group.count}{group.says}") <= ROOM


PLACE = 11
"""The number of characters that the numbers in front of a line take."""
ROOM = 110
"""The most characters of sentences on one line."""


def rows(plan: Plan) -> Iterator[PlanLine]:
    """The lines of a plan."""
    row: PlanLine | None = None
    for group in groups(plan):
        if row and row.takes(group):
            row = PlanLine((*row.groups, group))
            continue
        if row:
            yield row
        row = PlanLine((group,))
    if row:
        yield row


def groups(plan: Plan) -> Iterator[Group]:
    """All steps, phase by phase, a group behind those with steps that it needs."""
    for phase, steps in overview.by_phase(plan):
        same = groups_by(steps, lambda each: _like(each[1]))
        yield from _sorted(
            [Group(phase, tuple(n for n, _ in one), tuple(step for _, step in one)) for one in same]
        )


def _sorted(groups: Sequence[Group]) -> Iterator[Group]:
    """The groups, each as early as what its steps need allows, else in the order of their first steps."""
    left = list(groups)
    while left:
        missing = {step.id: group for group in left for step in group.steps}
        ready = (
            group
            for group in left
            if all(missing.get(need, group) is group for step in group.steps for need in step.needs)
        )
        first = next(ready, left[0])
        left.remove(first)
        yield first


def grouped(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps in groups of those that differ in names alone."""
    return groups_by(steps, _like)


def _like(step: Step) -> Hashable:
    """A key that is equal for steps that do one thing to different objects."""
    by = shape(step) if isinstance(step.action, Run) else type(step.action)
    return step.phase, overview.symbol(step), by, frame(step.say)


def shape(step: Step) -> object:
    """The action of a step without its UUIDs and the words that its own sentence says.

    Steps of one shape differ in nothing else, so that the sentence of each says all about it.
    """
    if isinstance(step.action, Zero):
        return Zero, step.action.device, step.action.ranges  # no sentence stands for the device
    if not isinstance(step.action, Run):
        return step.id
    said = set(_WORD.findall(f"{step.say} {step.because}"))
    said |= (
        {step.proof.key.replace("-", "")} if step.proof else set()
    )  # FAT's serial number, which is no UUID

    def without(text: str) -> str:
        return _WORD.sub(lambda match: "" if match[0] in said else match[0], _UUID.sub("", text))

    return tuple(without(word) for word in step.action.argv), without(step.action.stdin)


def folded_findings(plan: Plan, every: bool = False) -> Iterator[tuple[str, str, str, str]]:
    """Severity, rule, lines and message; those of one rule that differ in names alone are one."""

    def key(finding: Mapping[str, object]) -> Hashable:
        message = frame(str(finding["message"])) if not every else id(finding)
        return finding["severity"], finding["rule"], message

    for same in groups_by(plan.findings, key):
        lines = number_ranges(int(str(each["line"])) for each in same)
        messages = [str(each["message"]) for each in same]
        said = messages[0] if every else one_line(messages)
        yield str(same[0]["severity"]), str(same[0]["rule"]), lines, said
