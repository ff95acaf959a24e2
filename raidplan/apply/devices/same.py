"""Is a step still on the devices that it was decided for? Asked of the kernel right before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from raidplan.facts.arrays import dashed
from raidplan.plan import Run, Step

if TYPE_CHECKING:
    from raidplan.apply.world import World

ARRAY = "/dev/disk/by-id/md-uuid-"
"""How links of udev begin that name an array by its UUID."""


def other_array(step: Step, arrays: Mapping[str, str], world: World) -> Iterator[str]:
    """Why what it stops is not the array that was to be stopped; `arrays` are the UUIDs of those that were there, by node."""
    match step.action:
        case Run(("mdadm", "--stop", node)):
            link = node.startswith(ARRAY)
            uuid = dashed(node.removeprefix(ARRAY).replace(":", "")) if link else arrays.get(node, "")
            if uuid and world.array(node) != uuid:
                yield f"{node} is no longer the array {uuid}"
