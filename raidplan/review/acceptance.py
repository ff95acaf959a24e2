"""The acceptance of findings: by a comment at their line, or by an entry of the layout's `allow:`.

    # raidplan: allow[no-spare] until=2027-06-30 a cold spare lies on the shelf

An acceptance that does nothing, or not what it says, is a finding itself; the pages are in `rules/acceptances.py`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from raidplan.base.findings import Finding, Path, Severity, did_you_mean, dotted, shortened
from raidplan.base.mistake import Mistake
from raidplan.base.words import listed
from raidplan.document import Document, Node, Span
from raidplan.document.comments import Comment, comments
from raidplan.layout.kinds.host import parse_date
from raidplan.layout.model import Layout
from raidplan.review.located import Accepted, Located
from raidplan.rules import CATALOGUE, can_be_accepted

_MEANT = re.compile(r"#\s*(?:raidplan\s*:|(?i:raidplan\s*:?\s*allow\b))")
"""A comment that is meant for raidplan, well written or not."""
_NAMES = r"[a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*"
_COMMENT = re.compile(
    rf"#\s*raidplan:\s*allow\[\s*({_NAMES})\s*\](?:\s+until=(\S+))?\s+(\S.*)", re.IGNORECASE
)
_DATE = re.compile(r"\buntil\b(?:\s*[=:]|\s+[0-9]{4}-)|^until\b", re.IGNORECASE)
"""Words of a reason that were meant as the date on which the acceptance ends."""
FORM = "# raidplan: allow[rule-name] reason"


@dataclass(slots=True)
class _Allowance:
    """One rule accepted at one place, and what became of it."""

    rule: str
    reason: str
    until: str | None
    span: Span
    """The place of the rule's name."""
    place: str
    """The place of the acceptance in words: `at arrays.s0`, `in line 7`."""
    path: Path = ()
    """The path of its entry in `allow:`; nothing for a comment."""
    at: str = ""
    """The subject of that entry."""
    expired: bool = False
    met: bool = False
    used: bool = False


@dataclass(slots=True)
class _Allowances:
    """The acceptances of one layout, to be looked up by the place of a finding."""

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
    """The remaining findings, with those about the acceptances themselves, and the accepted ones.

    `today` is YYYY-MM-DD; by default the date is looked up. `complete` is false if rules could not see all
    of the layout: then nothing is said about an acceptance that met no finding.
    """
    allowances, left = _Allowances(), list[Located]()
    left += _from_list(allowances, layout, document)
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
    return [*left, *_complaints(allowances.every, _Elsewhere(document, left) if complete else None)], accepted


def _decide(about: Iterable[_Allowance], finding: Finding) -> _Allowance | None:
    """The acceptance that takes a finding away, if one does."""
    by = None
    for allowance in about:
        allowance.met = True
        if can_be_accepted(finding) and not allowance.expired:
            allowance.used = True
            by = by or allowance
    return by


def _from_list(allowances: _Allowances, layout: Layout, document: Document) -> Iterator[Located]:
    """Collects the acceptances; gives what is to be said about entries that are none."""
    for number, entry in enumerate(layout.allow):
        path: Path = ("allow", number)
        if problem := _about_reason(entry.reason, "this entry", "in a key of its own: until: YYYY-MM-DD"):
            finding = Finding("invalid-allow", Severity.WARNING, (*path, "reason"), *problem)
            yield Located(finding, document.locate(finding.path))
            continue
        span = document.locate((*path, "rule"))
        allowance = _Allowance(
            entry.rule, entry.reason, entry.until, span, f"at {shortened(entry.at)}", path, entry.at
        )
        allowances.every.append(allowance)
        allowances.by_path.setdefault((entry.rule, tuple(entry.at.split("."))), []).append(allowance)


def _from_comments(allowances: _Allowances, document: Document) -> Iterator[Located]:
    """Collects the acceptances; gives what is to be said about comments that are none."""
    above: dict[tuple[str, int], list[_Allowance]] = {}
    for comment, text in _directives(document):
        read = _from_comment(comment, text)
        if isinstance(read, Located):
            yield read
            continue
        allowances.every += read
        for each in read:
            place = comment.span.file, comment.covers
            allowances.by_line.setdefault((each.rule, *place), []).append(each)
            if comment.alone:
                above.setdefault(place, []).append(each)
    if above:
        for place, path in _entries(document, above):
            for each in above[place]:
                allowances.by_path.setdefault((each.rule, path), []).append(each)


def _directives(document: Document) -> Iterator[tuple[Comment, str]]:
    """The comments that are meant for raidplan, from where they are."""
    for file, text in document.sources.items():
        if _MEANT.search(text):  # reading all comments doubles the time that a file takes
            for comment in comments(text, file):
                if meant := _MEANT.search(comment.text):
                    yield comment, comment.text[meant.start() :]


def _from_comment(comment: Comment, text: str) -> list[_Allowance] | Located:
    """The acceptance, or the finding about it."""
    match = _COMMENT.fullmatch(re.split(r"\s#", text, maxsplit=1)[0].rstrip())
    problem = _problem(match)
    if problem or match is None:
        return Located(Finding("invalid-allow", Severity.WARNING, (), *problem), comment.span)
    return [
        _Allowance(name, match[3], match[2], comment.span, f"in line {comment.covers}")
        for name in re.split(r"\s*,\s*", match[1].lower())
    ]


def _entries(
    document: Document, lines: Container[tuple[str, int]]
) -> Iterator[tuple[tuple[str, int], tuple[str, ...]]]:
    """The entries that begin in these lines, with their paths: an array with all its keys, but no whole section."""
    waiting: list[tuple[tuple[str, ...], Node]] = [((), document.root)]
    while waiting:
        path, node = waiting.pop()
        for key, inner in node.children():
            here, span = (*path, str(key)), node.keys[key] if isinstance(key, str) else inner.span
            place = span.file, span.line
            if place in lines and len(here) > 1 + (here[0] == "hardware"):
                yield place, here
            else:
                waiting.append((here, inner))


def _problem(match: re.Match[str] | None) -> tuple[str, str] | tuple[()]:
    """The fault of a comment, and its remedy."""
    if match is None:
        return "this comment accepts nothing: it has another form, or no reason", f"write {FORM}"
    if problem := _about_reason(match[3], "this comment", "before the reason: until=YYYY-MM-DD"):
        return problem
    try:
        parse_date(match[2] or "2000-01-01")
    except Mistake as error:
        return error.message, error.hint
    return ()


def _about_reason(reason: str, what: str, where: str) -> tuple[str, str] | tuple[()]:
    """The fault of a reason, wherever it is given, and its remedy."""
    if _DATE.search(reason):
        return f"the date in the reason of {what} ends nothing", f"write it {where}"
    if not re.search(r"[^\W_]", reason):
        return f"{what} gives no reason", "write in words why the finding is accepted"
    return ()


def _expire(allowances: Iterable[_Allowance], today: str) -> None:
    dated = [allowance for allowance in allowances if allowance.until]
    if dated and not today:
        from datetime import date  # slow to load, and few acceptances have an end

        today = date.today().isoformat()
    for allowance in dated:
        allowance.expired = (allowance.until or "") < today


class _Elsewhere(NamedTuple):
    """The places of the findings that nobody accepted."""

    document: Document
    left: list[Located]

    def explained(self, allowance: _Allowance) -> tuple[str, str]:
        """Why there is nothing to accept, and what to do."""
        rule = shortened(allowance.rule)
        same = [item for item in self.left if item.finding.rule == allowance.rule]
        if allowance.path:
            message = f"there is no finding of {rule} {allowance.place}"
            if not self._is_there(allowance.at):
                message = f"there is no {shortened(allowance.at)} in this layout"
            if same:
                at = shortened(dotted(same[0].finding.path))
                return message, f"one that is not accepted is at {at}: correct the path, or remove this"
            return message, "remove it"
        message = f"there is no finding of {rule} {allowance.place}"
        lines = [item.span.line for item in same if item.span.file == allowance.span.file]
        if lines:
            if len(others := sorted({*lines})) > 1:
                hint = f"those that are not accepted are in lines {listed([*map(str, others)], last=' and ')}: write the comment there, or remove it"
                return message, hint
            nearest = lines[0]
            return (
                message,
                f"one that is not accepted is in line {nearest}: move the comment there, or remove it",
            )
        return message, "remove it"

    def _is_there(self, at: str) -> bool:
        node = self.document.root
        for part in at.split("."):
            inner = {str(key): each for key, each in node.children()}
            if part not in inner:
                return False
            node = inner[part]
        return True


def _complaints(allowances: Iterable[_Allowance], elsewhere: _Elsewhere | None) -> Iterator[Located]:
    """Findings about acceptances that have no effect; without `elsewhere`, none about unused ones."""
    for allowance in allowances:
        said = _complaint(allowance, elsewhere)
        if said:
            rule, message, hint = said
            path = (*allowance.path, "rule") if allowance.path else ()
            yield Located(Finding(rule, Severity.WARNING, path, message, hint), allowance.span)


def _complaint(allowance: _Allowance, elsewhere: _Elsewhere | None) -> tuple[str, str, str] | None:
    rule = shortened(allowance.rule)
    if allowance.rule not in CATALOGUE:
        hint = did_you_mean(allowance.rule, CATALOGUE) or "`raidplan explain` lists the rules"
        return "unknown-rule", f"there is no rule '{rule}'", hint
    if allowance.expired:
        so = "and the finding is there again" if allowance.met else "and there is no such finding any more"
        hint = "mend what it says, or decide anew and move the date" if allowance.met else "remove it"
        return "expired-allow", f"{rule} was accepted {allowance.place} until {allowance.until}, {so}", hint
    if allowance.met and not allowance.used:
        return (
            "forbidden-allow",
            f"{rule} {allowance.place} cannot be accepted: data would be lost, or the layout cannot be built",
            "mend what it says, and remove this",
        )
    if elsewhere and not allowance.used:
        return "unused-allow", *elsewhere.explained(allowance)
    return None
