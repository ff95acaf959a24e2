"""Units and rounding shared by the geometry modules."""

from __future__ import annotations

from raidplan.base.size import GIB, KIB, MIB, TIB

__all__ = ["GIB", "KIB", "MIB", "SECTOR", "TIB", "ceil_div", "is_power_of_two", "round_down", "round_up"]

SECTOR = 512
"""The kernel's and mdadm's unit of length in bytes, whatever the disk's own sector size is."""


def round_up(value: int, step: int) -> int:
    """The smallest multiple of ``step`` that is at least ``value``."""
    return -(-value // step) * step


def round_down(value: int, step: int) -> int:
    """The largest multiple of ``step`` that is at most ``value``."""
    return value // step * step


def ceil_div(value: int, by: int) -> int:
    """``value / by``, rounded up."""
    return -(-value // by)


def is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0
