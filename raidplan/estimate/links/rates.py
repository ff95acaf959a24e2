"""The rate of a link: its line rate after coding, and the share of it that is left for data.

A share is what remains after packet heads, acknowledgements and turn-arounds when large blocks are moved in one
direction. Each has a source, and none was chosen to make one machine come out right. All rates in bytes per second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Row(NamedTuple):
    """One kind of link in the table."""

    name: str
    share: float
    """The part of the line rate that is usable for data."""
    source: str


TABLE: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row(
            "pci",
            0.75,
            "PCI Local Bus Specification 2.3: a burst of one cache line of 64 bytes takes 16 clocks of data and "
            "about 5 for arbitration, address, first access and turn-around; measured on boards of 2005: 95 and 129 "
            "of 133 MB/s (N. Fankhauser and a reader)",
        ),
        Row(
            "pcie",
            0.82,
            "packets of 128 bytes carry 20 to 24 more (Intel AN 456: payload / (payload + overhead)), and flow "
            "control takes some percent; 410 of 500 MB/s measured (https://serverfault.com/questions/556265)",
        ),
        Row(
            "dmi",
            0.80,
            "PCIe in another name; 1600 of 2000 MB/s measured on DMI 2 "
            "(https://www.tomshardware.com/reviews/samsung-xp941-z97-pci-express,3826-3.html)",
        ),
        Row(
            "sata",
            0.92,
            "solid-state disks end at 550 of 600 and 285 of 300 MB/s (data sheets, such as SanDisk Extreme)",
        ),
        Row(
            "multiplier",
            0.83,
            "249 of 300 MB/s measured, five disks, FIS-based switching "
            "(http://apollo.backplane.com/DFlyMisc/portmult01.txt)",
        ),
        Row(
            "sas",
            0.92,
            "as SATA, whose frames it tunnels; its own frames add 24 bytes of head and 4 of CRC to at most 1024 of "
            "data, and connections are opened and closed (Serial Attached SCSI, SSP frames)",
        ),
        Row(
            "usb2",
            0.70,
            "13 packets of 512 bytes in 125 us are 53 of 60 MB/s (USB 2.0, 5.8.4); 43 measured "
            "(https://superuser.com/questions/317217)",
        ),
        Row(
            "usb3",
            0.80,
            "400 of 500 MB/s is what the USB 3.0 specification calls realistic; 1 and 2 GB/s at 10 and 20 Gbps "
            "measured (https://www.anandtech.com/show/16133)",
        ),
        Row(
            "usb4",
            0.66,
            "storage goes through a tunnel of four PCIe 3 lanes: 0.82 of 3938 MB/s, of 4848 on the line",
        ),
        Row(
            "thunderbolt1",
            0.80,
            "8 of 10 Gb/s for data (https://www.computerwoche.de/a/what-you-need-to-know-about-thunderbolt,2365722,2)",
        ),
        Row("thunderbolt2", 0.65, "four PCIe 2 lanes inside: 0.82 of 2000 MB/s, of 2500 on the line"),
        Row(
            "thunderbolt3",
            0.55,
            "22 of 40 Gb/s for data, the rest for displays; 2800 MB/s stated for arrays "
            "(https://www.highpoint-tech.com/post/why-choose-thunderbolt-3-over-thunderbolt-4)",
        ),
    )
}

PCI_MHZ: Mapping[float, float] = {33: 100 / 3, 66: 200 / 3, 133: 400 / 3}
"""The exact frequencies behind the names of PCI clocks: periods of 30, 15 and 7.5 ns."""
PCIE_LANE: Mapping[int, float] = {
    1: 2.5e9 / 10,
    2: 5e9 / 10,
    3: 8e9 * 128 / 130 / 8,
    4: 16e9 * 128 / 130 / 8,
    5: 32e9 * 128 / 130 / 8,
}
"""Line rate of a lane: 8b/10b coding, from generation 3 on 128b/130b (PCI Express Base Specification 5.0, 4.2)."""
DMI_LANES = 4
"""The lanes of DMI 1 to 3 where nothing else is stated; DMI 4 has 4 or 8, so they must be stated (Intel chipset data sheets)."""
THUNDERBOLT_GBPS: Mapping[int, int] = {1: 10, 2: 20, 3: 40, 4: 40}
BITS = 10
"""On a SATA or SAS line for each byte (8b/10b)."""
SAS4 = 22_500_000_000
"""Line speed from which SAS codes 128 bits in 150 (SPL-5)."""


def pci_line(width: int, clock: int) -> float:
    """A PCI or PCI-X bus of `width` bits and `clock` Hz."""
    mhz = clock / 1e6
    return width / 8 * PCI_MHZ.get(mhz, mhz) * 1e6


def pcie_line(generation: int, lanes: int) -> float:
    """PCIe lanes; 0 for a generation that the table does not have."""
    return PCIE_LANE.get(generation, 0) * lanes


def serial_line(speed: int, lanes: int = 1) -> float:
    """SATA or SAS lanes of `speed` bits per second."""
    return lanes * (speed * 128 / 150 / 8 if speed >= SAS4 else speed / BITS)


def usb(speed: int) -> tuple[float, Row]:
    """A USB port of `speed` bits per second."""
    if speed < 5e9:
        return speed / 8, TABLE["usb2"]
    if speed < 10e9:
        return speed / BITS, TABLE["usb3"]
    return speed * 128 / 132 / 8, TABLE["usb4" if speed > 20e9 else "usb3"]


def thunderbolt(generation: int) -> tuple[float, Row] | None:
    """A Thunderbolt port; None for a generation that the table does not have."""
    gbps = THUNDERBOLT_GBPS.get(generation)
    return (gbps * 1e9 / 8, TABLE[f"thunderbolt{min(generation, 3)}"]) if gbps else None
