"""Findings with their places in files: what is left, and what somebody accepted."""

from __future__ import annotations

from dataclasses import dataclass

from raidplan.base.findings import Finding
from raidplan.document import Span


@dataclass(frozen=True, slots=True)
class Located:
    """A finding and the place in a file that it is about."""

    finding: Finding
    span: Span
    related: tuple[Span, ...] = ()
    """The places of the finding's `related`, in their order."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that somebody decided to live with, and why."""

    located: Located
    reason: str
    until: str | None
    """The last day on which it is accepted, YYYY-MM-DD."""
    span: Span
    """The place of the acceptance."""
