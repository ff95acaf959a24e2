"""The content of the devices and swap files of interrupted steps, as it was found before it was decided to do these again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raidplan.plan.step import Plan, Proof

AGAIN = ("layout", "clear", "change")
"""The origins of steps that clear a device, or write over it as cleared, because one on it was interrupted; others clear for a first time."""


@dataclass(frozen=True, slots=True)
class DeviceAsFound:
    """The sectors of one device, and what others write there."""

    sectors: bytes | None = None
    """The sectors as `journal/sectors.py` packs them: empty if too many are full, None if they could not be read."""
    array: Proof | None = None
    """The array that it is to be a member of, to which mdadm and the kernel may have written by themselves."""
    journal: bool = False
    """True for the device that is to be the write journal of that array."""


@dataclass(frozen=True, slots=True)
class FileAsFound:
    """The state of a swap file."""

    state: tuple[int, ...]
    """As `devices/guard.py` tells it."""


AsFound = DeviceAsFound | FileAsFound


def done_again(left: Plan, found: Mapping[str, AsFound]) -> dict[str, AsFound]:
    """The devices that steps write over as an interrupted one left them; not one that a step makes anew before."""
    again = {node for step in left.steps if step.origin.kind in AGAIN for node in step.clears}
    anew = {node for step in left.steps if not step.changes for node in step.awaits}
    return {node: one for node, one in found.items() if node in again - anew}
