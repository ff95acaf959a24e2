"""What a preflight check may look at, as one value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from raidplan.facts import DiskFact, Machine
from raidplan.plan import Plan, Step


@dataclass(frozen=True, slots=True)
class Situation:
    """The steps left to do, the machine, and which node is which disk."""

    plan: Plan
    machine: Machine
    disks: Mapping[str, DiskFact]
    whole: Plan | None = None
    """The plan as for a blank machine, where that is another one."""

    @property
    def nodes(self) -> dict[str, str]:
        """The disks' nodes by layout name."""
        return {name: disk.node for name, disk in self.disks.items()}

    @property
    def guarded(self) -> list[tuple[Step, str]]:
        """What pending steps write over and no step before clears: it must be blank now."""
        cleared = {target for step in self.plan.steps for target in step.clears}
        return [(step, target) for step in self.plan.steps for target in step.guard if target not in cleared]

    @property
    def written_disks(self) -> dict[str, DiskFact]:
        """The disks that a pending step writes over as a whole."""
        names = {target[1:-1] for _, target in self.guarded if target.startswith("{")}
        return {name: disk for name, disk in self.disks.items() if name in names}

    @property
    def there(self) -> tuple[str, ...]:
        """The nodes of devices that pending steps write over and that are there now."""
        nodes = (self.nodes.get(target.strip("{}"), target) for _, target in self.guarded)
        existing = (node for node in nodes if node.startswith("/dev/") and os.path.exists(node))
        return tuple(dict.fromkeys(existing))
