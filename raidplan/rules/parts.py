"""The parts of the hardware that fail as one, as rules share them: what hangs on each, and what is lost with it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from raidplan.rules.subjects import arrays, losses, own_disks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raidplan.findings import Path
    from raidplan.kinds.array import Array
    from raidplan.survival import Component
    from raidplan.topology import Topology

KINDS = {
    "multiplier": "multiplier",
    "expander": "expander",
    "enclosure": "enclosure",
    "controller": "controller",
    "power": "supply",
}
"""The kinds of parts from the nearest on, and how each is called; a bus fails with its controllers."""


def shared_parts(topology: Topology) -> list[Component]:
    """The parts that take several disks with them, the smallest and nearest first; not a supply that the board needs too."""
    from raidplan.survival import components  # needs the models, which `explain` does without

    parts = (part for part in components(topology) if part.kind in KINDS and not part.board)
    order = list(KINDS)
    shared = (part for part in parts if len(part.disks) > 1)
    return sorted(shared, key=lambda part: (len(part.disks), order.index(part.kind)))


def disks_of_parts(topology: Topology) -> dict[Path, frozenset[str]]:
    """The disks that are gone with each of these parts."""
    return {part.path: frozenset(part.disks) for part in topology.once(shared_parts)}


def parts_of_disks(topology: Topology) -> dict[str, list[Component]]:
    """The parts that each disk shares with others, the smallest first."""
    found: dict[str, list[Component]] = {}
    for part in topology.once(shared_parts):
        for disk in part.disks:
            found.setdefault(disk, []).append(part)
    return found


def members_of_parts(topology: Topology, disks: Iterable[str]) -> Counter[Path]:
    """How many of some disks hang on each part."""
    parts = topology.once(parts_of_disks)
    return Counter(part.path for disk in disks for part in parts.get(disk, ()))


def fatal_parts(topology: Topology) -> dict[str, list[Component]]:
    """The parts without which each array is lost, the smallest first."""
    from raidplan.survival import Outcome, structure
    from raidplan.survival.loss import outcomes

    found: dict[str, list[Component]] = {}
    whole = structure(topology)
    for part in topology.once(shared_parts):
        for path, outcome in outcomes(whole, part.disks).items():
            if path[0] == "arrays" and outcome is Outcome.LOST:
                found.setdefault(str(path[1]), []).append(part)
    return found


def behind_multipliers(topology: Topology) -> dict[str, Counter[str | None]]:
    """For each array how many of its members hang behind each multiplier, or (None) behind none."""
    return _behind(topology, "multiplier")


def behind_controllers(topology: Topology) -> dict[str, Counter[str | None]]:
    """For each array how many of its members hang on each controller, or (None) on none that is known."""
    return _behind(topology, "controller")


def _behind(topology: Topology, kind: str) -> dict[str, Counter[str | None]]:
    nearest = topology.wiring.nearest
    return {
        name: Counter(nearest(disk, kind) for disk in own_disks(topology, array))
        for name, _, array in arrays(topology)
    }


def most_together(array: Array) -> int:
    """How many members may fail at once if they are the right ones: any that the level can lose.

    Of raid10, all but one copy of everything: copies lie on neighbours, so every other slot may go.
    """
    count = len(array.named_members)
    if array.level != "raid10":
        return losses(array)
    copies = losses(array) + 1
    return count * (copies - 1) // copies
