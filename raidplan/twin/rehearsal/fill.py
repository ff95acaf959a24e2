"""The files that are filled before anything is broken, and read back after every loss: how large they are."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from raidplan.base.levels import LEVELS
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.topology import Topology
from raidplan.twin.rehearsal.witness import FILL, RECORD

MOST = 24 << 20
"""Bytes of a file, at most."""
ROOM = 8
"""The part of a file system that a file has at most is one in so many."""
STRIPES = 4
"""Stripes with which a file reaches every member of an array, `_spread` says why."""


def records(topology: Topology, entry: Filesystem) -> int:
    """The records of a file: so many that each member of the striped arrays below has some of their data, if there is room for that."""
    return max(FILL, ceil(min(_wanted(topology, entry), _most(topology, entry)) / RECORD))


def is_smaller(topology: Topology, entry: Filesystem) -> bool:
    """The file is too small to reach each member of the striped arrays below wherever it begins."""
    return records(topology, entry) * RECORD < _wanted(topology, entry)


def _wanted(topology: Topology, entry: Filesystem) -> int:
    return max(_spread(topology, entry.device), default=0)


def _most(topology: Topology, entry: Filesystem) -> int:
    room = topology.devices[entry.device].size if entry.device in topology.devices else None
    return min(MOST, (room or 0) // ROOM)


def _spread(topology: Topology, device: str, above: int = 1) -> Iterator[int]:
    """The bytes of a file that reaches each member of the arrays below, for each of them; `above`: the members of those above it.

    So many stripes that the parity has moved away from every member in one of them, and one more for a file that begins anywhere.
    """
    item = topology.provider.get(device)
    if item is None:
        return
    if isinstance(item.kind, Array):
        count = len(item.kind.named_members)
        data = LEVELS[item.kind.level].data_members(count, item.kind.effective_layout)
        yield ceil(STRIPES * (item.kind.effective_chunk or 0) * data * above)
        above *= count
    for use in item.kind.uses(item.name, item.path):
        yield from _spread(topology, use.device, above)
