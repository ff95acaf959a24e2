"""A plan held against the machine: what is there already is left out, what is there but differs is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from raidplan.apply.files import BrokenBlock, wanted_text
from raidplan.facts import DiskFact, Machine
from raidplan.facts.prove import differences
from raidplan.plan import Plan, Step, WriteBlock, WriteFile, digest

KEPT_AS_IT_IS = ("mount", "swap")
"""Objects that are not brought into line while they are in use."""


def against(plan: Plan, machine: Machine) -> tuple[Plan, list[str]]:
    """The steps that are left to do, and why they must not be done (in words, empty if they may).

    A step is done if its proof holds and none of the steps that it follows is left.
    """
    kept: dict[str, Step] = {}
    refusals: list[str] = []
    for step in plan.steps:
        try:
            pending = _pending(step, machine, kept)
        except BrokenBlock as broken:
            refusals.append(str(broken))
            continue
        if not pending:
            continue
        kept[step.id] = step
        refusals += _refused(step, machine)
    return replace(plan, steps=tuple(step.among(kept) for step in kept.values())), refusals


def file_text(machine: Machine, file: str) -> str | None:
    """What a file holds; None if there is none. Raises BrokenBlock for one too large to be a configuration."""
    found = machine.observe("file", file)
    if found is None:
        return None
    if "content" not in found:
        raise BrokenBlock(f"{file} is larger than a configuration file should be: look into it")
    return str(found["content"])


def _pending(step: Step, machine: Machine, kept: Mapping[str, Step]) -> bool:
    if isinstance(step.action, WriteFile | WriteBlock):
        text = file_text(machine, step.action.file)
        return wanted_text(step.action, text) != text
    if any(earlier in kept for earlier in step.follows):
        return True
    return step.proof is not None and differences(step.proof, machine) != []


def _refused(step: Step, machine: Machine) -> list[str]:
    """A device that holds our object in another shape is not written over, and nothing in use is changed."""
    if step.proof is None:
        return []
    differ = differences(step.proof, machine)
    if not differ:
        return []
    if step.creates or (step.proof.kind in KEPT_AS_IT_IS and _in_use(step, machine)):
        what = f"{step.because} is there already, but not as planned"
        return [f"{what}: {'; '.join(differ)} (line {step.line})"]
    return []


def _in_use(step: Step, machine: Machine) -> bool:
    assert step.proof is not None
    found = machine.observe(step.proof.kind, step.proof.key) or {}
    return step.proof.kind == "mount" or found.get("active") is True


def unproven(plan: Plan, machine: Machine) -> list[str]:
    """What the whole plan promises and the machine does not show, in words."""
    problems = []
    for step in plan.steps:
        if isinstance(step.action, WriteFile | WriteBlock):
            text = file_text(machine, step.action.file)
            if wanted_text(step.action, text) != text:
                problems.append(f"{step.action.file} does not hold what was written (line {step.line})")
        elif step.proof is not None:
            differ = differences(step.proof, machine)
            missing = [f"there is no {step.proof.kind} {step.proof.key}"]
            problems += [
                f"{step.because} (line {step.line}): {text}"
                for text in (missing if differ is None else differ)
            ]
    return problems


def machine_digest(disks: Mapping[str, DiskFact]) -> str:
    """What the plan's disks are and hold; kernel names, which change at every boot, are not part of it."""
    return digest({
        name: [disk.serial, disk.wwn, disk.size, disk.logical_block, list(disk.signatures),
               [[part.uuid, part.start, part.size] for part in disk.partitions]]
        for name, disk in disks.items()
    })  # fmt: skip
