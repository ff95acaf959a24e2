"""GRUB and systemd-boot as plans install them: commands, files, and what proves them.

Sources: grub-install(8), update-grub(8), efibootmgr(8); grub-core/boot/i386/pc/boot.S, include/grub/offsets.h, util/setup.c and
util/grub-install.c of GRUB 2.06, the last as patched by Debian; UEFI specification 2.10, 3.5.1.1 (the removable path);
systemd-boot(7), loader.conf(5), the UAPI group's boot loader specification.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

GRUB, SYSTEMD_BOOT = "grub", "systemd-boot"
INSTALL = "grub-install"
MENU = "update-grub"
ENTER = "efibootmgr"
ANSWER = "debconf-set-selections"
PACKAGES = {INSTALL: "grub2-common", MENU: "grub2-common", ENTER: "efibootmgr", ANSWER: "debconf"}
"""The programs of the machine's own system that install GRUB, and Debian's packages of them."""
MODULES = "/usr/lib/grub"
"""The folder of GRUB's modules, in a folder for each platform."""


@dataclass(frozen=True, slots=True)
class Platform:
    """A firmware that GRUB runs on: GRUB's name for it, and Debian's package."""

    name: str
    package: str

    @property
    def option(self) -> str:
        """The argument of grub-install."""
        return f"--target={self.name}"


BIOS = Platform("i386-pc", "grub-pc")
UEFI = Platform("x86_64-efi", "grub-efi-amd64")
PLATFORMS = {"bios": BIOS, "uefi": UEFI}
"""By the word of a layout for the firmware."""

CORE = "/boot/grub/i386-pc/core.img"
"""The core image that `grub-install` made last for a BIOS, a copy of which each disk has."""
CONFIG = "/boot/grub/grub.cfg"
CORE_SECTOR = 0x5C
"""The place in the boot sector of the number of the core image's first sector of 512 bytes, 8 bytes (`GRUB_BOOT_MACHINE_KERNEL_SECTOR`)."""
OWN_TO_EACH_DISK = 1024
"""The bytes at the front of a core image that depend on its place: the list of its sectors, and the extent of its redundancy."""

SHIM = "/usr/lib/shim/shimx64.efi.signed"


@dataclass(frozen=True, slots=True)
class EfiImages:
    """The files of the system from which a loader comes onto EFI system partitions."""

    plain: str
    """The image for the firmware where no signed one is installed."""
    signed: str
    """The image that shim loads with Secure Boot on."""
    package: str
    """Debian's package of `plain`, and that of `signed`; shim has one of its own."""
    signed_package: str

    @property
    def signatures(self) -> Mapping[str, str]:
        """The files that Secure Boot asks for, by their packages."""
        return {self.signed_package: self.signed, "shim-signed": SHIM}


EFI_IMAGES = {
    GRUB: EfiImages(
        # The image that grub-install made last.
        plain="/boot/grub/x86_64-efi/core.efi",
        signed="/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed",
        package=UEFI.package,
        signed_package="grub-efi-amd64-signed",
    ),
    SYSTEMD_BOOT: EfiImages(
        plain="/usr/lib/systemd/boot/efi/systemd-bootx64.efi",
        signed="/usr/lib/systemd/boot/efi/systemd-bootx64.efi.signed",
        package="systemd-boot-efi",
        signed_package="systemd-boot-efi-amd64-signed",
    ),
}
"""By the word of a layout for the loader."""
LOADERS = {
    ("bios", GRUB): (BIOS.package,),
    ("uefi", GRUB): (UEFI.package, PACKAGES[ENTER]),
    ("uefi", SYSTEMD_BOOT): (EFI_IMAGES[SYSTEMD_BOOT].package, PACKAGES[ENTER]),
}
"""The loaders that raidplan installs, each with the firmware that starts it, and Debian's packages for the two."""
REMOVABLE = "EFI/BOOT/BOOTX64.EFI"
"""The path that firmware looks for without an entry in its variables."""
BEHIND_SHIM = "EFI/BOOT/grubx64.efi"
"""The file beside it that shim goes on with."""

OWN_PATH = "EFI/systemd/systemd-bootx64.efi"
"""The path of systemd-boot beside it, by which bootctl(1) finds it."""

HOOK = "/usr/local/sbin/raidplan-boot-loaders"
"""A script that gives each disk the boot loader of the installed packages; also for a person to run."""
DPKG = "/etc/dpkg/dpkg.cfg.d/raidplan"
"""Lets dpkg run it (dpkg(1), `post-invoke`)."""
AFTER_INITRAMFS = "/etc/initramfs/post-update.d/raidplan"
"""Lets update-initramfs run it, where kernels and their initramfs are copied (update-initramfs(8))."""
KERNELS = "raidplan"
"""The folder of an EFI system partition with a folder for each kernel: `linux` and `initrd.img`."""
ENTRY = "loader/entries/raidplan-{}.conf"
"""The entry of a kernel in systemd-boot's menu, on the EFI system partition; {} is its release."""
COMMAND_LINE = "/etc/kernel/cmdline"
"""More words for the kernels (kernel-install(8)); where their root is, the entries say themselves."""
NO_DEVICES = "grub-pc/install_devices_empty"
"""The question of Debian's grub-pc whether it may install to no disk: unanswered, its upgrade fails where nobody is asked."""


def missing_packages(
    argv: Sequence[str], programs: Container[str], platforms: Container[str]
) -> tuple[str, ...]:
    """The packages for a command that a system with these programs and platforms lacks."""
    if HOOK in argv:
        return () if SYSTEMD_BOOT in platforms else (EFI_IMAGES[SYSTEMD_BOOT].package,)
    if argv[0] not in programs:
        return (PACKAGES[argv[0]],)
    return tuple(
        each.package for each in PLATFORMS.values() if each.option in argv and each.name not in platforms
    )


def loaders_of(commands: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
    """The loader that commands install, with the firmware that starts it; none without one."""
    words = {word for argv in commands for word in argv}
    found = {(GRUB, name) for name, platform in PLATFORMS.items() if platform.option in words}
    return found | ({(SYSTEMD_BOOT, "uefi")} if HOOK in words else set())


def install_bios(disk: str) -> tuple[str, ...]:
    """The command that puts boot sector and core image on a disk for a BIOS."""
    return INSTALL, BIOS.option, disk


def install_efi(mount: str) -> tuple[str, ...]:
    """The command that puts GRUB on a mounted EFI system partition, in the distribution's folder and under the removable path.

    Without an entry in the firmware: grub-install gives all of them one label, and removes the others with it.
    """
    return INSTALL, UEFI.option, f"--efi-directory={mount}", "--no-nvram", "--force-extra-removable"


def install_systemd_boot(mount: str) -> tuple[str, ...]:
    """The command that puts systemd-boot, every kernel and its initramfs on a mounted EFI system partition."""
    return "sh", HOOK, mount


def enter(disk: str, number: int, label: str) -> tuple[str, ...]:
    """The command that enters partition `number` of a disk into the firmware's boot order, before all others.

    By the removable path, which is there with Secure Boot and without, whatever the distribution calls its folder.
    """
    loader = "\\" + REMOVABLE.replace("/", "\\")
    words = ("--create", "--disk", disk, "--part", str(number), "--label", label, "--loader", loader)
    return ENTER, "--quiet", *words
