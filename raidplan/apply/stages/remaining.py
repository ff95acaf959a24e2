"""Stage 5, remaining: the steps that this machine still needs, those among them that must wait, and removals of earlier configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace

from raidplan.apply.change.remove_configuration import removals, with_renewal
from raidplan.apply.configuration.blocks import BrokenBlock
from raidplan.apply.refusal import Refusal
from raidplan.apply.stages.matching import Asked
from raidplan.apply.stages.resuming import Resumed
from raidplan.apply.teardown.cleared import Cleared
from raidplan.facts import Machine
from raidplan.facts.machine import texts
from raidplan.plan.boot_loaders import missing_packages
from raidplan.plan.step import Plan, RenewInitramfs, Run, Step


@dataclass(frozen=True, slots=True)
class Remaining:
    """`left` of the `whole` plan; and reasons why earlier configuration cannot be removed."""

    whole: Plan
    left: Plan
    refusals: tuple[Refusal, ...] = ()
    postponed: tuple[Step, ...] = ()
    """The steps that wait for a system below the target, or for its kernel."""


def remain(asked: Asked, resumed: Resumed, cleared: Cleared) -> Remaining:
    """The remaining steps of the layout once the way is clear, and those that remove earlier configuration."""
    refusals: tuple[Refusal, ...] = ()
    removing: tuple[Step, ...] = ()
    try:
        removing = tuple(removals(asked.layout, resumed.machine, resumed.past))
    except BrokenBlock as error:
        refusals = (error.refusal,)
    whole = _with(asked.layout, (*asked.back, *removing))
    left = with_renewal(_with(cleared.left, removing), asked.layout, removing)
    later = tuple(step for step in left.steps if _waits(step, resumed.machine))
    among = {step.id for step in left.steps} - {step.id for step in later}
    now = tuple(step.among(among) for step in left.steps if step.id in among) if later else left.steps
    return Remaining(whole, replace(left, steps=now), refusals, later)


def _waits(step: Step, machine: Machine) -> bool:
    """Whether a step is for a system that is not there yet: an installer wants to find no file but folders."""
    system = machine.observe("system", "target")
    if system is None or step.phase != "configure":
        return False
    if not system["installed"]:
        return True
    if isinstance(step.action, Run) and step.action.inside:
        return not system["initramfs"] or bool(
            missing_packages(step.action.argv, texts(system["programs"]), texts(system["platforms"]))
        )
    return isinstance(step.action, RenewInitramfs) and not system["initramfs"]


def _with(plan: Plan, more: tuple[Step, ...]) -> Plan:
    """The plan with further steps, each once."""
    return replace(plan, steps=(*plan.steps, *{step.id: step for step in more}.values()))
