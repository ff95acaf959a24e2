"""Values of a layout as texts: every quantity with its unit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from raidplan.base.size import exact
from raidplan.diff.changes import Way
from raidplan.diff.result import Change
from raidplan.layout.kinds.model import Model, fields

BYTES = ("chunk", "su", "read_ahead", "size", "extent", "inode_ratio", "memory")
RATES = ("rate", "sync_speed_min", "sync_speed_max")
SPEEDS = ("network", "speed", "link")
UNITS = {
    "clock": (10**6, "MHz"), "error_recovery": (1, "s"), "command_timeout": (1, "s"), "head_parking": (1, "s"),
    "reserved": (1, "%"),
}  # fmt: skip


def value_text(key: str, value: object) -> str:
    """A value as a person writes it; empty if nothing is set."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(value_text(key, each) for each in value)
        case int() | Fraction() if key in UNITS:
            scale, unit = UNITS[key]
            return f"{float(Fraction(value) / scale):g}{unit}"
        case int() if key in BYTES:
            return exact(value)
        case int() if key in RATES:
            return f"{exact(value)}/s"
        case int() if key in SPEEDS:
            return f"{value / 10**9:g}Gbps"
    return str(value)


def change(key: str, old: object, new: object, how: Way | None) -> Change:
    """A change with its values as texts."""
    name = key.rpartition(".")[2]
    return Change(key, value_text(name, old), value_text(name, new), how)


def differing(
    old: Model | None, new: Model | None, skip: tuple[str, ...] = ()
) -> Iterator[tuple[str, object, object]]:
    """The fields that differ between two things of a kind, with both values; one of them may not be there."""
    either = old or new
    for key in fields(type(either)) if either else ():
        if key not in skip:
            one, other = getattr(old, key, None), getattr(new, key, None)
            if one != other:
                yield key, one, other
