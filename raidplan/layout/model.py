"""The layout: all kinds together, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.encryption import Encryption
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.hardware import Bus, Controller, Enclosure, Expander, Multiplier, Power
from raidplan.layout.kinds.host import Allow, Boot, Monitoring
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.layout.kinds.model import HostName, Integer, Model, Name, Size, Speed
from raidplan.layout.kinds.pool import Pool
from raidplan.layout.kinds.swap import Swap

BUILT = ("arrays", "encryption", "volume_groups", "filesystems", "swap")
"""The sections of things that are made on the disks, in the order of a plan."""


class Hardware(Model):
    """The machine; the same keys may stand in a file of their own."""

    memory: Size | None = None
    """The machine's memory: `16GiB`. Stripe caches are compared with it."""
    firmware: Literal["bios", "uefi"] | None = None
    """The firmware that starts the machine; it decides which partition the machine boots from, and without it no boot loader is installed."""
    network: Speed | None = None
    """The line rate of all network links together, through which clients read and write: `10Gbps`."""
    buses: Mapping[Name, Bus] = {}
    """Links that several controllers share, by name: `{slot1: {type: pcie, generation: 3, lanes: 8}}`."""
    controllers: Mapping[Name, Controller] = {}
    """Host controllers, on cards or in the chipset, by name: `{hba0: {behind: slot1, ports: 8}}`."""
    multipliers: Mapping[Name, Multiplier] = {}
    """SATA port multipliers, by name: `{pm0: {behind: sil0, ports: 5}}`."""
    expanders: Mapping[Name, Expander] = {}
    """SAS expanders, by name: `{exp0: {behind: hba0, lanes: 4}}`."""
    enclosures: Mapping[Name, Enclosure] = {}
    """Whatever else fails as one, by name: a shelf, a cage, a cable: `{shelf1: {disks: [d00, d01]}}`."""
    power: Mapping[Name, Power] = {}
    """Power supplies or their rails, by name: `{psu1: {feeds: [d00, d01]}}`."""
    disks: Mapping[Name, Disk] = {}
    """The disks, by the names that everything else has for them: `{d00: {serial: WD-A1, size: 4TB}}`."""


class Layout(Model):
    """A server's storage, from the wiring to the mount points."""

    version: Integer
    """The version of this format: `1`."""
    host: HostName
    """The host's name, such as `box`: typed to confirm an apply, stored in the arrays as their home."""
    workload: Literal["database", "small-files", "mixed", "large-files"] | None = None
    """The machine's main work; rules and estimates judge chunk, inodes and level by it."""
    hardware: Hardware = Hardware()
    """The machine, or the name of a file beside this one that holds these keys: `box.hardware.yaml`."""
    arrays: Mapping[Name, Array] = {}
    """md arrays, by the names below /dev/md: `{s0: {level: raid1, members: [d00, d01]}}`."""
    encryption: Mapping[Name, Encryption] = {}
    """Encrypted devices, by the names below /dev/mapper: `{secret: {device: s0, key: ask}}`. No key stands in a layout."""
    volume_groups: Mapping[Name, VolumeGroup] = {}
    """LVM volume groups, by name: `{vg0: {devices: [s0]}}`."""
    filesystems: Mapping[Name, Filesystem] = {}
    """File systems, by name: `{data: {device: s0, type: ext4}}`."""
    swap: Mapping[Name, Swap] = {}
    """Swap areas, by name: `{swap: {device: s1}}`."""
    boot: Boot = Boot()
    """The boot of the machine: `{loader: grub}`."""
    monitoring: Monitoring = Monitoring()
    """Alarms, and how often members are read for latent errors: `{mail: root@example.org, scrub: monthly}`."""
    allow: tuple[Allow, ...] = ()
    """Accepted findings, each with its reason: `[{rule: no-spare, at: arrays.s0, reason: a cold spare lies on the shelf}]`."""

    @property
    def pools(self) -> dict[str, Pool]:
        """The pools of the arrays whose members the planner picks."""
        return {name: array.members for name, array in self.arrays.items() if isinstance(array.members, Pool)}
