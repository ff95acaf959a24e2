"""The virtual twin of a server: a QEMU machine built from Debian's packages, with the given disks behind the
given controllers, a real kernel and real md. `Twin.start(disks)` boots one from a cached image; `run`, `put`,
`get`, `reboot`, `power_cut`, `unplug` and `plug` do to it what happens to servers; leaving the context ends it.
"""

from raidplan.twin.failure import (
    BootError,
    BuildError,
    CommandError,
    CommandTimeoutError,
    TwinError,
    UnreachableError,
)
from raidplan.twin.hardware import Disk, Link
from raidplan.twin.image import Image, cache_folder, find_or_build
from raidplan.twin.install import install_raidplan
from raidplan.twin.machine import Twin
from raidplan.twin.recipe import Recipe
from raidplan.twin.ssh import Result
from raidplan.twin.unflushed import lose_unflushed

__all__ = [
    "BootError",
    "BuildError",
    "CommandError",
    "CommandTimeoutError",
    "Disk",
    "Image",
    "Link",
    "Recipe",
    "Result",
    "Twin",
    "TwinError",
    "UnreachableError",
    "cache_folder",
    "find_or_build",
    "install_raidplan",
    "lose_unflushed",
]
