"""The steps of a plan put together for a person: those that do the same to different things are one line."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raidplan.base.names import folded, natural, ranges
from raidplan.plan import Plan, Run, Step, Zero
from raidplan.render import overview
from raidplan.render.estimate_words import alike
from raidplan.render.losses import loss_texts

_LIST = re.compile(r"[\w.-]+(?:, [\w.-]+){2,}")
_FIGURE = re.compile(r"(?<![\w/.<\[\]-])\d+(?:\.\d+)?(?![\w.\]-])")
_NAME = re.compile(r"\w+(?:[.-]\w+)*")
_FOLDER = re.compile(r"[\w./-]*/$")
"""The path above a name at the end of a text; each name of a list has it, where they are no one range."""
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
        return together([step.say for step in self.steps])

    @property
    def symbol(self) -> str:
        """The symbol of each of them."""
        return overview.symbol(self.steps[0])

    @property
    def losses(self) -> tuple[str, ...]:
        """Everything that they destroy."""
        return loss_texts(loss for step in self.steps for loss in overview.losses(step))

    @property
    def lines(self) -> str:
        """The lines of the layout that ask for them."""
        return ", ".join(str(line) for line in dict.fromkeys(step.line for step in self.steps) if line)

    @property
    def count(self) -> str:
        """`40 × `, in front of the sentence of more than one."""
        return f"{len(self.steps)} × " if len(self.steps) > 1 else ""


def groups(plan: Plan, every: bool = False) -> Iterator[Group]:
    """All steps, phase by phase; `every`: each step by itself."""
    for phase, steps in overview.by_phase(plan):
        for same in alike(steps, lambda each: each[1].id if every else _like(each[1])):
            yield Group(phase, tuple(number for number, _ in same), tuple(step for _, step in same))


def grouped(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps in groups of those that differ in names alone."""
    return alike(steps, _like)


def _like(step: Step) -> Hashable:
    """The same for steps that do the same to different things."""
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

    for same in alike(plan.findings, key):
        lines = ", ".join(dict.fromkeys(str(each["line"]) for each in same))
        messages = [str(each["message"]) for each in same]
        said = messages[0] if every else together(messages)
        yield str(same[0]["severity"]), str(same[0]["rule"]), lines, said


def together(sentences: Sequence[str]) -> str:
    """One sentence for several of one frame: a name that is another in each stands as a range."""
    if len(sentences) == 1:
        return listed(sentences[0])
    columns = zip(*(_cut(sentence)[1] for sentence in sentences), strict=True)
    frame = _cut(sentences[0])[0]
    text = ""
    for part, column in zip(frame, columns, strict=False):
        text += part
        name = column[0] if len(set(column)) == 1 else _name(column)
        above = _FOLDER.search(text)
        text += name.replace(", ", f", {above[0]}") if above else name
    return text + frame[-1]


def _name(names: Sequence[str]) -> str:
    """`d[0-7][0-4].s[0-4]`: each part of a dotted name by itself, where that gives a range for each."""
    parts = [name.split(".") for name in names]
    if len({len(each) for each in parts}) == 1:
        columns = [ranges(column) for column in zip(*parts, strict=True)]
        if all(len(column) == 1 for column in columns):
            return ".".join(column[0] for column in columns)
    return folded(names)


def listed(sentence: str) -> str:
    """A sentence whose lists of names stand as ranges, where that keeps their order."""

    def fold(match: re.Match[str]) -> str:
        names = match[0].split(", ")
        short = ranges(names)
        return (
            ", ".join(short) if sorted(names, key=natural) == names and len(short) < len(names) else match[0]
        )

    return _LIST.sub(fold, sentence)


def frame(sentence: str) -> tuple[str, ...]:
    """A sentence without its names, but with its figures: steps of other figures do something else."""
    return _cut(sentence)[0]


def _cut(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of a sentence between its names (one more than there are names), and the names."""
    text = listed(sentence)
    figures = [match.span() for match in _FIGURE.finditer(text)]
    frame, names, end = [], [], 0
    for match in _NAME.finditer(text):
        if any(start <= match.start() < stop for start, stop in figures):
            continue
        frame.append(text[end : match.start()])
        names.append(match[0])
        end = match.end()
    return (*frame, text[end:]), tuple(names)
