"""A device on which an interrupted step was begun, as the decision sees it."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.decide.maker import BegunDevice, foreign
from raidplan.base.reader import Reader
from raidplan.facts.machine import Trace
from raidplan.plan.step import Step


def foreign_on(
    step: Step,
    size: int,
    clock: int,
    read: Reader,
    *,
    since: Reader | None = None,
    carried: bool = False,
    erased: bool = False,
) -> Iterator[Trace]:
    """Content of a device that the interrupted maker of the step did not write."""
    device = BegunDevice("", size, read, since or read, clock=clock, erased=erased)
    return foreign(step, device, carried=carried)
