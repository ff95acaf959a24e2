"""Members of an array as a person knows them: by the layout, by the serial number of their disk, and in a shell."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity
from raidplan.facts import DiskFact, Machine
from raidplan.plan.disk_identity import IDENTIFIERS, DiskIdentity
from raidplan.plan.identities import identity_of, made_nodes, node_of
from raidplan.plan.step import Plan, Step


def called(step: Step, plan: Plan) -> dict[str, str]:
    """The devices of an array's step, by their identities: `d00.data (serial WD-1)`."""
    made = made_nodes(plan)
    on = {node: table.guard[0] for table in plan.steps if table.new_partitions for node in table.awaits}
    marked = {disk.name: identified(disk) for disk in plan.disks}
    named: dict[str, str] = {}
    for node, name in zip(step.guard, step.targets[1:], strict=False):
        mark = marked.get(Identity.read(on.get(node, node)).disk, "")
        named[identity_of(node, made)] = f"{name} ({mark})" if mark else name
    return named


def identified(disk: DiskIdentity | DiskFact, by: Iterable[str] = IDENTIFIERS) -> str:
    """An identifier that tells a disk from others: `serial WD-1`; empty where nothing but its node does."""
    return next((f"{name} {escaped(value)}" for name in by if (value := getattr(disk, name))), "")


def in_shell(identity: str, machine: Machine) -> str:
    """The name of a device for a command that a person types, by its identity: a lasting link where there is one."""
    node = node_of(identity)
    if node != identity:
        return node
    return next((f"/dev/{block.name}" for block in machine.blocks if block.identity == identity), identity)


def devices_of(step: Step, plan: Plan, machine: Machine) -> dict[str, str]:
    """The identity of each device of an array's step, to its name for a command."""
    made = made_nodes(plan)
    named = {identity_of(node, made): node for node in step.guard}
    return {
        identity: escaped(node if node.startswith("/") else in_shell(identity, machine))
        for identity, node in named.items()
    }
