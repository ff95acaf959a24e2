"""Findings put together: one range in a layout can make hundreds that say the same at one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from raidplan.base.findings import dotted
from raidplan.base.groups import groups_by
from raidplan.base.words import and_more, counted
from raidplan.document import Span
from raidplan.render.line_folding import frame, one_line
from raidplan.review.located import Located

ALIKE = 5
"""The number of findings of one rule at one place that are spelled out."""
LISTED = 200
"""The most characters of names that one sentence has more than each of those that it stands for."""


def grouped(findings: Iterable[Located]) -> list[list[Located]]:
    """Findings of one rule and severity at one place, in the order of the first of each."""
    return groups_by(findings, lambda item: (item.span, item.finding.rule, item.finding.severity))


def details(group: Sequence[Located]) -> Iterator[str]:
    """The lines beside the message of the first finding, as the layout has them."""
    yield from alike(group)
    for span, text in places(group)[:ALIKE]:
        yield f"see {span.file}:{span.line}:{span.column}: {text}"
    if len(places(group)) > ALIKE:
        yield f"{and_more(len(places(group)) - ALIKE, 'place')}; --format json has them all"
    hint = group[0].finding.hint
    if hint:
        yield f"hint: {hint}"


def alike(group: Sequence[Located], most: int = ALIKE) -> Iterator[str]:
    """The other findings of a group, as far as the first does not say the same, those that differ in names alone as one."""
    message = group[0].finding.message
    same = [dotted(item.finding.path) for item in group if item.finding.message == message]
    others = _folded([item.finding.message for item in group if item.finding.message != message])
    if len(same) > 1:
        yield f"{counted(len(same), 'time')}: {_some(same)}"
    cut = len(others) > most + 1
    yield from (f"also: {other}" for other in others[: most if cut else None])
    if cut:
        yield f"{and_more(len(others) - most)} here; --format json has them all"


def places(group: Sequence[Located]) -> list[tuple[Span, str]]:
    """The other places, each once: a range in the layout describes many things in one."""
    found: dict[Span, list[str]] = {}
    for item in group:
        for place, span in zip(item.finding.related, item.related, strict=True):
            texts = found.setdefault(span, [])
            if place.message not in texts:
                texts.append(place.message)
    return [(span, _some(texts)) for span, texts in found.items()]


def _folded(sentences: Sequence[str]) -> list[str]:
    """The sentences, those that differ in names alone as one, unless their names make no ranges."""
    found: list[str] = []
    for each in groups_by(sentences, frame):
        said = one_line(each)
        found += [said] if len(said) <= len(each[0]) + LISTED else each
    return found


def _some(words: Sequence[str]) -> str:
    short = _folded(words)
    shown = ", ".join(short[:ALIKE])
    return f"{shown}, ..." if len(short) > ALIKE else shown
