"""The texts of the picture: rates, and words for components, disks and things."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.base.findings import Path
from raidplan.base.size import drive_size
from raidplan.base.words import counted, rate
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.hardware import Bus, Controller, Expander, Multiplier
from raidplan.layout.model import Hardware


def speed(bits_per_second: int) -> str:
    """`1.5 Gb/s`."""
    return f"{bits_per_second / 1e9:g} Gb/s"


def component(section: str, name: str, hardware: Hardware) -> str:
    """A component in a few words."""
    match section:
        case "buses":
            return _bus(hardware.buses[name])
        case "controllers":
            return _ports(hardware.controllers[name])
        case "multipliers":
            return _multiplier(hardware.multipliers[name])
        case _:
            return _ports(hardware.expanders[name])


def _bus(bus: Bus) -> str:
    lanes = f" ×{bus.lanes}" if bus.lanes else ""
    generation = f" {bus.generation}" if bus.generation else ""
    match bus.type:
        case "pci":
            bits = f" {bus.width} bit" if bus.width else ""
            return f"PCI{bits}" + (f" {bus.clock / 1e6:g} MHz" if bus.clock else "")
        case "pcie":
            return f"PCIe{generation}{lanes}"
        case "dmi":
            return f"DMI{generation}{lanes}"
        case "thunderbolt":
            return f"Thunderbolt{generation}"
        case "usb":
            return "USB" + (f" {speed(bus.speed)}" if bus.speed else "")
        case _:
            return speed(bus.speed) if bus.speed else "link"


def _ports(entry: Controller | Expander) -> str:
    ports = [counted(entry.ports, "port")] if entry.ports else []
    lanes = f"{entry.lanes} × " if entry.lanes else ""
    return ", ".join([*ports, *([lanes + speed(entry.speed)] if entry.speed else [])])


def _multiplier(entry: Multiplier) -> str:
    switching = {"fis": "FIS", "command": "command-based", None: ""}[entry.switching]
    return (
        ", ".join(part for part in (speed(entry.speed) if entry.speed else "", switching) if part)
        or "port multiplier"
    )


def disk(name: str, entry: Disk) -> str:
    """A disk in a sentence."""
    facts = [
        drive_size(entry.size) if entry.size else "",
        rate(entry.rate) if entry.rate else "",
        f"behind {entry.behind}" if entry.behind else "",
        f"port {entry.port}" if entry.port is not None else "",
        f"serial {entry.serial}" if entry.serial else "",
        "kept" if entry.keep else "",
    ]
    return ": ".join([name, *([", ".join(filter(None, facts))] if any(facts) else [])])


def disks(entries: Iterable[Disk]) -> str:
    """`40 disks of 2.7 TiB, 150 MB/s`, or the range of sizes and rates."""
    all_disks = list(entries)
    sizes = sorted({entry.size for entry in all_disks if entry.size})
    rates = sorted({entry.rate for entry in all_disks if entry.rate})
    text = counted(len(all_disks), "disk")
    if sizes:
        text += f" of {_range([drive_size(size) for size in sizes])}"
    return text + (f", {_range([rate(each) for each in rates])}" if rates else "")


def _range(texts: list[str]) -> str:
    ends = list(dict.fromkeys((texts[0], texts[-1])))
    return " to ".join(ends)


def kind_of(path: Path) -> str:
    """The name of a thing of a layout in a sentence."""
    match path:
        case ("arrays", _):
            return "array"
        case ("encryption", _):
            return "encrypted device"
        case ("volume_groups", _):
            return "volume group"
        case ("volume_groups", *_):
            return "volume"
        case ("filesystems", _):
            return "file system"
        case ("swap", _):
            return "swap"
        case ("machine",):
            return "running system"
        case ("boot",):
            return "next start"
        case _:
            return ""


def name_of(path: Path) -> str:
    """The name of what is at a path; the machine itself has none and is named by what it is."""
    if len(path) == 1:
        return {"machine": "the running system", "boot": "the next start"}.get(str(path[0]), str(path[0]))
    return f"the port of {path[-2]}" if path[-1] == "link" else str(path[-1])


def names(paths: Iterable[Path]) -> str:
    """The names of all paths, with commas."""
    return ", ".join(map(name_of, paths))
