"""The steps that install the boot loader which the layout names, wherever the firmware can load it from, and keep it the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from shlex import quote

from raidplan.base.words import listed
from raidplan.plan.boot_loaders import (
    ANSWER,
    BEHIND_SHIM,
    CONFIG,
    CORE,
    DPKG,
    EFI_CORE,
    GRUB,
    HOOK,
    MENU,
    MODULES,
    NO_DEVICES,
    OWN_TO_EACH_DISK,
    PLATFORMS,
    REMOVABLE,
    SHIM,
    SIGNED,
    enter,
    install_bios,
    install_efi,
)
from raidplan.plan.places import RULES_BEGIN
from raidplan.plan.step import Proof, Run, Step, WriteFile
from raidplan.topology import Topology
from raidplan.topology.boot_places import BootPlace, boot_places, made_root

BEFORE = ("config.fstab", "config.initramfs")
"""Steps whose files the menu speaks of."""


def boot_steps(topology: Topology) -> Iterator[Step]:
    """The steps of `boot.loader: grub`; none without a root file system in the layout, or where no firmware is named."""
    root, firmware = _root(topology), topology.layout.hardware.firmware
    places = [place for place in boot_places(topology) if place.name in topology.devices]
    if not root or not firmware or not places:
        return
    uuids = [topology.devices[place.name].uuid for place in places]
    install = _in_boot_sector if firmware == "bios" else _on_esp
    installed = [install(place, uuid) for place, uuid in zip(places, uuids, strict=True)]
    menu = _menu(root, installed)
    entered = [_no_devices()] if firmware == "bios" else [*_entries(topology, places)]
    # An EFI system partition is mounted before.
    phase = "configure" if firmware == "bios" or topology.target else "activate"
    for step in (*installed, menu, *entered, *_hook(firmware, topology, places, menu)):
        yield replace(step, phase=phase)


def _in_boot_sector(place: BootPlace, uuid: str) -> Step:
    return Step(
        id=f"boot.grub.{place.disk}",
        phase="configure",
        say=f"install GRUB on {place.disk}: the boot sector, and its core image in {place.name}",
        action=Run(install_bios(f"{{{place.disk}}}"), inside=True),
        because="boot",
        needs=BEFORE,
        # One after the other: each writes the same files below /boot.
        targets=("/boot/grub",),
        proof=Proof("boot_loader", uuid, {"loader": GRUB, "current": True}),
    )


def _on_esp(place: BootPlace, uuid: str) -> Step:
    return Step(
        id=f"boot.grub.{place.name}",
        phase="configure",
        say=f"install GRUB on {place.name} at {place.mount}, and as {REMOVABLE} there",
        action=Run(install_efi(place.mount), inside=True),
        because="boot",
        needs=(*BEFORE, f"filesystem.{place.filesystem}.mount"),
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


def _entries(topology: Topology, places: Sequence[BootPlace]) -> Iterator[Step]:
    """The last first, because the firmware tries first what was entered last."""
    before: tuple[str, ...] = ()
    host = topology.host
    for place in reversed(places):
        step = Step(
            id=f"boot.entry.{place.name}",
            phase="configure",
            say=f"enter {place.name} into the firmware's boot order, as '{host} {place.disk}'",
            action=Run(enter(f"{{{place.disk}}}", place.number, f"{host} {place.disk}"), inside=True),
            because="boot",
            needs=(*before, "boot.menu"),
            targets=("the firmware's boot order",),
            proof=Proof("boot_entry", topology.devices[place.name].uuid, {"removable": True}),
        )
        before = (step.id,)
        yield step


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


def _hook(firmware: str, topology: Topology, places: Sequence[BootPlace], menu: Step) -> Iterator[Step]:
    script = files("raidplan.compiler").joinpath("boot_loaders.sh").read_text("utf-8")
    uuids = {place: topology.devices[place.name].uuid for place in places}
    own = [
        f"esp {uuid} {quote(place.mount)}" if place.mount else f"boot_sector {uuid}"
        for place, uuid in uuids.items()
    ]
    values = {
        "HOST": topology.host,
        "CORE": CORE,
        "EFI_CORE": EFI_CORE,
        "SIGNED": SIGNED,
        "SHIM": SHIM,
        "OWN": str(OWN_TO_EACH_DISK),
        "REMOVABLE": REMOVABLE,
        "BEHIND_SHIM": BEHIND_SHIM,
        "MODULES": f"{MODULES}/{PLATFORMS[firmware].name}",
        "BIOS": " ".join(install_bios('"$disk"')),
        "UEFI": " ".join(install_efi('"$2"')),
        "PLACES": "\n".join(own),
    }
    for mark, value in values.items():
        script = script.replace(f"@{mark}@", value)
    yield Step(
        id="config.boot",
        phase="configure",
        say=f"write {HOOK}, which gives {listed([place.name for place in places], last=' and ')} the boot loader of the installed packages",
        action=WriteFile(HOOK, script, 0o755),
        because="boot",
        needs=(menu.id,),
        targets=(HOOK,),
    )
    yield Step(
        id="config.boot.dpkg",
        phase="configure",
        say=f"let dpkg run it after every update, by {DPKG}",
        action=WriteFile(DPKG, f"{RULES_BEGIN}\npost-invoke=if [ -x {HOOK} ]; then {HOOK}; fi\n"),
        because="boot",
        needs=("config.boot",),
        targets=(DPKG,),
    )


def _root(topology: Topology) -> str:
    """The root file system as GRUB's menu names it to the kernel: by UUID, a logical volume by its node (10_linux of GRUB)."""
    item = made_root(topology)
    if item is None:
        return ""
    device = topology.taken(next(item.kind.uses(item.name, item.path)))
    if device.kind == "volume":
        return "/dev/mapper/" + "-".join(part.replace("-", "--") for part in device.uuid.split("/"))
    make = next(item.kind.steps(item.name, item.path, topology))
    return f"UUID={make.proof.key if make.proof else ''}"
