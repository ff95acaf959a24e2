"""The machine, with everything that a plan's proofs speak of."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.identity import Identity
from raidplan.facts import Machine, read_machine
from raidplan.facts.machine import Properties
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.places import CHECK_OF_CRON, DEFAULTS
from raidplan.plan.step import Plan, WriteBlock, WriteFile


def read_for(plan: Plan, tools: Mapping[str, Properties] | None = None) -> Machine:
    """The machine with everything that the proofs speak of, of the plan as for a blank machine; `tools` as for `read_machine`."""
    plan = plan.complete
    ranges = dict.fromkeys(place for step in plan.steps for place in step.new_partitions)
    # Of a disk that may be wiped, everything must be known.
    wiped = {disk.name for disk in plan.disks if disk.wipe}
    tables = tuple(
        step.proof.key
        for step in plan.steps
        if step.proof and step.new_partitions and wiped.isdisjoint(step.targets)
    )
    made = made_nodes(plan)
    written = [identity_of(node, made) for step in plan.steps for node in step.guard]
    return read_machine(
        paths_of(plan),
        plan.proof_keys("unit"),
        ranges,
        tables,
        written,
        keys=plan.proof_keys("key_file"),
        swap_files=swap_files_of(plan),
        target=plan.target,
        tools=tools,
    )


def paths_of(plan: Plan) -> tuple[str, ...]:
    written = [step.action.file for step in plan.steps if isinstance(step.action, WriteFile | WriteBlock)]
    return tuple(dict.fromkeys([*written, DEFAULTS, CHECK_OF_CRON, *plan.proof_keys("directory")]))


def swap_files_of(plan: Plan) -> tuple[str, ...]:
    """The swap files as the commands of the plan name them: from the rescue system on, where there is a target."""
    keys = map(Identity.read, plan.proof_keys("swap"))
    return tuple(key for kind, key in keys if kind == "file")
