"""The documentation of findings that are made before any rule runs: names that lead to no device, or to one that is taken."""

from __future__ import annotations

from raidplan.base.findings import Severity
from raidplan.rules.lib.engine import stated


@stated(Severity.ERROR)
def unknown_device() -> None:
    """A device is used that the layout does not describe.

    Why: only what is described can be found on the machine and be proven blank.

    Bad:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid6, members: [d<0-4>]}    # <-- here

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def device_used_twice() -> None:
    """Two things are to stand on one device.

    Why: the one made later would destroy the other.

    Bad:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid1, members: [d0, d1]}
          s1: {level: raid1, members: [d1, d2]}    # <-- here

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid1, members: [d0, d1]}
          s1: {level: raid1, members: [d2, d3]}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def duplicate_name() -> None:
    """Two things have one name.

    Why: whatever names it would mean either of them.

    Bad:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          d1: {level: raid1, members: [d2, d3]}    # <-- here

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s1: {level: raid1, members: [d2, d3]}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def pool_too_small() -> None:
    """A pool has fewer free devices than members are to be picked from it.

    Why: devices that another array has are not free, and neither is a disk with partitions.

    Bad:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0:
            level: raid5
            members:
              from: [d<0-3>]
              count: 5    # <-- here
              spread: multiplier

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid5, members: {from: [d<0-3>], count: 4, spread: multiplier}}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def cycle() -> None:
    """Devices stand on each other in a circle.

    Why: none of them can be made first.

    Bad:
        arrays:
          a: {level: raid1, members: [b]}    # <-- here
          b: {level: raid1, members: [a]}

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          a: {level: raid0, members: [d0, d1]}
          b: {level: raid1, members: [a, d2]}

    Source: the layout file's own contract.
    """
