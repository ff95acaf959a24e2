"""The load of each power supply or rail: watts of disks that run, amperes at 12 V of disks that start, by figures assumed here.

Figures for a 3.5" hard disk of 7200 rpm: 10 to 15 W running; 1.7 to 2.2 A at 12 V while it starts, with peaks of
2.8 A that supplies absorb (product manuals of Seagate Constellation ES.1 and ES.3). Of a solid-state disk 5 W is an
assumption, and it takes nothing from 12 V. What layouts call `base_watts` is drawn at 12 V for the most part.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from raidplan.topology import Topology

DISK_WATTS = 12.0
DISK_WATTS_LEAST = 10.0
SOLID_WATTS = 5.0
CARD_WATTS = 10.0
"""Watts of an expander or another board that a supply feeds by name."""
START_AMPS = 2.2
START_AMPS_LEAST = 1.7
VOLTS = 12.0


class Load(NamedTuple):
    """The load of one supply or rail."""

    disks: tuple[str, ...]
    """Hard disks and solid-state disks, in its order."""
    watts: float
    """Running, with the usual figures; a disk that two supplies feed counts at both, as one may fail."""
    least_watts: float
    """The least power while running: of the disks that are known to be hard disks alone, each shared by its supplies."""
    start_amps: float
    """The current at 12 V while the disks start: all at once, or one after another where the spin-up is staggered."""
    least_start_amps: float


def loads(topology: Topology) -> dict[str, Load]:
    """The load of each supply by name; what a layout does not say counts as nothing."""
    hardware = topology.layout.hardware
    feeders = Counter(name for supply in hardware.power.values() for name in dict.fromkeys(supply.feeds))
    found: dict[str, Load] = {}
    for name, supply in hardware.power.items():
        fed = list(dict.fromkeys(supply.feeds))
        disks = [each for each in fed if each in hardware.disks]
        boards = sum(each not in hardware.disks and each in topology.wiring.components for each in fed)
        solid = sum(hardware.disks[disk].rotational is False for disk in disks)
        known = sum(1 / feeders[disk] for disk in disks if hardware.disks[disk].rotational)
        base, turning = supply.base_watts or 0, len(disks) - solid
        first = min(turning, 1) if supply.staggered_spinup else turning
        found[name] = Load(
            tuple(disks),
            base + DISK_WATTS * turning + SOLID_WATTS * solid + CARD_WATTS * boards,
            base + DISK_WATTS_LEAST * known,
            base / VOLTS + START_AMPS * first,
            base / VOLTS + START_AMPS_LEAST * (min(known, 1) if supply.staggered_spinup else known),
        )
    return found


def machine_load(topology: Topology) -> Load:
    """The load of the whole machine: every disk once, whatever feeds it; what no supply names counts too."""
    hardware = topology.layout.hardware
    solid = sum(disk.rotational is False for disk in hardware.disks.values())
    known = sum(disk.rotational is True for disk in hardware.disks.values())
    turning = len(hardware.disks) - solid
    fed = {name for supply in hardware.power.values() for name in supply.feeds}
    boards = sum(name not in hardware.disks and name in topology.wiring.components for name in fed)
    base = sum(supply.base_watts or 0 for supply in hardware.power.values())
    first = _started_first(topology)
    return Load(
        tuple(hardware.disks),
        base + DISK_WATTS * turning + SOLID_WATTS * solid + CARD_WATTS * boards,
        base + DISK_WATTS_LEAST * known,
        base / VOLTS + START_AMPS * first,
        base / VOLTS + START_AMPS_LEAST * min(first, known),
    )


def _started_first(topology: Topology) -> int:
    """The number of disks that start at the same time: those that are not staggered, and one of each staggered supply."""
    hardware = topology.layout.hardware
    turning = {name for name, disk in hardware.disks.items() if disk.rotational is not False}
    staggered = [turning.intersection(s.feeds) for s in hardware.power.values() if s.staggered_spinup]
    return len(turning.difference(*staggered)) + sum(bool(each) for each in staggered)
