"""Arrays that are assembled and not started: what stands on them is out of sight, so that nothing can be decided.

mdadm starts an array by itself as soon as all members are there that the newest of them speaks of. After a power cut
one may have missed the last update of its superblock; then a timer starts the array half a minute later
(mdadm-last-resort@.timer), or, where that is masked, nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.decide.bare import TYPES
from raidplan.apply.decide.redo import half_done
from raidplan.apply.journal.past import Past
from raidplan.apply.teardown.given_up import identity_of, made_nodes
from raidplan.facts import Machine
from raidplan.plan import Plan, Step

STATES = ("clear", "inactive")
"""Of md's `array_state`, those in which an array is not started (md.rst of the kernel)."""


def not_started(plan: Plan, machine: Machine, past: Past) -> Iterator[str]:
    """Each array of the plan that has members and does not run, and what to do; not what a step left that was cut off."""
    made = made_nodes(plan)
    for step in plan.steps:
        if not step.creates or step.proof is None or step.proof.kind != "array":
            continue
        found = machine.observe("array", step.proof.key)
        if found is None or found.get("state") not in STATES or half_done(step, machine, past):
            continue
        node = found["node"]
        missing = [
            device for device in step.guard if not _is_member(identity_of(device, made), step, machine)
        ]
        there = f"{len(step.guard) - len(missing)} of its {len(step.guard)} devices are there"
        out = (
            f"bring {', '.join(missing)} back and boot, or start it without with `mdadm --run {node}`"
            if missing
            else f"mdadm starts it half a minute after the boot, or `mdadm --run {node}` does"
        )
        yield (
            f"{step.because} (line {step.line}): {there}, but md has not started it, and what stands on it cannot be seen: "
            f"{out}; then try again"
        )


def _is_member(identity: str, step: Step, machine: Machine) -> bool:
    assert step.proof is not None
    carries = (machine.observe("content", identity) or {}).get("carries", [])
    assert isinstance(carries, list)
    return f"{TYPES['array']} {step.proof.key}" in carries
