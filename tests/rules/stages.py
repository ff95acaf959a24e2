"""A document through the stages, with what each of them states at its place."""

from __future__ import annotations

from dataclasses import dataclass

from raidplan.document import Document, read_document
from raidplan.document.node import Span
from raidplan.findings import Finding, Severity, has_errors
from raidplan.layout import load_layout
from raidplan.placement import place
from raidplan.rules import check
from raidplan.topology import resolve


@dataclass(frozen=True, slots=True)
class Stated:
    """A finding at its place."""

    line: int
    column: int
    severity: Severity
    rule: str
    message: str
    hint: str
    file: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}:{self.severity}:{self.rule}"


def stated(document: Document) -> list[Stated]:
    """What layout, placement, resolution and rules have to say, in the order of the file."""
    layout, findings = load_layout(document)
    if layout is not None:
        layout, findings = place(layout)
        if not has_errors(findings):
            topology, found = resolve(layout)
            findings += check(topology, found)
    return _in_order([(f, document.locate(f.path, on_key=f.on_key)) for f in findings])


def stated_in(file: str) -> list[Stated]:
    """The same from a file, beginning with what reading it has to say."""
    document, problems = read_document(file)
    return _in_order(problems) if problems or document is None else stated(document)


def _in_order(located: list[tuple[Finding, Span]]) -> list[Stated]:
    every = [
        Stated(s.line, s.column, f.severity, f.rule, f.message, f.hint, s.file)
        for f, s in dict.fromkeys(located)
    ]
    return sorted(every, key=lambda each: (each.line, each.column, each.rule, each.message))
