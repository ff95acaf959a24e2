"""A reason not to write to a device or a path, as data: who uses it, or what is on it. The words are in `render/uses.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

from raidplan.base.figures import Figure, Figures

UseKind = Literal[
    "unseen", "mounted", "exported", "exported-by-nvme", "loop", "open", "written", "mapped", "registered", "busy-ring",
    "claimed", "absent", "exists", "no-device", "other-partition", "other-table", "held", "partition", "busy", "signature", "data",
    "unreadable", "new", "changed", "not-of-layout", "other-disk", "other-array", "link", "leads-out",
    "carries", "table", "group", "stands", "used", "stain",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Use:
    """One reason; `place` is the device or the path, figures are names and numbers as they were read."""

    kind: UseKind
    place: str
    figures: Figures = field(default_factory=dict, hash=False)


def use(kind: UseKind, place: str, **figures: Figure) -> Use:
    """A reason with these figures."""
    return Use(kind, place, figures)


class NotWritten(ValueError):
    """A device or a path must not be written to, and was not; as text, for a journal, which keeps no sentences."""

    def __init__(self, *uses: Use) -> None:
        super().__init__("; ".join(f"{each.kind} {each.place} {dict(each.figures)}" for each in uses))
        self.uses = uses


def as_text(use: Use) -> str:
    """A reason as a property of an object, which is a text."""
    return json.dumps([use.kind, use.place, dict(use.figures)])


def of_text(text: str) -> Use:
    """The reason in such a text."""
    return Use(*json.loads(text))
