"""Rules about the hours after a failure, until the redundancy is back."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.levels import LEVELS
from raidplan.rules.engine import Hit, rule
from raidplan.rules.subjects import array_disks, arrays

if TYPE_CHECKING:
    from raidplan.topology import Topology

UNREADABLE = (1e-14, 1e-15)
"""Unreadable bits per bit read that makers specify as an upper bound, for desktop and for server disks."""
LIKELY = 0.5
"""A bound on the chance of a read error that is worth a line."""


@rule(Severity.NOTE)
def read_error_in_rebuild(topology: Topology) -> Iterator[Hit]:
    """A rebuild of single parity reads so much that a read error can be expected by the disks' specification.

    Why: after a failure raid5 has no redundancy left, and a sector that cannot be read is lost. Makers
    promise less than one unreadable bit in 10^14 read (10^15 for server disks), which bounds the chance by
    1 - exp(-8 * bytes * rate): 12.5 TB give 63 % and 9.5 %. It is a bound and no forecast; scrubs of
    hundreds of TB without an error are common. And md does not give up the array: it records the bad block
    and goes on. A monthly scrub finds such sectors while they can still be repaired.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 3TB, rotational: true}}
    arrays:
      s0:
        level: raid5
        members: [d<0-3>]    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-4>: {size: 3TB, rotational: true}}
    arrays:
      s0: {level: raid6, members: [d<0-4>]}
    ```

    Source: https://www.tablix.org/~avian/blog/archives/2021/02/raid_and_hard_disk_read_errors/; md(4),
    "BAD BLOCK LIST".
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        device, count = topology.devices.get(name), len(array.named_members)
        if device is None or LEVELS[array.level].parity != 1:
            continue
        if not all(disks[disk].rotational for disk in array_disks(topology, array)):
            continue
        desktop, server = (1 - exp(-8 * device.size * rate) for rate in UNREADABLE)
        if desktop >= LIKELY:
            yield Hit(
                (*path, "members"),
                f"a rebuild of {name} reads {device.size / 1e12:.1f} TB from {count - 1} disks; their "
                f"specification bounds the chance of an unreadable sector by {desktop:.0%} at 1 bit in 10^14, "
                f"{server:.0%} at 10^15",
                "scrub monthly, replace disks before they fail (mdadm --replace), or choose raid6",
            )
