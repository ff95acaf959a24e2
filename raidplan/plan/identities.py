"""The identity of a device: the one name by which proofs know it, whatever a step calls it."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.identity import Identity
from raidplan.plan.step import Plan

PARTITION = "/dev/disk/by-partuuid/"
"""The folder of links by which steps name partitions."""


def made_nodes(plan: Plan) -> dict[str, str]:
    """The nodes that steps make, to the identity of what they are."""
    return {
        node: str(step.proof.identity)
        for step in plan.steps
        if step.proof and step.proof.kind in ("array", "mapping", "volume")
        for node in step.awaits
    }


def partition_of(node: str) -> str:
    """The UUID of the partition that a step names by its link; empty for any other node."""
    return node.removeprefix(PARTITION) if node.startswith(PARTITION) else ""


def identity_of(node: str, made: Mapping[str, str]) -> str:
    """The name in proofs of the device that a step names `node`; `made` as from `made_nodes`."""
    uuid = partition_of(node)
    return str(Identity("partition", uuid)) if uuid else made.get(node, node)


def node_of(identity: str) -> str:
    """The link by which steps name a partition; of any other device the identity itself."""
    kind, key = Identity.read(identity)
    return PARTITION + key if kind == "partition" else identity


def device_names(plan: Plan) -> dict[str, str]:
    """The layout's names of the devices that steps write over, by their identities."""
    made = made_nodes(plan)
    return {
        identity_of(node, made): name
        for step in plan.complete.steps
        for node, name in zip(step.guard, step.targets[-len(step.guard) :], strict=False)
    }
