"""Checks of an array whose member came back: of the part that was surely written to meanwhile, or of the whole."""

from __future__ import annotations

from enum import Enum, auto

from raidplan.base.levels import LEVELS
from raidplan.base.size import MIB
from raidplan.topology import Topology
from raidplan.twin.rehearsal.choices import MAPPED

PACE = 16 * MIB
"""Bytes of each member that a check reads in emulation in a second, about: a gigabyte takes a minute."""
CHECK_SECONDS = 64.0
"""Seconds that the check of a whole array may take after each disk, where it is not known what lies where: as long as the rest of a case."""


class Check(Enum):
    """The part of an array that is checked."""

    FILE = auto()
    """A file that was written meanwhile, and what follows it."""
    WHOLE = auto()
    BEGIN = auto()
    """The first bytes of each member. Whether something was written there is not known: that they agree shows nothing."""


def check_of(topology: Topology, name: str) -> Check:
    """The check of an array that took back a member with what was on it."""
    entries = topology.layout.filesystems.values()
    if any(entry.mount and entry.type in MAPPED and entry.device == name for entry in entries):
        return Check.FILE
    return Check.WHOLE if check_seconds(topology, name) <= CHECK_SECONDS else Check.BEGIN


def check_seconds(topology: Topology, name: str) -> float:
    """Seconds that a check of the whole array takes in emulation, about; that of RAID10 goes over the array (drivers/md/raid10.c)."""
    array = topology.layout.arrays[name]
    sizes = [
        topology.devices[each].size
        for each in ((name,) if LEVELS[array.level].synced_whole else array.named_members)
    ]
    return max(sizes) / min(PACE, array.sync_speed_max or PACE)
