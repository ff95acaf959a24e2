"""The abilities of hard disks, from data sheets and geometry, where a layout says no more than that they turn."""

from __future__ import annotations

from math import expm1

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
