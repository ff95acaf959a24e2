"""A reason to write nothing as data: a stable code, a place, and figures. Its words are in `render/refusal_words.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from raidplan.base.figures import Figure, Figures
from raidplan.facts.failure import Failure
from raidplan.facts.match import Mismatch
from raidplan.facts.problem import Problem
from raidplan.facts.prove import Deviation
from raidplan.facts.uses import Use

Code = Literal[
    "disk-unmatched", "disk-not-blank", "kept-differs", "disk-read-only", "disk-unreadable", "target-not-blank",
    "in-use", "in-use-elsewhere", "open-for-writing", "not-understood", "hidden-from-lvm", "shared", "firmware",
    "needed-at-boot", "not-started", "too-many-lost", "differs", "runs-under-other-name", "superblocks-lost", "not-of-that-step",
    "gone", "not-in-journal", "not-as-planned", "not-whole", "not-looked-at", "name-taken", "uuid-taken",
    "terminal-missing", "passphrase-unfit", "passphrase-differs", "passphrase-wrong", "key-file", "key-wrong",
    "undo-interrupted", "interrupted-elsewhere", "machine-changed", "not-in-plan", "journal-hidden", "not-mountable",
    "not-unmountable", "assembly-held-off", "not-undoable", "changed-since", "block-damaged", "foreign-lines",
    "lines-conflict", "others-unchecked", "mount-conflict", "mount-point", "file-not-writable", "initramfs",
    "machine-unclear", "not-root", "not-administrator", "program-missing", "program-not-roots", "version",
    "module-missing", "udev-absent", "systemd-absent", "target-not-mounted", "firmware-differs", "loader-cannot-read",
    "loader-unsigned", "memory",
    "journal-unusable", "locked", "no-room",
]  # fmt: skip
"""The word for a reason, never given another meaning; `render/refusal_codes.py` says what each means and what ends it."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason; `place` is the disk, device, object or file that it is about, `line` that of the layout, if they are known.

    `case` tells the reasons of one code apart, `figures` are what its sentence is filled with: sizes in bytes, names as
    they were read.
    """

    code: Code
    case: str = ""
    place: str = ""
    line: int = 0
    figures: Figures = field(default_factory=dict, hash=False)
    deviations: tuple[Deviation, ...] = field(default=(), hash=False)
    """Properties that are not as planned, where the reason is about those."""
    uses: tuple[Use, ...] = ()
    """Those who use a device, and what is on it, where the reason is about that."""
    failures: tuple[Failure, ...] = ()
    """The failures, where the reason is about those."""


def refusal(code: Code, case: str = "", *, place: str = "", line: int = 0, **figures: Figure) -> Refusal:
    """A refusal with these figures."""
    return Refusal(code, case, place, line, figures)


def of_use(code: Code, use: Use) -> Refusal:
    """The refusal for one who uses a device."""
    return Refusal(code, place=use.place, uses=(use,))


def unmatched(mismatch: Mismatch) -> Refusal:
    """The refusal of a plan for a disk that has no match."""
    return Refusal("disk-unmatched", mismatch.case, mismatch.disk, figures=mismatch.figures)


def unclear(problem: Problem) -> Refusal:
    """The refusal to write to a machine that could not be read."""
    return refusal("machine-unclear", problem.case, place=problem.place, problem=problem.said)


class Refused(ValueError):
    """A step of the decision cannot be taken, for the reason in `refusal`."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.code} {refusal.case} {dict(refusal.figures)}")
        self.refusal = refusal
