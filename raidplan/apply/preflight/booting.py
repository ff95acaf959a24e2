"""Whether the machine can start what the plan installs: its firmware, the signatures that this asks for, and what GRUB reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from raidplan.apply.preflight.situation import Situation
from raidplan.apply.preflight.versions import is_written, numbers, runs, written
from raidplan.apply.refusal import Refusal, refusal
from raidplan.plan import Run
from raidplan.plan.boot_loaders import INSTALL, PLATFORMS, SHIM, SIGNED, SIGNED_PACKAGES

ALL_READ = "2.06"
"""The GRUB of Debian 12: a system with an older one is not expected where its version is not known."""


def firmwares(situation: Situation) -> set[str]:
    """The firmware that boot loaders of the layout are installed for; none without a loader."""
    steps = (situation.whole or situation.plan).steps
    words = {word for step in steps if isinstance(step.action, Run) for word in step.action.argv}
    return {name for name, platform in PLATFORMS.items() if platform.option in words}


def other_firmware(situation: Situation) -> Iterator[Refusal]:
    """The firmware in use would not start the loader: it goes by boot sectors or by EFI system partitions, not by both."""
    for firmware in firmwares(situation):
        found = situation.machine.firmware
        if found in PLATFORMS and found != firmware:
            yield refusal("firmware-differs", planned=firmware, found=found)


def unsigned(situation: Situation) -> Iterator[Refusal]:
    """Secure Boot would not start the loader of the system."""
    firmware = situation.machine.observe("firmware", "uefi") or {}
    if not firmware.get("secure_boot") or "uefi" not in firmwares(situation):
        return
    system = situation.machine.observe("system", "target") or {"installed": True}
    missing = [
        package
        for package, file in zip(SIGNED_PACKAGES, (SIGNED, SHIM), strict=True)
        if not Path(situation.at(file)).exists()
    ]
    if system["installed"] and missing:
        yield refusal("loader-unsigned", place=str(situation.at("/")), missing=tuple(missing))


def unreadable(situation: Situation) -> Iterator[Refusal]:
    """Why GRUB could not read the file system of the kernels, which is still to be made.

    Of a system that is not there yet, GRUB is taken for that of this one; without any, its version is not known.
    """
    if not firmwares(situation):
        return
    whole, machine = situation.whole or situation.plan, situation.machine
    mounts = {
        step.proof.key: step.because for step in whole.steps if step.proof and step.proof.kind == "mount"
    }
    place = mounts.get("/boot", mounts.get("/"))
    system = machine.observe("system", "target") or {}
    grub = str(system.get("grub") or (machine.observe("tool", INSTALL) or {}).get("version", ""))
    rows = [row for row in written() if row.grub and is_written(row, situation.plan, machine)]
    for step in situation.plan.steps:
        row = next((row for row in reversed(rows) if runs(step, row.program, row.words)), None)
        if row and step.because == place and numbers(grub or ALL_READ) < numbers(row.grub):
            yield refusal(
                "loader-cannot-read", "" if grub else "unknown", place=place, line=step.line,
                what=row.what, program=row.program, since=row.grub, version=grub,
            )  # fmt: skip
