"""The time until a blank disk is in its arrays again: how long it takes at least, and how long it is waited for."""

from __future__ import annotations

from raidplan.base.levels import LEVELS
from raidplan.estimate.rebuild import SYNC_SPEED_MAX
from raidplan.topology import Topology

REBUILD_SECONDS = 1500.0
"""Seconds for which all rebuilds after a case are waited for, and each check of an array."""


def rebuild_seconds(topology: Topology, disk: str) -> float:
    """Seconds that the rebuilds of a disk in the twin take at least, whose links have no limits: one after the other, at `sync_speed_max`.

    A check takes as long, and on RAID10 goes over the whole array (drivers/md/raid10.c): that counts there.
    """
    seconds = 0.0
    for name, array in topology.layout.arrays.items():
        for member in array.named_members:
            if member.partition(".")[0] == disk:
                size = topology.devices[name if LEVELS[array.level].synced_whole else member].size
                seconds += size / (array.sync_speed_max or SYNC_SPEED_MAX)
    return seconds
