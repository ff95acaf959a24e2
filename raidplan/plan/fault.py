"""The reason why a text or its steps are no plan, as data. The words are in `render/plan_faults.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from raidplan.base.figures import Figure, Figures

Case = Literal[
    "form", "large", "version", "digest", "without-whole", "host", "several-actions",
    "twice", "does-nothing", "not-its-disk", "order", "partitions", "unproven", "unguarded", "unguarded-device",
    "clears-unseen", "image-unseen", "clears-unmade", "clears-without-reason", "two-ways",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason; `step` is the step that it is about."""

    case: Case
    step: str = ""
    figures: Figures = field(default_factory=dict, hash=False)


def fault(case: Case, step: str = "", **figures: Figure) -> Fault:
    """A fault with these figures."""
    return Fault(case, step, figures)


class NotAPlan(ValueError):
    """The text that was read is no plan, for the reason in `fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.case} {fault.step} {dict(fault.figures)}")
        self.fault = fault
