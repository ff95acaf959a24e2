"""Stage 4, remaining: the steps that this machine still needs, with those that remove earlier configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace

from raidplan.apply.change.undescribed import taken_back, with_renewal
from raidplan.apply.configuration.blocks import BrokenBlock
from raidplan.apply.refusal import Refusal
from raidplan.apply.stages.matching import Asked
from raidplan.apply.stages.resuming import Resumed
from raidplan.apply.teardown.cleared import Cleared
from raidplan.plan import Plan, Step


@dataclass(frozen=True, slots=True)
class Remaining:
    """`left` of the `whole` plan; and reasons why earlier configuration cannot be removed."""

    whole: Plan
    left: Plan
    refused: tuple[Refusal, ...] = ()


def remain(asked: Asked, resumed: Resumed, cleared: Cleared) -> Remaining:
    """The remaining steps of the layout once the way is clear, and those that remove earlier configuration."""
    problems: tuple[Refusal, ...] = ()
    back: tuple[Step, ...] = ()
    try:
        back = tuple(taken_back(asked.layout, resumed.machine, resumed.past))
    except BrokenBlock as error:
        problems = (Refusal("block-damaged", str(error)),)
    whole = _with(asked.layout, (*asked.back, *back))
    return Remaining(whole, with_renewal(_with(cleared.left, back), asked.layout, back), problems)


def _with(plan: Plan, more: tuple[Step, ...]) -> Plan:
    """With each further step once."""
    return replace(plan, steps=(*plan.steps, *{step.id: step for step in more}.values()))
