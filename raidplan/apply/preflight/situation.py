"""The facts that a preflight check may look at, as one value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import Identity
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Step


@dataclass(frozen=True, slots=True)
class Situation:
    """The steps left to do, the machine, and which node is which disk."""

    plan: Plan
    machine: Machine
    disks: Mapping[str, DiskFact]
    whole: Plan | None = None
    """The plan as for a blank machine, where that is another one."""
    past: Past = field(default_factory=Past)

    @property
    def nodes(self) -> dict[str, str]:
        """The disks' nodes by layout name."""
        return {name: disk.node for name, disk in self.disks.items()}

    def node(self, word: str) -> str:
        """The node of a device by its name in steps."""
        return self.nodes.get(Identity.read(word).disk, word)

    def at(self, path: str) -> Path:
        """The place of a file or folder of the plan's system."""
        return Path(self.plan.target + path)

    @property
    def guarded(self) -> list[tuple[Step, str]]:
        """The targets that pending steps write over and no step clears before: they must be blank now."""
        cleared = {target for step in self.plan.steps for target in step.clears}
        return [(step, target) for step in self.plan.steps for target in step.guard if target not in cleared]

    @property
    def written_disks(self) -> dict[str, DiskFact]:
        """The disks that a pending step writes over as a whole."""
        names = {Identity.read(target).disk for _, target in self.guarded}
        return {name: disk for name, disk in self.disks.items() if name in names}

    @property
    def there(self) -> tuple[str, ...]:
        """The nodes of devices that pending steps write over and that are there now."""
        named = {target: f"/dev/{block.name}" for target, block in self.blocks.items()}
        nodes = (self.node(target) for _, target in self.guarded)
        existing = (node if os.path.exists(node) else named.get(node, "") for node in nodes)
        return tuple(dict.fromkeys(node for node in existing if node.startswith("/dev/")))

    @property
    def standing(self) -> dict[str, list[str]]:
        """The partitions, arrays and volumes that must be blank and are not, by their names in steps: the content of each, and
        who uses it. By what they are: an array that runs as md127 gets the name that steps call it by only later.
        """
        stack = Stack(self.machine, self.disks)
        found = {target: stack.stains(block.name) for target, block in self.blocks.items()}
        return {target: words for target, words in found.items() if words}

    @property
    def blocks(self) -> dict[str, BlockFact]:
        """The partitions, arrays and volumes that must be blank and are there, by what steps call them."""
        made = made_nodes(self.whole or self.plan)
        blocks = {block.identity: block for block in self.machine.blocks}
        targets = {
            target: identity_of(target, made) for _, target in self.guarded if not Identity.read(target).disk
        }
        return {target: blocks[one] for target, one in targets.items() if one in blocks}


Check = Callable[[Situation], Iterator[Refusal]]
"""A preflight check: its reasons not to begin."""
