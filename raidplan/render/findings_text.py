"""Findings for the terminal: what, where, the line itself with a mark under it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from raidplan.base.findings import Severity
from raidplan.base.words import counted
from raidplan.render.colour import Styles, styles
from raidplan.render.forms import Look
from raidplan.render.groups import details, grouped
from raidplan.render.snippet import lines_of, snippet
from raidplan.render.visible import visible
from raidplan.review.located import Located
from raidplan.review.pipeline import Loaded


def render(checked: Sequence[Loaded], look: Look) -> str:
    """The findings of all layouts, and how many they are."""
    findings = [item for loaded in checked for item in loaded.findings]
    sources = {file: text for loaded in checked for file, text in loaded.sources.items()}
    accepted = sum(len(loaded.accepted) for loaded in checked)
    text = findings_text(findings, sources, colour=look.colour)
    gap = "\n" if text else ""
    # Rules run only once a file is a layout.
    later = any(loaded.layout is None and loaded.findings for loaded in checked)
    more = "fix these first: the other checks run only on a layout that can be read\n" if later else ""
    return text + gap + summary_text(findings, len(checked), accepted, colour=look.colour) + more


def findings_text(findings: Sequence[Located], sources: Mapping[str, str], *, colour: bool = False) -> str:
    """The findings, each place in a few lines, an empty line between two; nothing for none."""
    style = styles(colour)
    lines = {file: lines_of(text) for file, text in sources.items()}
    return "\n".join("\n".join(_finding(group, lines, style)) + "\n" for group in grouped(findings))


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
    yield from (f"  {visible(line)}" for line in details(group))


def summary_text(
    findings: Sequence[Located], layouts: int, accepted: int = 0, *, colour: bool = False
) -> str:
    """The last line: how many of each severity, in how many layouts, and how many somebody accepted."""
    counts = {severity: number_of(findings, severity) for severity in Severity}
    where = f" in {layouts} layouts" if layouts > 1 else ""
    where += f" ({accepted} accepted)" if accepted else ""
    if not findings:
        return styles(colour)["good"](f"nothing to report{where}") + "\n"
    style = styles(colour)
    parts = [
        style[s.value](counted(count, s.value)) if count else f"0 {s.value}s" for s, count in counts.items()
    ]
    return f"{', '.join(parts)}{where}\n"


def number_of(findings: Sequence[Located], severity: Severity) -> int:
    """The number of findings of this severity."""
    return sum(item.finding.severity is severity for item in findings)
