"""GRUB in boot sectors, and the root file system that its menu names."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from raidplan.facts.boot_loaders import BIOS_BOOT, read_boot_loaders, read_boot_menu
from raidplan.facts.readings import Readings
from raidplan.facts.tables import Entry, Table
from raidplan.plan.boot_loaders import CONFIG, CORE, CORE_SECTOR, OWN_TO_EACH_DISK

MIB = 2**20
IMAGE = bytes(range(256)) * 100
TABLE = Table("gpt", "u", (Entry(1, "bios", BIOS_BOOT, MIB, MIB), Entry(2, "root", "linux", 2 * MIB, MIB)))


def put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def found(root: Path, *, sector: int = MIB // 512, front: bytes = b"", image: bytes = IMAGE) -> object:
    """The boot loader of a disk whose boot sector leads to a sector, and whose partition holds an image with another front."""
    first = bytearray(512)
    struct.pack_into("<Q", first, CORE_SECTOR, sector)
    put(
        root / "dev/sda", bytes(first).ljust(MIB, b"\0") + (front + image[len(front) :]).ljust(2 * MIB, b"\0")
    )
    return read_boot_loaders(Readings(root, {}, {"sda": TABLE}, {}, {}, (), ()), root / "mnt")


def test_grub_is_current_where_the_core_image_is_that_of_the_system(tmp_path: Path) -> None:
    assert found(tmp_path) == {"bios": {"loader": "grub", "current": False}}, "the system has none"
    put(tmp_path / "mnt" / CORE.lstrip("/"), IMAGE)
    assert found(tmp_path) == {"bios": {"loader": "grub", "current": True}}
    assert found(tmp_path, front=b"x" * OWN_TO_EACH_DISK) == {"bios": {"loader": "grub", "current": True}}


@pytest.mark.parametrize(
    ("loader", "other"),
    {
        "another core image": ("grub", {"image": IMAGE[::-1]}),
        "a byte behind the front": ("grub", {"front": IMAGE[:OWN_TO_EACH_DISK] + b"x"}),
        "no boot sector": ("", {"sector": 0}),
        "a boot sector that leads elsewhere": ("", {"sector": 34}),
    }.values(),
)
def test_another_boot_sector_or_core_image_is_not(
    loader: str, other: dict[str, object], tmp_path: Path
) -> None:
    put(tmp_path / "mnt" / CORE.lstrip("/"), IMAGE)
    assert found(tmp_path, **other) == {"bios": {"loader": loader, "current": False}}  # type: ignore[arg-type]


MENU = """\
menuentry 'Debian' {
\tlinux\t/vmlinuz-6.1 root=UUID=ab-cd ro  quiet
\tinitrd\t/initrd.img-6.1
}
"""


@pytest.mark.parametrize(
    ("text", "root"),
    [
        (MENU, "UUID=ab-cd"),
        (MENU + MENU, "UUID=ab-cd"),
        (MENU + MENU.replace("ab-cd", "other"), "UUID=ab-cd UUID=other"),
        ("set timeout=5\n", ""),
    ],
)
def test_the_menu_names_the_root_of_every_kernel(text: str, root: str, tmp_path: Path) -> None:
    assert read_boot_menu(tmp_path) == {}
    put(tmp_path / CONFIG.lstrip("/"), text.encode())
    assert read_boot_menu(tmp_path) == {"grub": {"root": root}}
