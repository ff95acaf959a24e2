"""How fast disks and links are, as far as the layout states it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidplan.placement.problem import UNKNOWN

if TYPE_CHECKING:
    from raidplan.layout.model import Hardware


def capacities(hardware: Hardware) -> dict[str, float]:
    """Bytes per second of every component whose rate is stated."""
    sections = (hardware.buses, hardware.controllers, hardware.multipliers, hardware.expanders)
    return {name: entry.rate for section in sections for name, entry in section.items() if entry.rate}


def rate(hardware: Hardware, disk: str) -> float:
    """Bytes per second of a disk."""
    return hardware.disks[disk].rate or UNKNOWN if disk in hardware.disks else UNKNOWN
