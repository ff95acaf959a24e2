"""Accepting a finding: by a comment at its line, or by an entry of the layout's `allow:`.

    # raidplan: allow[no-spare] until=2027-06-30 a cold spare lies on the shelf

An acceptance that does nothing, or not what it says, is a finding itself; the pages are in `rules/acceptances.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raidplan.document.comments import Comment, comments
from raidplan.findings import Finding, Path, Severity, did_you_mean, shortened
from raidplan.kinds.host import parse_date
from raidplan.located import Accepted, Located
from raidplan.rules import CATALOGUE, can_be_accepted

if TYPE_CHECKING:
    from raidplan.document import Document, Span
    from raidplan.layout import Layout

_MEANT = re.compile(r"#\s*raidplan(?:\s*:|\s+allow\b)")
"""What is meant for raidplan, well written or not."""
_NAMES = r"[a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*"
_COMMENT = re.compile(rf"#\s*raidplan:\s*allow\[\s*({_NAMES})\s*\](?:\s+until=(\S+))?\s+(\S.*)")
FORM = "# raidplan: allow[rule-name] reason"


@dataclass(slots=True)
class _Allowance:
    """One rule accepted at one place, and what became of it."""

    rule: str
    reason: str
    until: str | None
    span: Span
    """Where the rule's name is written."""
    place: str
    """In words: `at arrays.s0`, `in line 7`."""
    path: Path = ()
    """The path of its entry in `allow:`; nothing for a comment."""
    expired: bool = False
    met: bool = False
    used: bool = False


@dataclass(slots=True)
class _Allowances:
    """Those of one layout, to be looked up by the place of a finding."""

    every: list[_Allowance] = field(default_factory=list)
    by_line: dict[tuple[str, str, int], list[_Allowance]] = field(default_factory=dict)
    by_path: dict[tuple[str, tuple[str, ...]], list[_Allowance]] = field(default_factory=dict)

    def about(self, item: Located) -> Iterator[_Allowance]:
        """All that speak about a finding."""
        rule, path = item.finding.rule, tuple(map(str, item.finding.path))
        yield from self.by_line.get((rule, item.span.file, item.span.line), ())
        for end in range(1, len(path) + 1):
            yield from self.by_path.get((rule, path[:end]), ())


def accept(
    found: Iterable[Located], layout: Layout, document: Document, *, today: str = "", complete: bool = True
) -> tuple[list[Located], list[Accepted]]:
    """What is left of the findings, with what is to be said about the acceptances, and what was accepted.

    `today` is YYYY-MM-DD; by default the date is looked up. `complete` is false if rules could not see all
    of the layout: then nothing is said about an acceptance that met no finding.
    """
    allowances, left = _Allowances(), list[Located]()
    _from_list(allowances, layout, document)
    left += _from_comments(allowances, document)
    if not allowances.every:
        return [*found, *left], []
    _expire(allowances.every, today)
    accepted = []
    for item in found:
        by = _decide(allowances.about(item), item.finding)
        if by is None:
            left.append(item)
        else:
            accepted.append(Accepted(item, by.reason, by.until, by.span))
    return [*left, *_complaints(allowances.every, complete)], accepted


def _decide(about: Iterable[_Allowance], finding: Finding) -> _Allowance | None:
    """The acceptance that takes a finding away, if one does."""
    by = None
    for allowance in about:
        allowance.met = True
        if can_be_accepted(finding) and not allowance.expired:
            allowance.used = True
            by = by or allowance
    return by


def _from_list(allowances: _Allowances, layout: Layout, document: Document) -> None:
    for number, entry in enumerate(layout.allow):
        path: Path = ("allow", number)
        span = document.locate((*path, "rule"))
        allowance = _Allowance(entry.rule, entry.reason, entry.until, span, f"at {shortened(entry.at)}", path)
        allowances.every.append(allowance)
        allowances.by_path.setdefault((entry.rule, tuple(entry.at.split("."))), []).append(allowance)


def _from_comments(allowances: _Allowances, document: Document) -> Iterator[Located]:
    """Collects the acceptances; gives what is to be said about comments that are none."""
    for file, text in document.sources.items():
        if not _MEANT.search(text):  # reading all comments doubles the time that a file takes
            continue
        for comment in comments(text, file):
            meant = _MEANT.search(comment.text)
            if meant:
                yield from _from_comment(allowances, comment, comment.text[meant.start() :])


def _from_comment(allowances: _Allowances, comment: Comment, text: str) -> Iterator[Located]:
    match = _COMMENT.fullmatch(re.split(r"\s#", text, maxsplit=1)[0].rstrip())
    problem = _problem(match)
    if problem or match is None:
        finding = Finding("invalid-allow", Severity.WARNING, (), *problem)
        yield Located(finding, comment.span)
        return
    for name in re.split(r"\s*,\s*", match[1]):
        allowance = _Allowance(name, match[3], match[2], comment.span, f"in line {comment.covers}")
        allowances.every.append(allowance)
        place = (name, comment.span.file, comment.covers)
        allowances.by_line.setdefault(place, []).append(allowance)


def _problem(match: re.Match[str] | None) -> tuple[str, str] | tuple[()]:
    """What is wrong with a comment, and what to do."""
    if match is None:
        return "this comment accepts nothing: it has another form, or no reason", f"write {FORM}"
    if re.match(r"until\b", match[3]):
        return "the date of this comment is not understood", "write until=YYYY-MM-DD before the reason"
    if not re.search(r"[^\W_]", match[3]):
        return "this comment gives no reason", f"write {FORM}"
    try:
        parse_date(match[2] or "2000-01-01")
    except ValueError as no:
        message, _, hint = str(no).partition("; ")
        return message, hint
    return ()


def _expire(allowances: Iterable[_Allowance], today: str) -> None:
    dated = [allowance for allowance in allowances if allowance.until]
    if dated and not today:
        from datetime import date  # slow to load, and few acceptances have an end

        today = date.today().isoformat()
    for allowance in dated:
        allowance.expired = (allowance.until or "") < today


def _complaints(allowances: Iterable[_Allowance], complete: bool) -> Iterator[Located]:
    """What is to be said about acceptances that do not what they say."""
    for allowance in allowances:
        said = _complaint(allowance, complete)
        if said:
            rule, message, hint = said
            path = (*allowance.path, "rule") if allowance.path else ()
            yield Located(Finding(rule, Severity.WARNING, path, message, hint), allowance.span)


def _complaint(allowance: _Allowance, complete: bool) -> tuple[str, str, str] | None:
    rule = shortened(allowance.rule)
    if allowance.rule not in CATALOGUE:
        hint = did_you_mean(allowance.rule, CATALOGUE) or "`raidplan explain` lists the rules"
        return "unknown-rule", f"there is no rule '{rule}'", hint
    if allowance.expired:
        so = "and it is there again" if allowance.met else "and there is none any more"
        hint = "mend what it says, or decide anew and move the date" if allowance.met else "remove it"
        return "expired-allow", f"{rule} was accepted {allowance.place} until {allowance.until}, {so}", hint
    if allowance.met and not allowance.used:
        return (
            "forbidden-allow",
            f"{rule} {allowance.place} cannot be accepted: data would be lost, or the layout cannot be built",
            "mend what it says, and remove this",
        )
    if complete and not allowance.used:
        return "unused-allow", f"there is no finding of {rule} {allowance.place}", "remove it"
    return None
