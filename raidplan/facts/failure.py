"""A failure of something that was begun, or of an image or a snapshot, as data. The words are in `render/failures.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from raidplan.base.figures import Figure, Figures
from raidplan.facts.uses import NotWritten, Use

FailureCase = Literal[
    "system", "program", "not-done", "no-passphrase", "not-appeared", "unit",
    "not-taken", "not-kept", "not-zero", "partitions-kept", "restless", "written-meanwhile", "block-lost",
    "image-closed", "image-empty", "image-more", "image-packed", "image-no-archive", "image-damaged", "image-short",
    "image-lines", "image-rules", "image-arrays", "image-encryption", "image-volumes", "image-program", "image-hooks",
    "image-changed", "images-stay",
    "snapshot", "snapshot-version", "snapshot-property", "snapshot-value",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """One reason; `place` is the program, device, file or object that it is about."""

    case: FailureCase
    place: str = ""
    figures: Figures = field(default_factory=dict, hash=False)
    uses: tuple[Use, ...] = ()
    """The users of a device that kept a step from being begun."""


def failure(case: FailureCase, place: object = "", **figures: Figure) -> Failure:
    """A failure with these figures."""
    return Failure(case, str(place), figures)


class Failed(ValueError):
    """Work that did not come to its end, or a thing that cannot be used, for one or more reasons; its text is for a journal, which keeps no sentences."""

    def __init__(self, *failures: Failure) -> None:
        super().__init__("; ".join(f"{each.case} {each.place} {dict(each.figures)}" for each in failures))
        self.failures = failures


def failures_of(error: Exception) -> tuple[Failure, ...]:
    """The reasons that an error has: those of the system are in its own words."""
    match error:
        case Failed(failures=failures):
            return failures
        case NotWritten(uses=uses):
            return (Failure("not-done", uses=uses),)
    return (failure("system", error=str(error)),)
