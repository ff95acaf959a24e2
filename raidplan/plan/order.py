"""The order of a plan: by phase, and each step behind what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from raidplan.plan.phases import PHASES
from raidplan.plan.step import Step


def ordered(steps: Iterable[Step], phases: Sequence[str] = PHASES) -> list[Step]:
    """The steps by phase in the order of `phases`, and within one so that each stands after its needs; else as they were made.

    Needs of steps that this layout does not have are dropped.
    """
    listed = _after_mounts(sorted(steps, key=lambda step: phases.index(step.phase)))
    listed = _known_only(listed)
    by_id = {step.id: step for step in listed}
    order: dict[str, Step] = {}
    for step in listed:
        _place(step, by_id, order)
    return list(order.values())


def _known_only(steps: list[Step]) -> list[Step]:
    known = {step.id for step in steps}
    return [step.among(known) for step in steps]


def _after_mounts(steps: list[Step]) -> list[Step]:
    """The steps, with those below a mount point after that mount: a nested mount, a swap file."""
    mounts = {step.proof.key: step.id for step in steps if step.proof and step.proof.kind == "mount"}

    def below(step: Step) -> tuple[str, ...]:
        parents = {
            str(parent)
            for target in step.targets
            if target.startswith("/")
            for parent in PurePath(target).parents
        }
        return tuple(mounts[parent] for parent in sorted(parents & mounts.keys()))

    return [
        replace(step, needs=(*step.needs, *below(step))) if step.phase == "activate" else step
        for step in steps
    ]


def _place(step: Step, by_id: Mapping[str, Step], order: dict[str, Step]) -> None:
    """Puts a step behind what it needs; without recursion deeper than the chain of needs in one phase."""
    if step.id in order:
        return
    for need in step.needs:
        _place(by_id[need], by_id, order)
    order[step.id] = step
