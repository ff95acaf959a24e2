"""The boot loaders of a machine: in the boot sectors of its disks and on EFI system partitions, and the menu of GRUB."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from raidplan.base.size import SECTOR
from raidplan.facts.block import read_at, text_of
from raidplan.facts.machine import Properties
from raidplan.facts.readings import Readings
from raidplan.facts.systemd_boot import content, efi_files, read_systemd_boot
from raidplan.plan.boot_loaders import (
    CONFIG,
    CORE,
    CORE_SECTOR,
    EFI_IMAGES,
    GRUB,
    NO_DEVICES,
    OWN_TO_EACH_DISK,
)
from raidplan.plan.partitions import TYPE_CODES

BIOS_BOOT, ESP = TYPE_CODES["bios-boot"].lower(), TYPE_CODES["esp"].lower()
ANSWERS = "var/cache/debconf/config.dat"


def read_boot_loaders(readings: Readings, system: Path) -> dict[str, Properties]:
    """By UUID of a BIOS boot partition, or of a mounted EFI system partition: the `loader` that is started from there, and
    whether it is the `current` one.

    GRUB is current if the image on the disk is the one that the system has below /boot, or signed in a package; systemd-boot if
    the partition has every kernel as well.
    """
    return {**dict(_in_boot_sectors(readings, system)), **dict(_on_esps(readings, system))}


def _on_esps(readings: Readings, system: Path) -> Iterator[tuple[str, Properties]]:
    for mount in readings.mounts:
        block = readings.blocks.get(mount.device)
        table = readings.tables.get(block.disk) if block and block.partition else None
        for entry in table.entries if table else ():
            if block and entry.number == block.partition and entry.type == ESP:
                folder = readings.root / mount.point.lstrip("/")
                yield entry.uuid, read_systemd_boot(folder, system) or _grub_on(folder, system)


def _grub_on(folder: Path, system: Path) -> Properties:
    images = EFI_IMAGES[GRUB]
    wanted = efi_files(images, system)
    # A signed GRUB has its folder built in, and finds its menu by the file there.
    led = not content(system, images.signed) or any(
        found.parent.name.upper() != "BOOT" for found in folder.glob("EFI/*/grub.cfg")
    )
    current = bool(wanted) and led and all(content(folder, name) == data for name, data in wanted.items())
    return {"loader": GRUB if [*folder.glob("EFI/*/grubx64.efi")] else "", "current": current}


def _in_boot_sectors(readings: Readings, system: Path) -> Iterator[tuple[str, Properties]]:
    core = content(system, CORE)
    for name, table in readings.tables.items():
        for entry in table.entries:
            if entry.type != BIOS_BOOT:
                continue
            try:
                first = read_at(readings.root / "dev" / name, 0, SECTOR)
                found = (
                    read_at(readings.root / "dev" / name, entry.start, min(len(core), entry.size))
                    if core
                    else b""
                )
            except OSError:
                continue
            here = (
                len(first) == SECTOR
                and struct.unpack_from("<Q", first, CORE_SECTOR)[0] * SECTOR == entry.start
            )
            same = len(core) > OWN_TO_EACH_DISK and found[OWN_TO_EACH_DISK:] == core[OWN_TO_EACH_DISK:]
            yield entry.uuid, {"loader": GRUB if here else "", "current": here and same}


def read_boot_menu(system: Path) -> dict[str, Properties]:
    """The menu of GRUB: the `root` that its kernels get, several separated by blanks."""
    lines = [line.split() for line in text_of(system / CONFIG.lstrip("/")).splitlines()]
    roots = [
        word.removeprefix("root=")
        for line in lines
        if line[:1] == ["linux"]
        for word in line
        if word.startswith("root=")
    ]
    return {GRUB: {"root": " ".join(dict.fromkeys(roots))}} if lines else {}


def read_answers(system: Path) -> dict[str, Properties]:
    """The answer to Debian's question whether grub-pc may install to no disk: its `value` (debconf-devel(7))."""
    for stanza in text_of(system / ANSWERS).split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        if fields.get("Name") == NO_DEVICES:
            return {NO_DEVICES: {"value": fields.get("Value", "")}}
    return {}
