"""The firmware and GRUB of this machine against the plan: whether they can start what it installs, and by which signatures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from raidplan.apply.change.members import unreadable_by_grub
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.preflight.versions import is_written, numbers, runs, written
from raidplan.apply.refusal import Refusal, refusal
from raidplan.plan.boot_loaders import (
    EFI_IMAGES,
    GRUB,
    HOOK,
    INSTALL,
    MENU,
    PLATFORMS,
    SYSTEMD_BOOT,
    loaders_of,
)

ALL_READ = "2.06"
"""The GRUB of Debian 12: a system with an older one is not expected where its version is not known."""


def loaders(situation: Situation) -> set[tuple[str, str]]:
    """The loader that the layout installs, with the firmware that starts it; none without one."""
    return loaders_of((situation.whole or situation.plan).commands)


def other_firmware(situation: Situation) -> Iterator[Refusal]:
    """A firmware that cannot start the boot loader: a BIOS reads boot sectors, UEFI reads an EFI system partition."""
    for _, firmware in loaders(situation):
        found = situation.machine.firmware
        if found in PLATFORMS and found != firmware:
            yield refusal("firmware-differs", planned=firmware, found=found)


def unsigned(situation: Situation) -> Iterator[Refusal]:
    """Secure Boot would not start the loader of the system."""
    firmware = situation.machine.observe("firmware", "uefi") or {}
    by_uefi = [loader for loader, by in loaders(situation) if by == "uefi"]
    if not firmware.get("secure_boot") or not by_uefi:
        return
    system = situation.machine.observe("system", "target") or {"installed": True}
    missing = [
        package
        for package, file in EFI_IMAGES[by_uefi[0]].signatures.items()
        if not Path(situation.at(file)).exists()
    ]
    if system["installed"] and missing:
        yield refusal("loader-unsigned", place=str(situation.at("/")), missing=tuple(missing))


def unreadable(situation: Situation) -> Iterator[Refusal]:
    """Why GRUB could not read the file system of the kernels: one that is still to be made, or whose mirror is not whole.

    Of a system that is not there yet, GRUB is taken for that of this one; without any, its version is not known.
    """
    if GRUB not in {loader for loader, _ in loaders(situation)}:
        return
    yield from _still_rebuilt(situation)
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


def _still_rebuilt(situation: Situation) -> Iterator[Refusal]:
    """Arrays of which GRUB may read a member that is still rebuilding, when it is installed from them."""
    if any(argv[0] in (INSTALL, MENU) for argv in situation.plan.commands):
        for step, node in unreadable_by_grub(situation.whole or situation.plan, situation.machine):
            yield refusal("loader-cannot-read", "rebuilt", place=step.because, line=step.line, node=node)


def without_image(situation: Situation) -> Iterator[Refusal]:
    """systemd-boot is to be copied, and the system that runs has none."""
    copied = any(HOOK in argv for argv in situation.plan.commands)
    image = EFI_IMAGES[SYSTEMD_BOOT].plain
    if copied and not situation.plan.target and not Path(image).exists():
        yield refusal("program-missing", place=image)
