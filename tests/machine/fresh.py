"""A fresh server in a rescue system: its machine, the command that makes it, and an installer."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from raidplan.plan.boot_loaders import LOADERS
from raidplan.review.pipeline import Loaded
from raidplan.twin.rehearsal.making import CONSOLE, FILL
from raidplan.twin.rehearsal.stages import RAIDPLAN
from raidplan.twin.server import Disk, Recipe, Twin
from raidplan.twin.server.recipe import PACKAGES
from raidplan.twin.server.wiring import disks_of
from tests.machine.boots import Combination
from tests.machine.servers import SIDE_BY_SIDE

SECURE = ("grub-efi-amd64-signed", "shim-signed")
BOOT_SECONDS = 900
KERNEL = (
    """$(dpkg-query --admindir="$1/var/lib/dpkg" --show --showformat='${db:Status-Abbrev}${Package}\\n' """
    """'linux-image-[0-9]*' | sed -n 's/^ii *//p')"""
)
"""The package of the installed kernel, whose name has its version in it; in the shell of mmdebstrap's hook."""
FILE = "/root/fresh.yaml"
"""The layout in the server."""


def disks_of_fresh(loaded: Loaded) -> list[Disk]:
    """The disks of a layout, all at one controller, from which any firmware boots."""
    assert loaded.layout is not None
    return [replace(disk, behind="onboard") for disk in disks_of(loaded.layout)]


def started(
    combination: Combination, disks: Sequence[Disk], folder: Path, say: Callable[[str], None]
) -> AbstractContextManager[Twin]:
    """The rescue system, with the packages of the loader, and those that are installed once more at hand."""
    secure = combination.firmware == "secure"
    loader = (
        (*LOADERS["uefi", "grub"], *SECURE) if secure else LOADERS[combination.firmware, combination.loader]
    )
    recipe = Recipe(release=combination.release, packages=(*PACKAGES, *loader), archives=(loader[0], KERNEL))
    return Twin.start(disks, cpus=SIDE_BY_SIDE, directory=folder, recipe=recipe, firmware=combination.firmware, boot_timeout=BOOT_SECONDS, say=say)  # fmt: skip


def apply(*options: str) -> list[str]:
    """The command that makes the server, or looks whether there is anything to do."""
    return ["sh", "-c", f'{shlex.join(RAIDPLAN)} apply {FILE} "$@" --confirm "$(sed -n "s/^host: //p" {FILE})"', "sh", *options]  # fmt: skip


def fill(twin: Twin) -> None:
    """A whole system copied below the target, as an installer leaves it."""
    twin.run(["sh", "-c", FILL], stdin=CONSOLE.encode(), timeout=1800)


def nothing_to_do(twin: Twin) -> None:
    """On the booted server `apply` finds nothing to do."""
    again = twin.run(apply(), check=False, timeout=600)
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stdout + again.stderr
