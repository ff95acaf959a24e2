"""Findings with their places in files: what is left, and what somebody accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from raidplan.base.findings import Edit, Finding
from raidplan.document import Span


@dataclass(frozen=True, slots=True)
class Replacement:
    """An edit with the value that it takes the place of."""

    edit: Edit
    span: Span
    """The place of that value; without one, of what is to hold the new one."""
    old: object = field(default=None, compare=False)
    """The present value as the file has it; None if the file has none there."""

    @property
    def action(self) -> str:
        """`insert`, `replace` or `remove`."""
        return "remove" if self.edit.new is None else "insert" if self.old is None else "replace"


class Located(NamedTuple):
    """A finding and the place in a file that it is about."""

    finding: Finding
    span: Span
    related: tuple[Span, ...] = ()
    """The places of the finding's `related`, in their order."""
    changes: tuple[Replacement, ...] = ()
    """The finding's `edits`, in their order."""


class Accepted(NamedTuple):
    """A finding that somebody decided to live with, and why."""

    located: Located
    reason: str
    until: str | None
    """The last day on which it is accepted, YYYY-MM-DD."""
    span: Span
    """The place of the acceptance."""
