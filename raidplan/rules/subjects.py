"""What rules talk about: the arrays with their paths, the disks below members, lists in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from raidplan.findings import Path, Related
from raidplan.levels import LEVELS, losses_survived

if TYPE_CHECKING:
    from raidplan.kinds.array import Array
    from raidplan.topology import Topology


def arrays(topology: Topology) -> Iterator[tuple[str, Path, Array]]:
    """Each array with its name and path."""
    for name, array in topology.layout.arrays.items():
        yield name, ("arrays", name), array


def redundant(array: Array) -> bool:
    """The level survives the loss of a member."""
    return LEVELS[array.level].redundant


def losses(array: Array) -> int:
    """How many members may be lost, whichever they are; 0 where the layout word makes no sense."""
    try:
        return max(0, losses_survived(array.level, len(array.named_members), array.effective_layout))
    except ValueError:
        return 0


def member_disks(topology: Topology, array: Array) -> list[frozenset[str]]:
    """The disks below each member; nothing at all where a member is unknown."""
    below = [topology.disks_below(member) for member in array.named_members]
    return below if all(below) else []


def place(word: str, path: Path) -> Related:
    """A thing of the layout that a finding is also about: `the disk d0`, where it is described."""
    return Related(path, f"the {word} {path[-1]}")


def listed(names: Sequence[str], most: int = 8, last: str = ", ") -> str:
    """`d0, d1, d2`, or the first ones and how many more; `last` joins the last one to the others."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return last.join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else ", ".join(names)


def counted(number: int, word: str) -> str:
    """`1 member`, `3 members`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
