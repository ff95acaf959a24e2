"""The steps that put systemd-boot on every EFI system partition, with each kernel and its initramfs, and keep them the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from raidplan.compiler.boot_script import script_step
from raidplan.plan.boot_loaders import (
    AFTER_INITRAMFS,
    BEHIND_SHIM,
    COMMAND_LINE,
    EFI_IMAGES,
    HOOK,
    KERNELS,
    OWN_PATH,
    REMOVABLE,
    SHIM,
    SYSTEMD_BOOT,
    install_systemd_boot,
)
from raidplan.plan.places import RULES_BEGIN
from raidplan.plan.step import Proof, Run, Step, WriteFile
from raidplan.topology import Topology
from raidplan.topology.boot_places import BootPlace


def install(
    topology: Topology, places: Sequence[BootPlace], root: str, before: tuple[str, ...]
) -> Iterator[Step]:
    """The script that copies, and one run of it for each place; `root` as kernels take it."""
    yield _script(topology, places, root)
    for place in places:
        yield Step(
            id=f"boot.systemd-boot.{place.name}",
            phase="configure",
            say=f"install systemd-boot on {place.name} at {place.mount}, with every kernel and its initramfs",
            action=Run(install_systemd_boot(place.mount), inside=True),
            because="boot",
            needs=(*before, "config.boot", f"filesystem.{place.filesystem}.mount"),
            # It has a copy of the initramfs.
            follows=("config.initramfs",),
            targets=(f"{place.mount}/{KERNELS}",),
            proof=Proof(
                "boot_loader",
                topology.devices[place.name].uuid,
                {"loader": SYSTEMD_BOOT, "current": True, "root": root},
            ),
        )


def keep(_: Topology, places: Sequence[BootPlace]) -> Iterator[Step]:
    """The file by which update-initramfs runs the script."""
    yield Step(
        id="config.boot.initramfs",
        phase="configure",
        say=f"let update-initramfs run {HOOK} after every change, by {AFTER_INITRAMFS}",
        action=WriteFile(
            AFTER_INITRAMFS, f"#!/bin/sh\n{RULES_BEGIN}\n[ ! -x {HOOK} ] || exec {HOOK}\n", 0o755
        ),
        because="boot",
        needs=tuple(f"boot.systemd-boot.{place.name}" for place in places),
        targets=(AFTER_INITRAMFS,),
    )


def _script(topology: Topology, places: Sequence[BootPlace], root: str) -> Step:
    images = EFI_IMAGES[SYSTEMD_BOOT]
    values = {
        "PLAIN": images.plain,
        "SIGNED": images.signed,
        "SHIM": SHIM,
        "COMMAND_LINE": COMMAND_LINE,
        "KERNELS": KERNELS,
        "ROOT": root,
        "OWN": OWN_PATH,
        "REMOVABLE": REMOVABLE,
        "BEHIND_SHIM": BEHIND_SHIM,
        "PLACES": "\n".join(
            f"esp {topology.devices[place.name].uuid} {quote(place.mount)}" for place in places
        ),
    }
    gives = "systemd-boot, the kernels and their initramfs"
    return script_step(topology, places, "systemd_boot.sh", values, gives)
