"""One application of a plan: read the machine, decide, and afterwards read it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from raidplan.apply.against import against, machine_digest, unproven
from raidplan.apply.preflight import Situation, preflight
from raidplan.facts import DiskFact, Machine, read_machine
from raidplan.facts.match import match
from raidplan.plan import Plan, WriteBlock, WriteFile


@dataclass(frozen=True, slots=True)
class Decision:
    """What is left to do, on which disks, and why it must not be done."""

    whole: Plan
    """The plan as for a blank machine."""
    left: Plan
    """The steps that this machine still needs."""
    disks: Mapping[str, DiskFact]
    refusals: tuple[str, ...]

    @property
    def nodes(self) -> dict[str, str]:
        """The disks' nodes by layout name."""
        return {name: disk.node for name, disk in self.disks.items()}


def read_for(plan: Plan) -> Machine:
    """The machine with everything that the plan's proofs speak of."""
    ranges = dict.fromkeys(place for step in plan.steps for place in step.new_partitions)
    return read_machine(_paths(plan), _keys(plan, "unit"), ranges)


def _keys(plan: Plan, kind: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(step.proof.key for step in plan.steps if step.proof and step.proof.kind == kind)
    )


def _paths(plan: Plan) -> tuple[str, ...]:
    written = [step.action.file for step in plan.steps if isinstance(step.action, WriteFile | WriteBlock)]
    swap_files = [key.removeprefix("file:") for key in _keys(plan, "swap") if key.startswith("file:")]
    return tuple(dict.fromkeys([*written, *_keys(plan, "directory"), *swap_files]))


def with_devices(plan: Plan, devices: Mapping[str, str]) -> Plan:
    """The plan with disks named by `--devices` in place of what identifies them."""
    return replace(plan, disks=tuple(
        replace(disk, device=devices.get(disk.name, ""), serial="", wwn="", path="", model="") if disk.name in devices else disk
        for disk in plan.disks
    ))  # fmt: skip


def decide(plan: Plan, machine: Machine) -> Decision:
    """Reads only. A plan that was made for another machine is refused."""
    disks, mismatches = match(plan.disks, machine)
    refusals = [str(mismatch) for mismatch in mismatches]
    named = machine.named({disk.node: name for name, disk in disks.items()})
    left, differing = against(plan, named)
    refusals += differing
    if left.steps:
        refusals += preflight(Situation(left, named, disks))
    digest = machine_digest(disks)
    if plan.machine_digest and plan.machine_digest != digest:
        refusals.append("the disks are not what they were when the plan was made: make a new plan")
    left = replace(left, machine_digest=digest)
    return Decision(plan, left, disks, tuple(dict.fromkeys(refusals)))


def prove(decision: Decision) -> list[str]:
    """Reads the machine again: what the plan promised and is not there."""
    machine = read_for(decision.whole)
    named = machine.named({disk.node: name for name, disk in decision.disks.items()})
    return unproven(decision.whole, named)
