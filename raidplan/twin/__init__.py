"""The virtual twin of a server: a QEMU machine built from Debian's packages, with the given disks behind the
given controllers, real kernel and real md. `Twin.start(disks)` boots one from a cached image; `run`, `put`,
`get`, `reboot`, `power_cut`, `unplug` and `plug` do to it what can happen to a server; leaving the context ends it.
"""

from raidplan.twin.failure import (
    BootFailed,
    BuildFailed,
    CommandFailed,
    CommandTimeout,
    ConnectionLost,
    TwinError,
)
from raidplan.twin.hardware import Disk, Link
from raidplan.twin.image import Image, cache_folder, find_or_build
from raidplan.twin.machine import Twin
from raidplan.twin.recipe import Recipe
from raidplan.twin.ssh import Result

__all__ = [
    "BootFailed",
    "BuildFailed",
    "CommandFailed",
    "CommandTimeout",
    "ConnectionLost",
    "Disk",
    "Image",
    "Link",
    "Recipe",
    "Result",
    "Twin",
    "TwinError",
    "cache_folder",
    "find_or_build",
]
