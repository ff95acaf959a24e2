"""A reason to write nothing as data: a stable code, a place, and figures. Its words are in `render/refusals.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

from raidplan.base.figures import Figure, Figures
from raidplan.facts.match import Mismatch
from raidplan.facts.prove import Deviation


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason; `place` is the disk, device, object or file that it is about, `line` that of the layout, if they are known.

    `case` tells the reasons of one code apart, `figures` are what its sentence is filled with: sizes in bytes, names as
    they were read.
    """

    code: str
    case: str = ""
    place: str = ""
    line: int = 0
    figures: Figures = field(default_factory=dict, hash=False)
    deviations: tuple[Deviation, ...] = field(default=(), hash=False)
    """Properties that are not as planned, where the reason is about those."""


def refusal(code: str, case: str = "", *, place: str = "", line: int = 0, **figures: Figure) -> Refusal:
    """A refusal with these figures."""
    return Refusal(code, case, place, line, figures)


def unmatched(mismatch: Mismatch) -> Refusal:
    """The refusal of a plan for a disk that has no match."""
    return Refusal("disk-unmatched", mismatch.case, mismatch.disk, figures=mismatch.figures)


class Refused(ValueError):
    """A step of the decision cannot be taken, for the reason in `refusal`."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.code} {refusal.case} {dict(refusal.figures)}")
        self.refusal = refusal
