"""The table of links as a page shows it."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.estimate.data_sheets import HARD_DISKS, NVME, SOLID
from raidplan.estimate.links.rates import TABLE, pci_line, pcie_line, serial_line, thunderbolt, usb

SATA, SAS = (1.5, 3, 6), (3, 6, 12, 22.5)
LINES: dict[str, list[tuple[str, float]]] = {
    "pci": [(f"{w} bit {mhz} MHz", pci_line(w, mhz * 10**6)) for w in (32, 64) for mhz in (33, 66, 100, 133)],
    "pcie": [(f"generation {g}, each lane", pcie_line(g, 1)) for g in range(1, 6)],
    "dmi": [(f"DMI {g}, 4 lanes", pcie_line(g, 4)) for g in range(1, 4)]
    + [("DMI 4, 8 lanes", pcie_line(4, 8))],
    "sata": [(f"{gbps}Gbps", serial_line(int(gbps * 10**9))) for gbps in SATA],
    "multiplier": [(f"{gbps}Gbps", serial_line(int(gbps * 10**9))) for gbps in SATA],
    "sas": [(f"{gbps}Gbps, each lane", serial_line(int(gbps * 10**9))) for gbps in SAS],
    "usb2": [("480Mbps", usb(480 * 10**6)[0])],
    "usb3": [(f"{gbps}Gbps", usb(gbps * 10**9)[0]) for gbps in (5, 10, 20)],
    "usb4": [("40Gbps", usb(40 * 10**9)[0])],
    "thunderbolt1": [("Thunderbolt 1", (thunderbolt(1) or (0,))[0])],
    "thunderbolt2": [("Thunderbolt 2", (thunderbolt(2) or (0,))[0])],
    "thunderbolt3": [("Thunderbolt 3 and 4", (thunderbolt(3) or (0,))[0])],
}
"""The line rates of each row, by what a layout says."""


def links_manual() -> str:
    """A Markdown table of every row: what a link carries, how much is left for data, and why."""
    return "\n".join(_rows()) + "\n"


def disks_manual() -> str:
    """A Markdown table of the rates that are assumed of disks."""
    classes = (*HARD_DISKS.values(), SOLID, *NVME.values())
    rows = (f"| {each.name} | {each.rate / 1e6:.0f} | {each.source} |" for each in classes)
    return "\n".join(("| disk | MB/s | the fastest of its kind |", "| --- | --- | --- |", *rows)) + "\n"


def _rows() -> Iterator[str]:
    yield "| link | on the line, MB/s | share for data | source of the share |"
    yield "| --- | --- | --- | --- |"
    for name, row in TABLE.items():
        lines = ", ".join(f"{what}: {rate / 1e6:.0f}" for what, rate in LINES[name])
        yield f"| {name} | {lines} | {row.share:g} | {row.source} |"
