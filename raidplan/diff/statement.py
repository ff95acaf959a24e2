"""A statement about two layouts, as data: a code and figures. The words are in `render/statements.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from raidplan.base.figures import Figure, Figures
from raidplan.plan.changes import Before, Reason

Code = Literal[
    # why data does not stay, and what keeps it
    "host", "replaced", "not-described", "moved", "resized", "joined", "wiped",
    "no-disk", "disks-gone", "disks-carry", "disks-free", "of-them-gone",
    "names", "host-names", "needed", "order",
    # to know before a change
    "since", "spare-used", "when-made", "cable", "wipe", "keep", "described", "partition-name", "disk-name",
    "by-apply", "slots",
    # a value that is more than what a layout has there
    "of-size", "size-beside", "trend", "not-stated", "exact", "as-it-is", "as-it-will-be", "made-anew", "re-created",
    "on-other-disk", "at-other-place", "other-disk", "whole-disk", "part-of-disk", "absent", "inodes", "files",
    "inodes-at-most", "unnamed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A cause, a remedy or a note; sizes are in bytes, names as the layouts have them."""

    code: Code | Before | Reason
    figures: Figures = field(default_factory=dict, hash=False)


def statement(code: Code, **figures: Figure) -> Statement:
    """A statement with these figures."""
    return Statement(code, figures)
