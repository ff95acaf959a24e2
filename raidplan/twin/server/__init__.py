"""The virtual twin of a server: a QEMU machine of Debian's packages, with the given disks behind the given controllers.

It has a real kernel and real md. `Twin.start(disks)` boots one from a cached image; `run`, `put`, `get`, `shut_down`,
`start_again`, `power_cut`, `unplug` and `plug` do to it what happens to servers; leaving the context ends it.
"""

from raidplan.twin.server.failure import (
    BootError,
    BuildError,
    CommandError,
    CommandTimeoutError,
    HostError,
    TwinError,
    UnreachableError,
    end_of,
)
from raidplan.twin.server.hardware import Disk, Link
from raidplan.twin.server.image import Image, cache_folder, find_or_build
from raidplan.twin.server.install import install_raidplan
from raidplan.twin.server.machine import Twin
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.ssh import Result
from raidplan.twin.server.unflushed import lose_unflushed

__all__ = [
    "BootError",
    "BuildError",
    "CommandError",
    "CommandTimeoutError",
    "Disk",
    "HostError",
    "Image",
    "Link",
    "Recipe",
    "Result",
    "Twin",
    "TwinError",
    "UnreachableError",
    "cache_folder",
    "end_of",
    "find_or_build",
    "install_raidplan",
    "lose_unflushed",
]
