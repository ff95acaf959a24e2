"""The programs that make the initramfs, each one record with its name, its files and its commands; to add one, add a row.

Sources: mkinitramfs(8), update-initramfs(8), update-initramfs.conf(5).
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import NamedTuple

from raidplan.plan.places import INITRAMFS_ASIDE, MDADM_CONF

LVM = "/sbin/lvm"
"""The end of the path of the program that activates volumes, in an image."""
BOOT = "/boot"
"""The folder of the images."""


class Hook(NamedTuple):
    """A file of a generator that puts something into every image, and the package that it comes with."""

    file: str
    package: str


class Generator(NamedTuple):
    """A program that makes the image of a kernel into a file."""

    name: str
    """The name of the package."""
    program: str
    make_words: tuple[str, ...]
    """The arguments of the program, with {image} and {kernel}."""
    image: str
    """The name of an image, with {} for the kernel's release."""
    hooks: str
    """A folder of programs that are to hear of a new image, such as boot loaders that keep a copy; they get kernel and image."""
    conf: str
    """The path in an image of its copy of mdadm.conf."""
    crypttab: str
    """The path in an image of its lines of crypttab."""
    encryption: Hook
    """Without it no image opens an encryption."""
    volumes: Hook
    """Without it no image activates a volume of LVM."""
    updater: str
    """The system's own program to renew images, whose text names `program`; several packages share the path."""
    settings: str
    switched_off: str
    """The line of the settings that forbids that images are renewed: `key=value`."""
    create: str
    """The command for a person to make the first image of {kernel}."""
    renew: str
    """The command for a person to renew all images."""
    script: str
    """The functions of the plan as a shell script, a file in `render/`."""
    tools: tuple[str, ...]
    """The programs that these functions run."""

    def make(self, kernel: str, image: str) -> tuple[str, ...]:
        """The command that makes the image of that name for a kernel, aside."""
        values = {"kernel": kernel, "image": f"{INITRAMFS_ASIDE}/{image}"}
        return self.program, *(word.format_map(values) for word in self.make_words)

    def is_switched_off(self, settings: str) -> bool:
        """Whether the text of the settings forbids that images are renewed."""
        key, _, value = self.switched_off.partition("=")
        return bool(re.search(rf"""^\s*{key}=["']?{value}\b""", settings, re.MULTILINE))

    def tell(self, kernel: str, image: str) -> tuple[str, ...]:
        """The command that runs the hooks, as the program's own updater does after it has put an image in place."""
        return "run-parts", f"--arg={kernel}", f"--arg={BOOT}/{image}", self.hooks


INITRAMFS_TOOLS = Generator(
    name="initramfs-tools",
    program="mkinitramfs",
    make_words=("-o", "{image}", "{kernel}"),
    image="initrd.img-{}",
    hooks="/etc/initramfs/post-update.d",
    conf=str(PurePath(MDADM_CONF).relative_to("/")),
    crypttab="cryptroot/crypttab",
    encryption=Hook("/usr/share/initramfs-tools/hooks/cryptroot", "cryptsetup-initramfs"),
    volumes=Hook("/usr/share/initramfs-tools/hooks/lvm2", "lvm2"),
    updater="/usr/sbin/update-initramfs",
    settings="/etc/initramfs-tools/update-initramfs.conf",
    switched_off="update_initramfs=no",
    create="update-initramfs -c -k {kernel}",
    renew="update-initramfs -u -k all",
    script="initramfs.sh",
    tools=("cpio", "df", "find", "grep", "mktemp", "run-parts", "sort", "unmkinitramfs", "update-initramfs"),
)
GENERATORS = {each.name: each for each in (INITRAMFS_TOOLS,)}
UNKNOWN = ("dracut",)
"""Programs that make images as well, and have no record."""
OF_OTHERS = "initramfs-*.img"
"""The images in /boot that these programs make (dracut(8))."""


def image_makers() -> frozenset[str]:
    """Every program that makes images, whether a plan runs it or not."""
    known = {name for each in GENERATORS.values() for name in (each.program, PurePath(each.updater).name)}
    return frozenset((*known, *UNKNOWN))
