"""The steps that install the boot loader which the layout names, wherever the firmware can load it from, and keep it the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from raidplan.base.identity import disk_word, mapper_node
from raidplan.compiler import grub, systemd_boot
from raidplan.plan.boot_loaders import DPKG, GRUB, HOOK, SYSTEMD_BOOT, enter
from raidplan.plan.places import RULES_BEGIN
from raidplan.plan.step import Proof, Run, Step, WriteFile
from raidplan.topology import Topology
from raidplan.topology.boot_places import BootPlace, boot_places, made_root

BEFORE = ("config.fstab", "config.initramfs")
"""Steps whose files a loader copies or speaks of."""
LOADERS = {
    GRUB: (grub.install, grub.keep, "boot.menu"),
    SYSTEMD_BOOT: (systemd_boot.install, systemd_boot.keep, "boot.systemd-boot.{}"),
}
"""By the layout's word: what makes the steps that install it, those that keep it, and the step after which the firmware may start
it from a partition {}."""


def boot_steps(topology: Topology) -> Iterator[Step]:
    """The steps of `boot.loader`; none without a root file system in the layout, or where no firmware is named."""
    root, firmware = _root(topology), topology.layout.hardware.firmware
    places = [place for place in boot_places(topology) if place.name in topology.devices]
    if not root or not firmware or not places:
        return
    install, keep, ready = LOADERS[topology.layout.boot.loader or GRUB]
    entered = _entries(topology, places, ready) if firmware == "uefi" else ()
    # An EFI system partition is mounted before.
    phase = "activate" if firmware == "uefi" and not topology.target else "configure"
    for step in (*install(topology, places, root, BEFORE), *entered, *keep(topology, places), _dpkg()):
        yield replace(step, phase=phase)


def _entries(topology: Topology, places: Sequence[BootPlace], ready: str) -> Iterator[Step]:
    """The last first, because the firmware tries first what was entered last."""
    before: tuple[str, ...] = ()
    host = topology.host
    for place in reversed(places):
        step = Step(
            id=f"boot.entry.{place.name}",
            phase="configure",
            say=f"enter {place.name} into the firmware's boot order, as '{host} {place.disk}'",
            action=Run(enter(disk_word(place.disk), place.number, f"{host} {place.disk}"), inside=True),
            because="boot",
            needs=(*before, ready.format(place.name)),
            targets=("the firmware's boot order",),
            proof=Proof("boot_entry", topology.devices[place.name].uuid, {"removable": True}),
        )
        before = (step.id,)
        yield step


def _dpkg() -> Step:
    return Step(
        id="config.boot.dpkg",
        phase="configure",
        say=f"let dpkg run it after every update, by {DPKG}",
        action=WriteFile(DPKG, f"{RULES_BEGIN}\npost-invoke=if [ -x {HOOK} ]; then {HOOK}; fi\n"),
        because="boot",
        needs=("config.boot",),
        targets=(DPKG,),
    )


def _root(topology: Topology) -> str:
    """The root file system as a menu names it to the kernel: by UUID, a logical volume by its node (10_linux of GRUB)."""
    item = made_root(topology)
    if item is None:
        return ""
    device = topology.taken(next(item.kind.uses(item.name, item.path)))
    if device.kind == "volume":
        return mapper_node(device.uuid)
    make = next(item.kind.steps(item.name, item.path, topology))
    return f"UUID={make.proof.key if make.proof else ''}"
