"""The steps that install the boot loader which the layout names, wherever the firmware can load it from, and keep it the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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

BEFORE = ("config.fstab", "config.initramfs")
"""Steps whose files the menu speaks of."""


@dataclass(frozen=True, slots=True)
class Place:
    """A partition that the firmware starts a loader from."""

    disk: str
    name: str
    """The name of the partition in the layout."""
    uuid: str
    number: int
    """The number in the partition table."""
    filesystem: str = ""
    """For an EFI system partition, the name of its file system in the layout, and the mount point."""
    mount: str = ""


def boot_steps(topology: Topology) -> Iterator[Step]:
    """The steps of `boot.loader: grub`; none without a root file system in the layout, or where no firmware is named."""
    layout, root = topology.layout, _root(topology)
    firmware = layout.hardware.firmware
    if layout.boot.loader != GRUB or not root or not firmware:
        return
    places = [*(_bios_boot(topology) if firmware == "bios" else _esps(topology))]
    if not places:
        return
    installed = [_in_boot_sector(place) if firmware == "bios" else _on_esp(place) for place in places]
    menu = _menu(root, installed)
    entered = [_no_devices()] if firmware == "bios" else [*_entries(topology.host, places)]
    # An EFI system partition is mounted before.
    phase = "configure" if firmware == "bios" or topology.target else "activate"
    for step in (*installed, menu, *entered, *_hook(firmware, topology.host, places, menu)):
        yield replace(step, phase=phase)


def _in_boot_sector(place: Place) -> Step:
    return Step(
        id=f"boot.grub.{place.disk}",
        phase="configure",
        say=f"install GRUB on {place.disk}: the boot sector, and its core image in {place.name}",
        action=Run(install_bios(f"{{{place.disk}}}"), inside=True),
        because="boot",
        needs=BEFORE,
        # One after the other: each writes the same files below /boot.
        targets=("/boot/grub",),
        proof=Proof("boot_loader", place.uuid, {"loader": GRUB, "current": True}),
    )


def _on_esp(place: Place) -> Step:
    return Step(
        id=f"boot.grub.{place.name}",
        phase="configure",
        say=f"install GRUB on {place.name} at {place.mount}, and as {REMOVABLE} there",
        action=Run(install_efi(place.mount), inside=True),
        because="boot",
        needs=(*BEFORE, f"filesystem.{place.filesystem}.mount"),
        targets=("/boot/grub",),
        proof=Proof("boot_loader", place.uuid, {"loader": GRUB, "current": True}),
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


def _entries(host: str, places: Sequence[Place]) -> Iterator[Step]:
    """The last first, because the firmware tries first what was entered last."""
    before: tuple[str, ...] = ()
    for place in reversed(places):
        step = Step(
            id=f"boot.entry.{place.name}",
            phase="configure",
            say=f"enter {place.name} into the firmware's boot order, as '{host} {place.disk}'",
            action=Run(enter(f"{{{place.disk}}}", place.number, f"{host} {place.disk}"), inside=True),
            because="boot",
            needs=(*before, "boot.menu"),
            targets=("the firmware's boot order",),
            proof=Proof("boot_entry", place.uuid, {"removable": True}),
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


def _hook(firmware: str, host: str, places: Sequence[Place], menu: Step) -> Iterator[Step]:
    script = files("raidplan.compiler").joinpath("boot_loaders.sh").read_text("utf-8")
    own = [
        f"esp {place.uuid} {quote(place.mount)}" if place.mount else f"boot_sector {place.uuid}"
        for place in places
    ]
    values = {
        "HOST": host,
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


def _bios_boot(topology: Topology) -> Iterator[Place]:
    """The BIOS boot partition of each disk that has one; GRUB takes the first."""
    for disk, described in topology.layout.hardware.disks.items():
        for number, (part, entry) in enumerate(described.partitions.items(), 1):
            device = topology.devices.get(f"{disk}.{part}")
            if entry.type == "bios-boot" and device:
                yield Place(disk, device.name, device.uuid, number)
                break


def _esps(topology: Topology) -> Iterator[Place]:
    """The EFI system partitions with a mounted FAT, in the order of the disks."""
    layout = topology.layout
    on = {
        entry.device: (name, entry)
        for name, entry in layout.filesystems.items()
        if entry.type == "vfat" and entry.mount
    }
    for disk, described in layout.hardware.disks.items():
        for number, (part, entry) in enumerate(described.partitions.items(), 1):
            device = topology.devices.get(f"{disk}.{part}")
            is_one = entry.type == "esp" or f"{disk}.{part}" in topology.esps
            if device and is_one and device.name in on:
                name, filesystem = on[device.name]
                yield Place(disk, device.name, device.uuid, number, name, filesystem.mount or "")


def _root(topology: Topology) -> str:
    """The root file system as GRUB's menu names it to the kernel: by UUID, a logical volume by its node (10_linux of GRUB)."""
    for item in topology.items:
        entry = topology.layout.filesystems.get(item.name) if item.path[0] == "filesystems" else None
        if entry and entry.mount == "/":
            device = topology.taken(next(item.kind.uses(item.name, item.path)))
            make = next(item.kind.steps(item.name, item.path, topology))
            if device.kind == "volume":
                return "/dev/mapper/" + "-".join(part.replace("-", "--") for part in device.uuid.split("/"))
            return f"UUID={make.proof.key if make.proof else ''}"
    return ""
