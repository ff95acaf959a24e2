"""The steps that install GRUB wherever the firmware can load it from, and keep it the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from raidplan.base.identity import disk_word
from raidplan.compiler.boot_script import script_step
from raidplan.plan.boot_loaders import (
    ANSWER,
    BEHIND_SHIM,
    CONFIG,
    CORE,
    EFI_IMAGES,
    GRUB,
    HOOK,
    MENU,
    MODULES,
    NO_DEVICES,
    OWN_TO_EACH_DISK,
    PLATFORMS,
    REMOVABLE,
    SHIM,
    install_bios,
    install_efi,
)
from raidplan.plan.step import Proof, Run, Step
from raidplan.topology import Topology
from raidplan.topology.boot_places import BootPlace


def install(
    topology: Topology, places: Sequence[BootPlace], root: str, before: tuple[str, ...]
) -> Iterator[Step]:
    """Installed at each place, and then the menu; `root` as the menu names it to the kernel."""
    bios = topology.layout.hardware.firmware == "bios"
    on = _in_boot_sector if bios else _on_esp
    installed = [on(place, topology.devices[place.name].uuid, before) for place in places]
    yield from (*installed, _menu(root, installed), *([_no_devices()] if bios else []))


def _in_boot_sector(place: BootPlace, uuid: str, before: tuple[str, ...]) -> Step:
    return Step(
        id=f"boot.grub.{place.disk}",
        phase="configure",
        say=f"install GRUB on {place.disk}: the boot sector, and its core image in {place.name}",
        action=Run(install_bios(disk_word(place.disk)), inside=True),
        because="boot",
        needs=before,
        # One after the other: each writes the same files below /boot.
        targets=("/boot/grub",),
        proof=Proof("boot_loader", uuid, {"loader": GRUB, "current": True}),
    )


def _on_esp(place: BootPlace, uuid: str, before: tuple[str, ...]) -> Step:
    return Step(
        id=f"boot.grub.{place.name}",
        phase="configure",
        say=f"install GRUB on {place.name} at {place.mount}, and as {REMOVABLE} there",
        action=Run(install_efi(place.mount), inside=True),
        because="boot",
        needs=(*before, f"filesystem.{place.filesystem}.mount"),
        targets=("/boot/grub",),
        proof=Proof("boot_loader", uuid, {"loader": GRUB, "current": True}),
    )


def _menu(root: str, installed: Sequence[Step]) -> Step:
    return Step(
        id="boot.menu",
        phase="configure",
        say=f"make GRUB's menu of the kernels in /boot, {CONFIG}",
        action=Run((MENU,), inside=True),
        because="boot",
        needs=tuple(step.id for step in installed),
        targets=(CONFIG,),
        proof=Proof("boot_menu", GRUB, {"root": root}),
    )


def _no_devices() -> Step:
    return Step(
        id="boot.grub-pc",
        phase="configure",
        say=f"let updates of grub-pc choose no disk by themselves ({NO_DEVICES}): {HOOK} has all of them",
        action=Run((ANSWER,), f"grub-pc {NO_DEVICES} boolean true\n", inside=True),
        because="boot",
        targets=(NO_DEVICES,),
        proof=Proof("answer", NO_DEVICES, {"value": "true"}),
    )


def keep(topology: Topology, places: Sequence[BootPlace]) -> Iterator[Step]:
    """The script that installs it again."""
    firmware = topology.layout.hardware.firmware or ""
    uuids = {place: topology.devices[place.name].uuid for place in places}
    own = [
        f"esp {uuid} {quote(place.mount)}" if place.mount else f"boot_sector {uuid}"
        for place, uuid in uuids.items()
    ]
    values = {
        "CORE": CORE,
        "EFI_CORE": EFI_IMAGES[GRUB].plain,
        "SIGNED": EFI_IMAGES[GRUB].signed,
        "SHIM": SHIM,
        "OWN": str(OWN_TO_EACH_DISK),
        "REMOVABLE": REMOVABLE,
        "BEHIND_SHIM": BEHIND_SHIM,
        "MODULES": f"{MODULES}/{PLATFORMS[firmware].name}",
        "BIOS": " ".join(install_bios('"$disk"')),
        "UEFI": " ".join(install_efi('"$2"')),
        "PLACES": "\n".join(own),
    }
    gives = "the boot loader of the installed packages"
    yield script_step(topology, places, "grub.sh", values, gives, ("boot.menu",))
