"""The content of the devices of interrupted steps, read before it is decided to do these again, and compared right before that:
nothing is written over that came since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from raidplan.apply.decide.half_made import without_ours
from raidplan.apply.journal.sectors import unpacked
from raidplan.base.reader import Reader, all_are, without
from raidplan.plan.step import Plan, Proof

AGAIN = ("layout", "clear", "change")
"""The origins of steps that clear a device, or write over it as cleared, because one on it was interrupted; others clear for a first time."""


@dataclass(frozen=True, slots=True)
class AsFound:
    """The sectors of one device."""

    sectors: bytes = b""
    """As `journal/sectors.py` packs them; empty where they could not be read, which the decision has taken for somebody's data."""
    array: Proof | None = None
    """The array that it is to be a member of, to which mdadm and the kernel may have written by themselves."""
    journal: bool = False
    """It is the write journal of that array."""

    def changed(self, read: Reader, size: int) -> int | None:
        """The place of the first sector that is neither blank nor as it was; None if there is none. Raises OSError.

        Blank ones are as good: the step that clears the device comes before the one that writes over it.
        """
        rest = unpacked(self.sectors).rest(of_others(read, size, self.array, self.journal))
        return rest.foreign if rest else None


def done_again(left: Plan, found: Mapping[str, AsFound]) -> dict[str, AsFound]:
    """The devices that steps write over as an interrupted one left them; not one that a step makes anew before."""
    again = {node for step in left.steps if step.origin.kind in AGAIN for node in step.clears}
    anew = {node for step in left.steps if not step.changes for node in step.awaits}
    return {node: one for node, one in found.items() if node in again - anew}


def of_others(read: Reader, size: int, array: Proof | None, journal: bool) -> Reader:
    """The content without what md writes, and without erased sectors, which a mirror may show as zeroes or as ones. Raises OSError."""
    others = without_ours(read, size, array, journal=journal) if array else read
    return partial(without, lambda offset, sector: all_are(0xFF, sector), others)
