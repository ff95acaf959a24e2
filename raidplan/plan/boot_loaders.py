"""GRUB as plans install it: its commands, its files, and what proves it.

Sources: grub-install(8), update-grub(8); grub-core/boot/i386/pc/boot.S, include/grub/offsets.h and util/setup.c of GRUB 2.06.
"""

from __future__ import annotations

GRUB = "grub"
INSTALL = "grub-install"
MENU = "update-grub"
PROGRAMS = (INSTALL, MENU)
"""The programs of the machine's own system that install GRUB, in Debian's packages grub-pc and grub2-common."""
CORE = "/boot/grub/i386-pc/core.img"
"""The core image that `grub-install` made last, a copy of which each disk has."""
CONFIG = "/boot/grub/grub.cfg"
CORE_SECTOR = 0x5C
"""The place in the boot sector of the number of the core image's first sector of 512 bytes, 8 bytes (`GRUB_BOOT_MACHINE_KERNEL_SECTOR`)."""
OWN_TO_EACH_DISK = 1024
"""The bytes at the front of a core image that depend on its place: the list of its sectors, and the extent of its redundancy."""


def install_bios(disk: str) -> tuple[str, ...]:
    """The command that puts boot sector and core image on a disk for a BIOS."""
    return INSTALL, "--target=i386-pc", disk
