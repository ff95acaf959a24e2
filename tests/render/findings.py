"""Findings made up for tests, and layouts as if they had been checked."""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.base.findings import Finding, Path, Related, Severity
from raidplan.document import Span
from raidplan.review.located import Accepted, Located
from raidplan.review.pipeline import Loaded
from raidplan.review.settings import DEFAULT, Settings


def located(
    message: str = "m",
    *,
    line: int = 1,
    column: int = 1,
    end: int = 2,
    file: str = "f.yaml",
    hint: str = "",
    severity: Severity = Severity.ERROR,
    rule: str = "some-rule",
    path: Path = ("arrays", "s0"),
    related: Sequence[tuple[int, str]] = (),
) -> Located:
    """A finding; `related` are lines of the same file, and what is there."""
    places = tuple(Related(("hardware", "disks", text), text) for _, text in related)
    return Located(
        Finding(rule, severity, path, message, hint, related=places),
        Span(file, line, column, line, end),
        tuple(Span(file, at, 1, at, 2) for at, _ in related),
    )


def checked(
    *findings: Located,
    file: str = "f.yaml",
    source: str = "",
    accepted: Sequence[Accepted] = (),
    settings: Settings = DEFAULT,
) -> Loaded:
    """A layout in which this was found."""
    return Loaded(
        file,
        findings=findings,
        accepted=tuple(accepted),
        sources={file: source},
        settings=settings,
        well_formed=True,
    )
