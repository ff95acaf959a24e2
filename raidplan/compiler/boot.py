"""The steps that install the boot loader which the layout names, on every disk that the firmware can load it from."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.plan.boot_loaders import CONFIG, GRUB, MENU, install_bios
from raidplan.plan.step import Proof, Run, Step
from raidplan.topology import Topology

BEFORE = ("config.fstab", "config.initramfs")
"""Steps whose files the menu speaks of."""


def boot_steps(topology: Topology) -> Iterator[Step]:
    """The steps of `boot.loader: grub` on a BIOS; none without a root file system in the layout."""
    hardware, root = topology.layout.hardware, _root(topology)
    if topology.layout.boot.loader != GRUB or hardware.firmware != "bios" or not root:
        return
    installed = [*_on_each_disk(topology)]
    yield from installed
    if installed:
        yield Step(
            id="boot.menu",
            phase="configure",
            say=f"make GRUB's menu of the kernels in /boot, {CONFIG}",
            action=Run((MENU,), inside=True),
            because="boot",
            needs=tuple(step.id for step in installed),
            targets=(CONFIG,),
            proof=Proof("boot_menu", GRUB, {"root": root}),
        )


def _on_each_disk(topology: Topology) -> Iterator[Step]:
    for name in topology.layout.hardware.disks:
        for part, uuid in _bios_boot(name, topology):
            yield Step(
                id=f"boot.grub.{name}",
                phase="configure",
                say=f"install GRUB on {name}: the boot sector, and its core image in {part}",
                action=Run(install_bios(f"{{{name}}}"), inside=True),
                because="boot",
                needs=BEFORE,
                # One after the other: each writes the same files below /boot.
                targets=("/boot/grub",),
                proof=Proof("boot_loader", uuid, {"loader": GRUB, "current": True}),
            )


def _bios_boot(disk: str, topology: Topology) -> Iterator[tuple[str, str]]:
    """The BIOS boot partition of a disk: its name and UUID; GRUB takes the first."""
    for part, entry in topology.layout.hardware.disks[disk].partitions.items():
        device = topology.devices.get(f"{disk}.{part}")
        if entry.type == "bios-boot" and device:
            yield device.name, device.uuid
            return


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
