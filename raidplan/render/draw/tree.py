"""The wiring as a tree: the host, what hangs on it, and the disks at the ends."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from raidplan.base.findings import Path
from raidplan.base.groups import by_key
from raidplan.base.names import folded
from raidplan.topology import Topology
from raidplan.topology.wiring import Plug, Wiring

HOST: Path = ("host",)
MOST_ALIKE = 8
"""So many branches of one component that are alike are drawn each by itself."""


@dataclass(frozen=True, slots=True)
class Node:
    """The host or a component; parents stand before their children."""

    path: Path
    name: str
    kind: str
    """host, bus, controller, multiplier or expander."""
    parent: int
    """Place in the list; -1 for the host."""
    disks: tuple[str, ...]
    """Directly behind it, as in the file."""
    alike: tuple[Node, ...] = ()
    """Other branches that are drawn with this one, each like it in everything but names."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the component, and of those that are drawn with it."""
        return (self.path, *(each.path for each in self.alike))

    @property
    def title(self) -> str:
        """The name; of several the range."""
        return folded((self.name, *(each.name for each in self.alike)))

    def disks_at(self, place: int) -> tuple[str, ...]:
        """The disk at a place behind it, and those at the same place behind the others."""
        return (self.disks[place], *(each.disks[place] for each in self.alike))


def tree(topology: Topology) -> list[Node]:
    """Depth first; every component and every disk is there once, even one behind an unknown name or in a circle."""
    wiring = topology.wiring
    known = {plug.path for plug in wiring.components.values()}
    roots = [plug for plug in wiring.components.values() if plug.behind not in wiring.components]
    loose = [p for p in wiring.plugs if p.kind == "disk" and p.behind not in wiring.components]
    nodes = [Node(HOST, topology.host, "host", -1, _names(loose))]
    seen: set[Path] = set()
    for root in (*roots, *wiring.components.values()):
        nodes += _below(root, wiring, known, seen, len(nodes))
    return nodes


def _below(root: Plug, wiring: Wiring, known: set[Path], seen: set[Path], first: int) -> Iterator[Node]:
    waiting, number = [(root, 0)], first
    while waiting:
        plug, parent = waiting.pop()
        if plug.path in seen:
            continue
        seen.add(plug.path)
        hanging = wiring.hanging.get(plug.name, [])
        disks = _names([each for each in hanging if each.kind == "disk"])
        yield Node(plug.path, plug.name, plug.kind, parent, disks)
        below = [each for each in hanging if each.path in known]
        waiting += [(each, number) for each in reversed(below)]
        number += 1


def _names(plugs: list[Plug]) -> tuple[str, ...]:
    return tuple(plug.name for plug in plugs)


def columns(nodes: list[Node]) -> list[int]:
    """The column of each node: like stands below like, and everything right of what it hangs on."""
    found = [0] * len(nodes)
    first = 1
    for kinds in (("bus",), ("controller",), ("multiplier", "expander")):
        for number, node in enumerate(nodes):
            if node.kind in kinds:
                found[number] = max(first, found[node.parent] + 1)
        first = max(first, 1 + max(found))
    for number, node in enumerate(nodes[1:], start=1):
        found[number] = max(found[number], found[node.parent] + 1)
    return found


def fold(nodes: Sequence[Node], look: Callable[[Node], Hashable]) -> list[Node]:
    """The tree with many branches that are alike as one. `look` is what is drawn of a node and its disks, but their names."""
    below: dict[int, list[int]] = {}
    looks: dict[int, Hashable] = {}
    for number in range(len(nodes) - 1, -1, -1):
        below.setdefault(nodes[number].parent, []).insert(0, number)
        looks[number] = look(nodes[number]), tuple(looks[each] for each in below.get(number, ()))
    made: list[Node] = []
    waiting: list[tuple[tuple[int, ...], int]] = [((0,), -1)]
    while waiting:
        (number, *others), parent = waiting.pop()
        made.append(replace(nodes[number], parent=parent, alike=tuple(nodes[each] for each in others)))
        branches = by_key((looks[child], place) for place, child in enumerate(below.get(number, ())))
        groups = [
            group
            for places in branches.values()
            for group in ([places] if len(places) > MOST_ALIKE else [[place] for place in places])
        ]
        for places in sorted(groups, reverse=True):
            same = tuple(below[each][place] for place in places for each in (number, *others))
            waiting.append((same, len(made) - 1))
    return made
