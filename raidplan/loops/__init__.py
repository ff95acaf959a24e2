"""Loop devices in place of a layout's disks, for test machines; and the layout at a fraction of its size."""

from raidplan.loops.down import Down, down
from raidplan.loops.folder import DiskFile, Record
from raidplan.loops.need import bytes_needed
from raidplan.loops.refused import Refused, Stopped
from raidplan.loops.scale import TooSmall, scaled
from raidplan.loops.up import Up, up

__all__ = [
    "DiskFile",
    "Down",
    "Record",
    "Refused",
    "Stopped",
    "TooSmall",
    "Up",
    "bytes_needed",
    "down",
    "scaled",
    "up",
]
