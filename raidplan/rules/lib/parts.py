"""The parts of the hardware that fail as one, as rules share them: what hangs on each, and what is lost with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from raidplan.base.findings import Path
from raidplan.base.groups import by_key
from raidplan.base.levels import LEVELS
from raidplan.estimate.survival import Component, Outcome, Structure, components, structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.subjects import arrays, losses, own_disks
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
    parts = (part for part in components(topology) if part.kind in KINDS and not part.board)
    order = list(KINDS)
    shared = (part for part in parts if len(part.disks) > 1)
    return sorted(shared, key=lambda part: (len(part.disks), order.index(part.kind)))


def disks_of_parts(topology: Topology) -> dict[Path, frozenset[str]]:
    """The disks that are gone with each of these parts."""
    return {part.path: frozenset(part.disks) for part in topology.once(shared_parts)}


def parts_of_disks(topology: Topology) -> dict[str, list[Component]]:
    """The parts that each disk shares with others, the smallest first."""
    return by_key((disk, part) for part in topology.once(shared_parts) for disk in part.disks)


def members_of_parts(topology: Topology, disks: Iterable[str]) -> Counter[Path]:
    """The number of some disks on each part."""
    parts = topology.once(parts_of_disks)
    return Counter(part.path for disk in disks for part in parts.get(disk, ()))


def fatal_parts(topology: Topology) -> dict[str, list[tuple[Component, int]]]:
    """The parts without which each array is lost, and how many members each takes; the smallest first."""
    found: dict[str, list[tuple[Component, int]]] = {}
    standing = topology.once(_standing)
    # Without what stands on the arrays: hundreds of volumes can be lost with each of hundreds of parts.
    stands = structure(topology).stands.items()
    below = Structure({path: parts for path, parts in stands if path[0] in ("arrays", "volume_groups")})
    for part in topology.once(shared_parts):
        lost = [path for path, outcome in outcomes(below, part.disks).items() if outcome is Outcome.LOST]
        things = [*(("hardware", "disks", disk) for disk in part.disks), *lost]
        taken = Counter(array for thing in things for array in standing.get(thing, ()))
        for path in lost:
            if path[0] == "arrays":
                found.setdefault(str(path[1]), []).append((part, taken[str(path[1])]))
    return found


def _standing(topology: Topology) -> dict[Path, list[str]]:
    """The arrays that have a member on each disk, array or volume group, once for each member."""
    found: dict[Path, list[str]] = {}
    for name, _, array in arrays(topology):
        for member in array.named_members:
            if member in topology.provider:
                found.setdefault(topology.provider[member].path, []).append(name)
    return found


def behind_multipliers(topology: Topology) -> dict[str, Counter[str | None]]:
    """The number of members of each array behind each multiplier, or (None) behind none."""
    return _behind(topology, "multiplier")


def behind_controllers(topology: Topology) -> dict[str, Counter[str | None]]:
    """The number of members of each array on each controller, or (None) on none that is known."""
    return _behind(topology, "controller")


def _behind(topology: Topology, kind: str) -> dict[str, Counter[str | None]]:
    nearest = topology.wiring.nearest
    return {
        name: Counter(nearest(disk, kind) for disk in own_disks(topology, array))
        for name, _, array in arrays(topology)
    }


def most_together(array: Array) -> int:
    """The number of members that may fail at once if they are the right ones: any that the level can lose.

    Of raid10, all but one copy of everything: copies lie on neighbours, so every other slot may go.
    """
    count = len(array.named_members)
    if not LEVELS[array.level].arranged:
        return losses(array)
    copies = losses(array) + 1
    return count * (copies - 1) // copies


def bus_above(topology: Topology, component: str | None, kind: str) -> str | None:
    """The last bus of a kind between a component and the root: cards behind bridges share that one."""
    buses, components, seen = topology.layout.hardware.buses, topology.wiring.components, set[str]()
    last = None
    while component in components and component not in seen:
        seen.add(component)
        if components[component].kind == "bus" and buses[component].type == kind:
            last = component
        component = components[component].behind
    return last
