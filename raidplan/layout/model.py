"""The layout: all kinds together, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.hardware import Bus, Controller, Enclosure, Expander, Multiplier, Power
from raidplan.layout.kinds.host import Allow, Boot, Monitoring
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.layout.kinds.model import Integer, Model, Name, Size, Speed
from raidplan.layout.kinds.pool import Pool
from raidplan.layout.kinds.swap import Swap


class Hardware(Model):
    """The machine; the same keys may stand in a file of their own."""

    memory: Size | None = None
    firmware: Literal["bios", "uefi"] | None = None
    network: Speed | None = None
    """The line rate of all network links together, through which clients read and write."""
    buses: Mapping[Name, Bus] = {}
    controllers: Mapping[Name, Controller] = {}
    multipliers: Mapping[Name, Multiplier] = {}
    expanders: Mapping[Name, Expander] = {}
    enclosures: Mapping[Name, Enclosure] = {}
    power: Mapping[Name, Power] = {}
    disks: Mapping[Name, Disk] = {}


class Layout(Model):
    """A server's storage, from the wiring to the mount points."""

    version: Integer
    """1."""
    host: Name
    """The host's name: typed to confirm `apply`, stored in the arrays as their home."""
    workload: Literal["database", "small-files", "mixed", "large-files"] | None = None
    hardware: Hardware = Hardware()
    arrays: Mapping[Name, Array] = {}
    volume_groups: Mapping[Name, VolumeGroup] = {}
    filesystems: Mapping[Name, Filesystem] = {}
    swap: Mapping[Name, Swap] = {}
    boot: Boot = Boot()
    monitoring: Monitoring = Monitoring()
    allow: tuple[Allow, ...] = ()

    @property
    def pools(self) -> dict[str, Pool]:
        """The pools of the arrays whose members the planner picks."""
        return {name: array.members for name, array in self.arrays.items() if isinstance(array.members, Pool)}
