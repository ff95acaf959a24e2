"""Findings for the terminal: what, where, the line itself with a mark under it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from raidplan.findings import Severity, dotted
from raidplan.render.colour import Styles, styles
from raidplan.render.snippet import lines_of, snippet
from raidplan.render.visible import plural, visible

if TYPE_CHECKING:
    from raidplan.document import Span
    from raidplan.located import Located


ALIKE = 5
"""How many findings of one rule at one place are spelled out; a range can make hundreds."""


def findings_text(findings: Sequence[Located], sources: Mapping[str, str], *, colour: bool = False) -> str:
    """Each place in a few lines, an empty line between two; nothing for none."""
    style = styles(colour)
    lines = {file: lines_of(text) for file, text in sources.items()}
    return "\n".join("\n".join(_finding(group, lines, style)) + "\n" for group in _grouped(findings))


def _grouped(findings: Sequence[Located]) -> Iterator[list[Located]]:
    """Findings of one rule at one place: what a range in the layout multiplies."""
    groups: dict[object, list[Located]] = {}
    for item in findings:
        groups.setdefault((item.span, item.finding.rule, item.finding.severity), []).append(item)
    yield from groups.values()


def _finding(group: Sequence[Located], lines: Mapping[str, Sequence[str]], style: Styles) -> Iterator[str]:
    finding, span = group[0].finding, group[0].span
    head = style[finding.severity.value](f"{finding.severity.value}[{visible(finding.rule)}]")
    yield f"{head} {style['bold'](visible(finding.message))}"
    # An arrow first, since a line that begins with :: is a command to GitHub's runner.
    yield f"  --> {visible(span.file)}:{span.line}:{span.column}"
    found = snippet(lines.get(span.file, ()), span)
    if found:
        number = f"{span.line:6}"
        yield f"{style['faint'](f'{number} |')} {found[0]}".rstrip()
        yield f"{style['faint'](' ' * len(number) + ' |')} {style[finding.severity.value](found[1])}"
    yield from _alike(group)
    yield from _related(group)
    if finding.hint:
        yield f"  hint: {visible(finding.hint)}"


def _alike(group: Sequence[Located]) -> Iterator[str]:
    message = group[0].finding.message
    same = [dotted(item.finding.path) for item in group if item.finding.message == message]
    others = [item.finding.message for item in group if item.finding.message != message]
    if len(same) > 1:
        yield f"  {len(same)} times: {_some(same)}"
    cut = len(others) > ALIKE + 1
    for other in others[: ALIKE if cut else None]:
        yield f"  also: {visible(other)}"
    if cut:
        yield f"  and {len(others) - ALIKE} more here; --format json has them all"


def _related(group: Sequence[Located]) -> Iterator[str]:
    """The other places, each once: a range in the layout describes many things in one."""
    places: dict[Span, list[str]] = {}
    for item in group:
        for place, span in zip(item.finding.related, item.related, strict=True):
            texts = places.setdefault(span, [])
            if place.message not in texts:
                texts.append(place.message)
    for span, texts in list(places.items())[:ALIKE]:
        yield f"  see {visible(span.file)}:{span.line}:{span.column}: {_some(texts)}"
    if len(places) > ALIKE:
        yield f"  and {len(places) - ALIKE} places more; --format json has them all"


def _some(words: Sequence[str]) -> str:
    shown = ", ".join(visible(word) for word in words[:ALIKE])
    return f"{shown}, ..." if len(words) > ALIKE else shown


def summary_text(
    findings: Sequence[Located], layouts: int, accepted: int = 0, *, colour: bool = False
) -> str:
    """The last line: how many of each severity, in how many layouts, and how many somebody accepted."""
    counts = {severity: counted(findings, severity) for severity in Severity}
    where = f" in {layouts} layouts" if layouts > 1 else ""
    where += f" ({accepted} accepted)" if accepted else ""
    if not findings:
        return styles(colour)["good"](f"nothing to report{where}") + "\n"
    style = styles(colour)
    parts = [
        style[s.value](plural(count, s.value)) if count else f"0 {s.value}s" for s, count in counts.items()
    ]
    return f"{', '.join(parts)}{where}\n"


def counted(findings: Sequence[Located], severity: Severity) -> int:
    """How many findings are of this severity."""
    return sum(item.finding.severity is severity for item in findings)
