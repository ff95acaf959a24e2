"""The boot loaders of a machine: GRUB in the boot sectors of its disks, and the menu of GRUB."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from raidplan.facts.block import read_at, text_of
from raidplan.facts.machine import Properties
from raidplan.facts.readings import Readings
from raidplan.plan.boot_loaders import CONFIG, CORE, CORE_SECTOR, GRUB, OWN_TO_EACH_DISK
from raidplan.plan.partitions import TYPE_CODES

BIOS_BOOT = TYPE_CODES["bios-boot"].lower()
SECTOR = 512


def read_boot_loaders(readings: Readings, system: Path) -> dict[str, Properties]:
    """By UUID of a BIOS boot partition: the `loader` that its disk starts from there, and whether it is the `current` one.

    GRUB is current if the core image on the disk is the one that lies below /boot of the system.
    """
    return dict(_read(readings, system))


def _read(readings: Readings, system: Path) -> Iterator[tuple[str, Properties]]:
    core = b""
    with suppress(OSError):
        core = (system / CORE.lstrip("/")).read_bytes()
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
