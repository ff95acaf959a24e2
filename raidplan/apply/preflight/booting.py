"""Whether the machine can start what the plan installs: its firmware, and the signatures that this asks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.plan import Run
from raidplan.plan.boot_loaders import PLATFORMS, SHIM, SIGNED, SIGNED_PACKAGES


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
