"""The wiring of the machine: what carries the disks, what fails as one, and what feeds them."""

from __future__ import annotations

from typing import Literal

from raidplan.layout.kinds.model import (
    Boolean,
    Clock,
    Count,
    Integer,
    Model,
    Name,
    Positive,
    Rate,
    Speed,
    Word,
)


class Bus(Model):
    """A link that several controllers share: a PCI bus, a PCIe slot, the chipset's uplink, a USB port."""

    type: Literal["pci", "pcie", "dmi", "usb", "thunderbolt", "other"]
    """The kind of link; with `generation`, `lanes`, `width` or `speed` it gives the rate."""
    behind: Name | None = None
    """The bus this one hangs on: `dmi`."""
    width: Positive | None = None
    """PCI: bits, `32` or 64."""
    clock: Clock | None = None
    """PCI: 33MHz, 66MHz, 100MHz or 133MHz."""
    generation: Positive | None = None
    """PCIe 1-5, DMI 1-4, Thunderbolt 1-4."""
    lanes: Positive | None = None
    """PCIe and DMI: the lanes that were negotiated, not the slot's length."""
    speed: Speed | None = None
    """USB and others: the line rate."""
    rate: Rate | None = None
    """A measured rate; it takes the place of the table's."""


class Controller(Model):
    """A host controller, on a card or in the chipset."""

    behind: Name | None = None
    """The bus it stands on: `slot1`."""
    ports: Positive | None = None
    """The number of its ports."""
    speed: Speed | None = None
    """Each port's line rate."""
    lanes: Positive | None = None
    """SAS: lanes of each port."""
    fis_switching: Boolean | None = None
    """Whether it can talk to several disks behind one multiplier at once."""
    mode: Literal["hba", "raid"] | None = None
    """hba: its disks are handed through as they are; raid: they are volumes in the card's own format."""
    path: Word | None = None
    """Its path for udev: `pci-0000:03:00.0`."""
    rate: Rate | None = None
    """A measured rate for all its ports together."""
    drops_disks: Boolean | None = None
    """Known to lose a disk now and then, at boot for one."""
    bootable: Boolean | None = None
    """Whether the firmware, or the card's own, shows its disks to the boot loader; true: behind multipliers too."""


class Multiplier(Model):
    """A SATA port multiplier: one uplink for all the disks behind it."""

    behind: Name
    """The controller it is plugged into: `sil0`."""
    port: Integer | None = None
    """The controller's port, from 0 on."""
    ports: Positive | None = None
    """The number of its ports for disks."""
    speed: Speed | None = None
    """The line rate of its uplink: `3Gbps`."""
    switching: Literal["fis", "command"] | None = None
    """fis: several disks at once; command: one disk at a time."""
    rate: Rate | None = None
    """A measured rate of the uplink."""
    drops_disks: Boolean | None = None
    """Known to lose a disk now and then, at boot for one."""


class Expander(Model):
    """A SAS expander."""

    behind: Name
    """The controller or expander it is plugged into: `hba0`."""
    port: Integer | None = None
    """The port there, from 0 on."""
    lanes: Positive | None = None
    """The lanes of its uplink."""
    speed: Speed | None = None
    """Line rate of one lane."""
    ports: Positive | None = None
    """The number of its ports for disks."""
    rate: Rate | None = None
    """A measured rate of the uplink."""
    drops_disks: Boolean | None = None
    """Known to lose a disk now and then, at boot for one."""


class Enclosure(Model):
    """Anything else that fails as one: a shelf, a cage, a cable."""

    disks: tuple[Name, ...]
    """The disks that it takes with it when it fails."""


class Power(Model):
    """A power supply or one of its rails."""

    watts: Positive | None = None
    """The power that it can give, in watts: `560`."""
    amps_12v: Positive | None = None
    """The current that its 12 V rail can give, in amperes: `34`; hard disks start on it."""
    base_watts: Count | None = None
    """The power that the machine draws without its disks."""
    staggered_spinup: Boolean | None = None
    """Whether the disks start one after the other."""
    feeds: tuple[Name, ...] = ()
    """Disks, enclosures, expanders and other components; what two supplies feed runs on either of them."""
