"""The subjects of rules: the arrays with their paths, the devices below things, lists in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import NamedTuple

from raidplan.base.findings import Path, Related
from raidplan.base.levels import LEVELS, losses_survived
from raidplan.base.words import SHOWN
from raidplan.layout.kinds.array import Array
from raidplan.topology import Item, Topology


def arrays(topology: Topology) -> Iterator[tuple[str, Path, Array]]:
    """Each array with its name and path."""
    for name, array in topology.layout.arrays.items():
        yield name, ("arrays", name), array


def redundant(array: Array) -> bool:
    """The level survives the loss of a member."""
    return LEVELS[array.level].redundant


def losses(array: Array) -> int:
    """The number of members that may be lost, whichever they are: never all, as of a raid6 with too few members.

    0 where the layout word makes no sense.
    """
    members = len(array.named_members)
    try:
        return max(0, min(losses_survived(array.level, members, array.effective_layout), members - 1))
    except ValueError:
        return 0


def striped_over(topology: Topology, array: str) -> str:
    """The raid0 for which an array has to be as large as others: it stands on the array, whatever is between; empty if none does."""
    return topology.once(_striped_over).get(array, "")


def _striped_over(topology: Topology) -> dict[str, str]:
    found = dict[str, str]()
    for name, _, array in arrays(topology):
        below = topology.below(name) if LEVELS[array.level].zoned else ()
        for item in below:
            if item.path[0] == "arrays" and item.name != name:
                found.setdefault(item.name, name)
    return found


def member_disks(topology: Topology, array: Array) -> list[frozenset[str]]:
    """The disks below each member; nothing at all where a member is unknown."""
    below = [topology.disks_below(member) for member in array.named_members]
    return below if all(below) else []


def own_disks(topology: Topology, array: Array) -> list[str]:
    """One disk for each member in slot order, if all stand on disks or partitions; nothing for nested arrays."""
    below = member_disks(topology, array)
    nested = any(topology.provider[member].path[0] != "hardware" for member in array.named_members if below)
    return [] if nested else [min(disks) for disks in below]


def all_of(things: Sized) -> str:
    """`both`, or `all 5`."""
    return "both" if len(things) == 2 else f"all {len(things)}"


def array_disks(topology: Topology, array: Array) -> frozenset[str]:
    """All disks below an array's members; nothing at all where a member is unknown."""
    return frozenset[str]().union(*member_disks(topology, array))


def guarded_disks(topology: Topology, array: Array) -> list[str]:
    """The disks whose loss a redundant array itself has to survive, spares included; in the order of their names.

    A disk below a redundant array below it is that one's.
    """
    devices = (*array.named_members, *array.spares) if redundant(array) else ()
    return sorted({disk for device in devices for disk in footing(topology, device).exposed})


class Footing(NamedTuple):
    """The devices below a device, down to the first redundant arrays."""

    exposed: frozenset[str] = frozenset()
    """The disks of which each alone takes the device with it."""
    arrays: tuple[str, ...] = ()
    """The arrays met on the way."""


def footing(topology: Topology, device: str) -> Footing:
    """The devices below a device; none for one that the layout does not have."""
    item = topology.provider.get(device)
    if item is None:
        return Footing()
    known = topology.once(_footings)
    if item.path not in known:
        known[item.path] = _footing(topology, item)
    return known[item.path]


def _footings(_: Topology) -> dict[Path, Footing]:
    return {}


def _footing(topology: Topology, top: Item) -> Footing:
    exposed, met = set[str](), list[str]()
    seen, waiting = {top.path}, [top]
    while waiting:
        item = waiting.pop()
        array = topology.layout.arrays.get(item.name) if item.path[0] == "arrays" else None
        if array is not None:
            met.append(item.name)
        if item.path[0] == "hardware":
            exposed.add(item.name)
        elif array is None or not redundant(array):
            below = (topology.provider.get(use.device) for use in item.kind.uses(item.name, item.path))
            new = {each.path: each for each in below if each is not None and each.path not in seen}
            seen.update(new)
            waiting += new.values()
    return Footing(frozenset(exposed), tuple(met))


def place(word: str, path: Path) -> Related:
    """A thing of the layout that a finding is also about: `the disk d0`, where it is described."""
    return Related(path, f"the {word} {path[-1]}")


def places(word: str, section: Path, names: Iterable[str]) -> tuple[Related, ...]:
    """The first things of a section that a finding is also about."""
    return tuple(place(word, (*section, name)) for name in [*names][:SHOWN])


def agreeing(things: Sized, one: str, many: str) -> str:
    """The word that goes with one thing or with several: `is` or `are`."""
    return one if len(things) == 1 else many


def gb(size: float) -> str:
    """`1,200 GB`."""
    return f"{size / 1e9:,.0f} GB"


def tb(size: float) -> str:
    """`3.0 TB`."""
    return f"{size / 1e12:.1f} TB"


def hours_at(rate: float, size: float) -> float:
    """The hours that so many bytes take at so many bytes per second."""
    return size / rate / 3600
