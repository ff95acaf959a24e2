"""The abilities of hard disks, from data sheets and geometry, where a layout says no more than that they turn."""

from __future__ import annotations

from collections.abc import Mapping
from math import expm1, inf
from typing import NamedTuple

ZONE_AVERAGE = 0.75
"""The rate over the whole disk, of that at the outer tracks.

Bits lie equally dense on every track, so the rate follows the radius, and the inner one is about half of the
outer: 83 to 175 MB/s (Seagate Constellation ES.3 product manual, 4.1.2). With q = 1/2 reading everything takes
2 / (1 + q) times as long as at the outer rate, whatever the size.
"""
UNREADABLE = (1e-14, 1e-15)
"""Unreadable bits per bit read that makers specify as an upper bound, for desktop and for server disks."""


def read_error_bound(size: int, rate: float) -> float:
    """The most that a specification of `rate` lets the chance be that `size` bytes hold an unreadable sector.

    A bound, not a forecast: hundreds of TB are commonly read without an error
    (https://www.tablix.org/~avian/blog/archives/2021/02/raid_and_hard_disk_read_errors/).
    """
    return -expm1(-8 * size * rate)


class DiskClass(NamedTuple):
    """Disks of one kind, and the rate of the fastest of them: what is assumed of one whose rate is not stated."""

    name: str
    rate: float
    """Bytes per second, at the outer tracks of a disk that turns."""
    source: str


HARD_DISKS: Mapping[float, DiskClass] = {
    4.1e12: DiskClass("hard disk of up to 4 TB", 210e6, "Seagate Barracuda ST3000DM001, data sheet"),
    10.1e12: DiskClass("hard disk of up to 10 TB", 249e6, "Seagate Exos X10, data sheet"),
    16.1e12: DiskClass("hard disk of up to 16 TB", 261e6, "Seagate Exos X16, data sheet"),
    inf: DiskClass("larger hard disk", 285e6, "Seagate Exos X20, data sheet"),
}
"""By the largest size in bytes; at 7200 rpm, as a layout does not say how fast a disk turns."""
SOLID = DiskClass("solid-state disk", 560e6, "Samsung 870 EVO, data sheet: as much as SATA carries")
NVME: Mapping[int, DiskClass] = {
    3: DiskClass("NVMe disk on PCIe 3 or older", 3500e6, "Samsung 970 PRO, data sheet"),
    4: DiskClass("NVMe disk on PCIe 4", 7000e6, "Samsung 980 PRO, data sheet"),
    5: DiskClass("NVMe disk on PCIe 5", 12400e6, "Crucial T700, data sheet"),
}
"""By the generation of its bus; a solid-state disk right on a PCIe bus is one."""


def disk_class(size: int | None, *, rotational: bool | None, pcie: int | None) -> DiskClass:
    """The class of a disk; `pcie` is the generation of the PCIe bus that it is on itself, 0 if not stated.

    One that does not say whether it turns is taken for a hard disk, unless it is on PCIe.
    """
    if pcie is not None and rotational is not True:
        return NVME[min(max(pcie, min(NVME)), max(NVME))] if pcie else NVME[max(NVME)]
    if rotational is False:
        return SOLID
    return next(each for most, each in HARD_DISKS.items() if most >= (inf if size is None else size))
