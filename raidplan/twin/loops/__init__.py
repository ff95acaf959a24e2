"""Loop devices in place of a layout's disks, for test machines; and the layout at a fraction of its size."""

from raidplan.twin.loops.making import Up, up
from raidplan.twin.loops.need import bytes_needed
from raidplan.twin.loops.record import DiskFile, Record, record_of
from raidplan.twin.loops.refused import LoopsRefused, Stopped
from raidplan.twin.loops.removing import Down, down
from raidplan.twin.loops.scale import TooSmall, scale_layout, scaled

__all__ = [
    "DiskFile",
    "Down",
    "LoopsRefused",
    "Record",
    "Stopped",
    "TooSmall",
    "Up",
    "bytes_needed",
    "down",
    "record_of",
    "scale_layout",
    "scaled",
    "up",
]
