"""The things of a diff by name and kind, as all its forms call them."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.diff import Figure, LostData, Shrink, Thing, Tolerance
from raidplan.diff.result import Measure
from raidplan.render.sentences import filled

NOUNS = {
    "arrays": "array", "encryption": "encrypted device", "volume_groups": "volume group", "filesystems": "file system", "swap": "swap area",
    "disks": "disk", "buses": "bus", "controllers": "controller", "multipliers": "multiplier",
    "expanders": "expander", "enclosures": "enclosure", "power": "power supply", "boot": "boot",
    "monitoring": "monitoring", "layout": "the server", "hardware": "the machine",
}  # fmt: skip
LOST = {**NOUNS, "volume_groups": "volume", "hardware": "partition"}
"""The nouns for lost devices, by the section of the path."""
MEASURED = {**NOUNS, "swap": "swap", "running": "the running system", "boot": "the next boot"}
"""The nouns for whatever has figures and survives losses."""
KINDS = {
    **NOUNS, "power": "supply", "arrays": "{level} of {members}", "encryption": "on {device}", "filesystems": "{type}",
    "swap": "on {device}", "volume_groups": "of {devices:, }", "volumes": "volume",
}  # fmt: skip
MEASURES: dict[Measure, str] = {
    "capacity": "capacity", "read": "read", "write": "write", "read-together": "read, under full load",
    "write-together": "write, under full load", "rebuild": "rebuild", "stripe-cache": "stripe cache",
    "stripe-caches": "stripe caches", "inodes": "inodes", "power": "power",
}  # fmt: skip


def noun_of(thing: Thing) -> str:
    """`file system`; nothing for settings, whose name says it all."""
    if len(thing.path) == 1:
        return ""
    if "volumes" in thing.path:
        return "volume"
    return NOUNS[str(thing.path[-2])]


def called(thing: Thing) -> str:
    """The name, and the one before: `d0 -> bay3`."""
    if len(thing.path) == 1:
        return NOUNS[str(thing.path[0])]
    name = f"{thing.path[1]}.{thing.path[3]}" if "volumes" in thing.path else str(thing.path[-1])
    return f"{thing.was} -> {name}" if thing.was else name


def kind_of(thing: Thing) -> str:
    """`raid6 of 8`, `xfs`; a swap area by its place alone, `on s3`; nothing for settings."""
    return filled(KINDS[str(thing.path[-2])], thing.figures) if len(thing.path) > 1 else ""


def described(thing: Thing) -> str:
    """The kind, and of a file system its device and its mount point: `xfs on s0, /srv`."""
    on = filled("{device}{mount:?, %}", thing.figures) if thing.path[0] == "filesystems" else ""
    return f"{kind_of(thing)} on {on}" if on else kind_of(thing)


def lost_name(loss: LostData) -> str:
    """The mount point, or the thing that is lost: `array s3`."""
    name = loss.path[1] if loss.type else loss.device
    return loss.mount or f"{LOST[str(loss.path[0])]} {name}"


def lost_kind(loss: LostData) -> str:
    """The type and the name of the file system."""
    return f"{loss.type} {loss.path[1]}" if loss.type else "what is on it is not stated"


def name_of(of: Shrink | Tolerance | Figure) -> str:
    """The mount point, or the thing in words: `array s0`, `the machine`; a volume group by its name alone."""
    return of.mount or (str(of.path[1]) if of.path[0] == "volume_groups" else _named(of.path))


def _named(path: Path) -> str:
    return " ".join((MEASURED[str(path[0])], *map(str, path[1:])))
