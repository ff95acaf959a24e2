"""The partition that somebody means who writes the kernel's name of one: `sda1`, `nvme0n1p2`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from raidplan.base.findings import suggestion
from raidplan.layout.kinds.disk import Disk

_NUMBERED = re.compile(r"(.+?)(?:(?<=[0-9])p|(?<=[^0-9]))([1-9][0-9]?)")
"""The kernel writes a `p` between, where the name of the disk ends with a digit (block/partitions/core.c, `add_partition`)."""


def meant_partition(word: str, disks: Mapping[str, Disk]) -> str:
    """A hint for the name of a partition as the kernel has it; empty for any other word."""
    match = _NUMBERED.fullmatch(word)
    disk = disks.get(match[1]) if match else None
    if match is None or disk is None:
        return ""
    names, number = list(disk.partitions), int(match[2])
    if number <= len(names):
        return suggestion(f"{match[1]}.{names[number - 1]}")
    return f"describe it under hardware.disks.{match[1]}.partitions, and call it {match[1]}.NAME"
