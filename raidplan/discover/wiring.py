"""The wiring of disks: the controller of each, from the kernel's device tree in sysfs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PCI_FUNCTION = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
BELOW_A_CONTROLLER = re.compile(
    r"(ata|host|usb|virtio|nvme|mmc|ieee1394|session)\d+|nvme|mmc_host|virtio-ports"
)
"""The first of these below a controller is its own: a port, a host, a bus."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The way to a disk. Texts are empty where the kernel shows no controller, as for some virtual disks."""

    controller: str = ""
    """The address in udev's form: `pci-0000:03:00.0`, `platform-fc400000.sata`."""
    driver: str = ""
    """The kernel's driver of the controller: ahci, mpt3sas, nvme, virtio_scsi."""
    below: str = ""
    """The rest of the way, below the controller: `ata1/host0/target0:0:0/0:0:0:0`."""


def read_wires(names: Iterable[str], sysfs: Path = Path("/sys")) -> dict[str, Wire]:
    """The wire of each disk, by its kernel name."""
    return {name: _wire(name, sysfs) for name in names}


def _wire(name: str, sysfs: Path) -> Wire:
    block = sysfs / "block" / name.replace("/", "!")
    if not block.exists():
        return Wire()
    device = _real_device(block)
    parents = [device, *device.parents]
    at = next((n for n, folder in enumerate(parents) if PCI_FUNCTION.fullmatch(folder.name)), None)
    bus = "pci"
    if at is None:
        at, bus = _platform_device(parents), "platform"
    if at is None:
        return Wire()
    below = [folder.name for folder in reversed(parents[:at])]
    driver = _virtio_driver(parents[:at]) or _driver(parents[at])
    return Wire(f"{bus}-{parents[at].name}", driver, "/".join([*below, name]))


def _real_device(block: Path) -> Path:
    """The path of the disk's own device in the tree.

    NVMe with native multipath hangs its disks on a subsystem, which only links to its controllers.
    """
    device = (block / "device").resolve() if (block / "device").exists() else block.resolve().parent
    if "nvme-subsystem" in device.parts:
        controllers = (entry for entry in device.glob("nvme*") if entry.is_symlink())
        return next((entry.resolve() for entry in sorted(controllers)), device)
    return device


def _platform_device(parents: list[Path]) -> int | None:
    """A controller that is no PCI function: the device right above the first port, host or bus."""
    if not any(folder.name == "platform" for folder in parents):
        return None
    above = [n + 1 for n, folder in enumerate(parents) if BELOW_A_CONTROLLER.fullmatch(folder.name)]
    found = max(above, default=None)
    return found if found is not None and parents[found].name != "platform" else None


def _virtio_driver(below: Iterable[Path]) -> str:
    """A virtio device has a driver of its own; that of its PCI function tells nothing."""
    device = next((folder for folder in below if re.fullmatch(r"virtio\d+", folder.name)), None)
    return _driver(device) if device else ""


def _driver(device: Path) -> str:
    link = device / "driver"
    return link.resolve().name if link.exists() else ""
