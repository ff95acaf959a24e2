"""GRUB in boot sectors and on EFI system partitions, the firmware's entries, and the root file system that a menu names."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from raidplan.facts.block import Block
from raidplan.facts.boot_loaders import (
    ANSWERS,
    BIOS_BOOT,
    ESP,
    read_answers,
    read_boot_loaders,
    read_boot_menu,
)
from raidplan.facts.efi import GLOBAL, VARIABLES, read_boot_entries, read_secure_boot
from raidplan.facts.mounts import Mount
from raidplan.facts.readings import Readings
from raidplan.facts.tables import Entry, Table
from raidplan.plan.boot_loaders import (
    CONFIG,
    CORE,
    CORE_SECTOR,
    EFI_IMAGES,
    ENTRY,
    KERNELS,
    NO_DEVICES,
    OWN_PATH,
    OWN_TO_EACH_DISK,
    REMOVABLE,
    SHIM,
    SYSTEMD_BOOT,
)

EFI_CORE, SIGNED = EFI_IMAGES["grub"].plain, EFI_IMAGES["grub"].signed

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


SYSTEM_PARTITION = Table(
    "gpt", "u", (Entry(1, "esp", ESP, MIB, MIB), Entry(2, "root", "linux", 2 * MIB, MIB))
)
FILES = {"EFI/debian/grubx64.efi": b"core", "EFI/BOOT/BOOTX64.EFI": b"core"}
BY_SHIM = {
    "EFI/debian/grubx64.efi": b"signed",
    "EFI/debian/grub.cfg": b"configfile",
    "EFI/BOOT/BOOTX64.EFI": b"shim",
    "EFI/BOOT/grubx64.efi": b"signed",
}


def on_esp(root: Path, files: Mapping[str, bytes], system: Mapping[str, bytes]) -> object:
    """The loaders of a system below /mnt, with an EFI system partition mounted in it."""
    for name, data in files.items():
        put(root / "mnt/boot/efi" / name, data)
    for name, data in system.items():
        put(root / "mnt" / name.lstrip("/"), data)
    (root / "mnt/boot/efi").mkdir(parents=True, exist_ok=True)
    blocks = {f"sda{n}": Block(f"sda{n}", f"8:{n}", MIB, partition=n, disk="sda") for n in (1, 2)}
    mounts = [
        Mount("/mnt", "/dev/sda2", "ext4", (), "sda2"),
        Mount("/mnt/boot/efi", "/dev/sda1", "vfat", (), "sda1"),
        Mount("/proc", "proc", "proc", ()),
    ]
    return read_boot_loaders(
        Readings(root, blocks, {"sda": SYSTEM_PARTITION}, {}, {}, mounts, ()), root / "mnt"
    )


@pytest.mark.parametrize(
    ("loader", "current", "files", "system"),
    {
        "nothing": ("", False, {}, {}),
        "an ESP of another system": ("grub", False, FILES, {}),
        "current": ("grub", True, FILES, {EFI_CORE: b"core"}),
        "an earlier image": ("grub", False, FILES, {EFI_CORE: b"core2"}),
        "no removable path": ("grub", False, {"EFI/debian/grubx64.efi": b"core"}, {EFI_CORE: b"core"}),
        "unsigned, and signed packages": ("grub", False, FILES, {EFI_CORE: b"core", SIGNED: b"signed", SHIM: b"shim"}),
        "signed": ("grub", True, BY_SHIM, {EFI_CORE: b"core", SIGNED: b"signed", SHIM: b"shim"}),
        "shim of before": ("grub", False, BY_SHIM, {SIGNED: b"signed", SHIM: b"shim2"}),
        "signed GRUB of before": ("grub", False, BY_SHIM, {SIGNED: b"signed2", SHIM: b"shim"}),
        "signed without shim": ("grub", False, BY_SHIM, {SIGNED: b"signed"}),
        "signed without its menu": ("grub", False, {k: v for k, v in BY_SHIM.items() if "cfg" not in k}, {SIGNED: b"signed", SHIM: b"shim"}),
    }.values(),
)  # fmt: skip
def test_grub_on_an_esp_is_current_where_the_firmware_loads_the_image_of_the_system(
    loader: str, current: bool, files: Mapping[str, bytes], system: Mapping[str, bytes], tmp_path: Path
) -> None:
    assert on_esp(tmp_path, files, system) == {"esp": {"loader": loader, "current": current}}


BY_SYSTEMD = {
    OWN_PATH: b"systemd",
    REMOVABLE: b"systemd",
    f"{KERNELS}/6.1/linux": b"kernel",
    f"{KERNELS}/6.1/initrd.img": b"images",
    ENTRY.format("6.1"): b"title Debian\noptions root=UUID=ab ro quiet\n",
}
SYSTEM = {
    EFI_IMAGES[SYSTEMD_BOOT].plain: b"systemd",
    "boot/vmlinuz-6.1": b"kernel",
    "boot/initrd.img-6.1": b"images",
    "boot/vmlinuz-6.2": b"its initramfs is still to be made",
}


@pytest.mark.parametrize(
    ("current", "files", "system"),
    {
        "all of it": (True, {}, {}),
        "no package": (False, {}, {EFI_IMAGES[SYSTEMD_BOOT].plain: None}),
        "an earlier loader": (False, {}, {EFI_IMAGES[SYSTEMD_BOOT].plain: b"newer"}),
        "an earlier initramfs": (False, {}, {"boot/initrd.img-6.1": b"IMAGES"}),
        "an earlier kernel": (False, {f"{KERNELS}/6.1/linux": b"older"}, {}),
        "no entry": (False, {ENTRY.format("6.1"): None}, {}),
        "one kernel more": (False, {}, {"boot/initrd.img-6.2": b"made"}),
        "a kernel that is no more": (False, {f"{KERNELS}/5.9/linux": b"old"}, {}),
        "no kernel": (False, {f"{KERNELS}/6.1/linux": None, f"{KERNELS}/6.1/initrd.img": None}, {"boot/initrd.img-6.1": None}),
        "signed": (True, {REMOVABLE: b"shim", "EFI/BOOT/grubx64.efi": b"systemd"}, {EFI_IMAGES[SYSTEMD_BOOT].signed: b"systemd", SHIM: b"shim"}),
        "signed, and shim is another": (False, {REMOVABLE: b"shim", "EFI/BOOT/grubx64.efi": b"systemd"}, {EFI_IMAGES[SYSTEMD_BOOT].signed: b"systemd", SHIM: b"shim2"}),
    }.values(),
)  # fmt: skip
def test_systemd_boot_is_current_with_every_kernel_and_its_initramfs(
    current: bool, files: Mapping[str, bytes | None], system: Mapping[str, bytes | None], tmp_path: Path
) -> None:
    esp = {name: data for name, data in (BY_SYSTEMD | files).items() if data is not None}
    has = {name: data for name, data in (SYSTEM | system).items() if data is not None}
    root = "UUID=ab" if ENTRY.format("6.1") in esp else ""
    assert on_esp(tmp_path, esp, has) == {"esp": {"loader": "systemd-boot", "current": current, "root": root}}


def test_systemd_boot_that_the_firmware_does_not_start_is_not_the_loader(tmp_path: Path) -> None:
    assert on_esp(tmp_path, FILES | {OWN_PATH: b"systemd"}, SYSTEM) == {
        "esp": {"loader": "grub", "current": False}
    }


ESP_UUID = "3cc38a8d-23e9-5603-a908-c6325f69b207"


def variable(root: Path, name: str, value: bytes) -> None:
    put(root / VARIABLES / f"{name}-{GLOBAL}", b"\7\0\0\0" + value)


def entry(partition: str, file: str, *, active: int = 1, label: str = "x a0") -> bytes:
    """A load option as efibootmgr writes it (UEFI specification 2.10, 3.1.3 and 10.3)."""
    guid = uuid.UUID(partition).bytes_le
    drive = struct.pack("<BBHIQQ16sBB", 4, 1, 42, 1, 2048, 1024, guid, 2, 2)
    name = file.encode("utf-16-le") + b"\0\0"
    path = drive + struct.pack("<BBH", 4, 4, 4 + len(name)) + name + b"\x7f\xff\4\0"
    return struct.pack("<IH", active, len(path)) + label.encode("utf-16-le") + b"\0\0" + path


REMOVABLE_PATH = "\\EFI\\BOOT\\BOOTX64.EFI"


@pytest.mark.parametrize(
    ("order", "entries", "there"),
    {
        "entered": ([0], {0: entry(ESP_UUID, REMOVABLE_PATH)}, True),
        "in small letters": ([0], {0: entry(ESP_UUID, REMOVABLE_PATH.lower())}, True),
        "two entries": ([7, 0], {0: entry(ESP_UUID, REMOVABLE_PATH), 7: entry(ESP_UUID, "\\x.efi")}, True),
        "two the other way round": ([0, 7], {0: entry(ESP_UUID, REMOVABLE_PATH), 7: entry(ESP_UUID, "\\x.efi")}, True),
        "by number in hexadecimal": ([0x1F], {0x1F: entry(ESP_UUID, REMOVABLE_PATH)}, True),
        "another program": ([0], {0: entry(ESP_UUID, "\\EFI\\debian\\grubx64.efi")}, False),
        "not active": ([0], {0: entry(ESP_UUID, REMOVABLE_PATH, active=0)}, None),
        "not in the order": ([1], {0: entry(ESP_UUID, REMOVABLE_PATH)}, None),
        "cut off": ([0], {0: entry(ESP_UUID, REMOVABLE_PATH)[:20]}, None),
        "empty": ([0], {0: b""}, None),
        "a path that leads nowhere": ([0], {0: b"\1\0\0\0\x40\0\0\0" + b"\4\1\0\0" * 8}, None),
    }.values(),
)  # fmt: skip
def test_an_entry_counts_that_the_firmware_would_start(
    order: list[int], entries: Mapping[int, bytes], there: bool | None, tmp_path: Path
) -> None:
    assert read_boot_entries(tmp_path) == {}
    variable(tmp_path, "BootOrder", struct.pack(f"<{len(order)}H", *order))
    for number, option in entries.items():
        variable(tmp_path, f"Boot{number:04X}", option)
    assert read_boot_entries(tmp_path) == ({} if there is None else {ESP_UUID: {"removable": there}})


def test_secure_boot_is_on_where_its_variable_says_so(tmp_path: Path) -> None:
    assert not read_secure_boot(tmp_path)
    for value in (0, 1):
        variable(tmp_path, "SecureBoot", bytes([value]))
        assert read_secure_boot(tmp_path) is bool(value)


def test_the_answer_of_debconf(tmp_path: Path) -> None:
    assert read_answers(tmp_path) == {}
    other = "Name: grub-pc/timeout\nTemplate: x\nValue: 5\n\n"
    for value in ("true", "false"):
        text = f"{other}Name: {NO_DEVICES}\nTemplate: {NO_DEVICES}\nValue: {value}\nOwners: grub-pc\nFlags: seen\n\n{other}"
        put(tmp_path / ANSWERS, text.encode())
        assert read_answers(tmp_path) == {NO_DEVICES: {"value": value}}
