"""Where the boot loader is, how many of it there are, and what it can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

PARTS = "os: {size: rest}"
HARDWARE = (
    "hardware:\n  %s\n  disks: {a<0-3>: {serial: A<1>, size: 1TB%s, partitions: {%s}}, b<0-3>: {serial: B<1>, size: 1TB, "
    "partitions: {%s}}}\n"
)
BIOS, ESP = "bios: {size: 1MiB, type: bios-boot}, ", "efi: {size: 1GiB, type: esp}, "
ROOT = "arrays: {os: {level: %s, members: [%s]}}\nfilesystems: {root: {device: os, type: ext4, mount: %s}}"
MIRROR = ROOT % ("raid1", "a<0-1>.os", "/")


def machine(firmware: str, on_a: str = "", on_b: str = "", more: str = "") -> str:
    """Eight disks with a partition `os`, and more partitions on the disks a and on the disks b."""
    return HARDWARE % (firmware and f"firmware: {firmware}", more, on_a + PARTS, on_b + PARTS)


MISSING = {
    "firmware not named": ("", "", MIRROR, []),
    "bios": ("bios", "", MIRROR, ["4:error"]),
    "bios with its partition": ("bios", BIOS, MIRROR, []),
    "bios with one on another disk": ("bios", "", MIRROR.replace("a<", "b<"), ["4:error"]),
    "bios, data alone": ("bios", "", MIRROR.replace("mount: /", "mount: /srv"), []),
    "bios, /boot": ("bios", "", MIRROR.replace("mount: /", "mount: /boot"), ["4:error"]),
    "bios with an ESP": ("bios", ESP, MIRROR, ["4:error"]),
    "bios with an ESP that is named": ("bios", ESP, MIRROR + "\nboot: {esp: [a0.efi]}", ["4:error"]),
    "uefi": ("uefi", "", MIRROR, ["4:error"]),
    "uefi with an ESP": ("uefi", ESP, MIRROR, []),
    "uefi with one that is named": ("uefi", "", MIRROR + "\nboot: {esp: [b0.os]}", []),
    "uefi with a BIOS boot partition": ("uefi", BIOS, MIRROR, ["4:error"]),
    "no system at all": ("bios", "", "", []),
}


@pytest.mark.parametrize(("firmware", "part", "more", "expected"), MISSING.values(), ids=MISSING)
def test_no_boot_partition(firmware: str, part: str, more: str, expected: list[str], tmp_path: Path) -> None:
    assert found("no-boot-partition", machine(firmware, part) + more, tmp_path) == expected


def esp(disks: str) -> str:
    return f"\nboot: {{esp: [{disks}]}}"


FEW = {
    "no loader is known": ("", "", MIRROR, []),
    "each disk of the mirror": ("bios", BIOS, MIRROR, []),
    "one of two": ("uefi", ESP, MIRROR + esp("a0.efi"), ["8:warning"]),
    "named once, no types": ("", "efi: {size: 1GiB}, ", MIRROR + esp("a0.efi"), ["8:warning"]),
    "named twice": ("", "efi: {size: 1GiB}, ", MIRROR + esp("a<0-1>.efi"), []),
    "three mirrors, two loaders": (
        "", "efi: {size: 1GiB}, ", MIRROR.replace("a<0-1>", "a<0-2>") + esp("a<0-1>.efi"), ["8:warning"]),
    "raid6, two loaders": (
        "", "efi: {size: 1GiB}, ", ROOT % ("raid6", "a<0-3>.os, b<0-3>.os", "/") + esp("a<0-1>.efi"), ["8:warning"]),
    "raid6, three loaders": (
        "", "efi: {size: 1GiB}, ", ROOT % ("raid6", "a<0-3>.os, b<0-3>.os", "/") + esp("a<0-2>.efi"), []),
    "raid0": ("", "efi: {size: 1GiB}, ", ROOT % ("raid0", "a<0-1>.os", "/") + esp("a0.efi"), []),
    "a mirror in a stripe with a disk": (
        "", "efi: {size: 1GiB}, ", "arrays: {m: {level: raid1, members: [a<0-1>.os]}, os: {level: raid0, members: [m, a2.os]}}\n"
        "filesystems: {root: {device: os, type: ext4, mount: /}}" + esp("a0.efi"), []),
    "a partition": (
        "", "efi: {size: 1GiB}, ", "filesystems: {root: {device: a0.os, type: ext4, mount: /}}" + esp("a0.efi"), []),
    "data": ("", "efi: {size: 1GiB}, ", MIRROR.replace("mount: /", "mount: /srv") + esp("a0.efi"), []),
}  # fmt: skip


@pytest.mark.parametrize(("firmware", "part", "more", "expected"), FEW.values(), ids=FEW)
def test_too_few_boot_loaders(
    firmware: str, part: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    line = [place.replace("8:", "7:") for place in expected]
    assert found("too-few-boot-loaders", machine(firmware, part) + more, tmp_path) == line


def test_the_disk_with_the_only_loader_is_named(tmp_path: Path) -> None:
    text = machine("", "efi: {size: 1GiB}, ") + MIRROR + esp("a0.efi")
    ((message, hint),) = said("too-few-boot-loaders", text, tmp_path)
    assert (figures(message, "os"), figures(hint)) == ("os 1 a0", "a0.efi a1")


TWO = "filesystems: {root: {device: os, type: ext4, mount: /}%s}"
MIRRORED = "arrays: {os: {level: raid1, members: [a<0-1>.os]}}\n" + TWO
FATS = ", efi: {device: a0.efi, type: vfat, mount: /boot/efi}, efi2: {device: a1.efi, type: vfat, mount: /boot/efi2}"
GRUB = "\nboot: {loader: grub}"
NONE = {
    "nothing is written": ("", "", MIRROR, "neither boot.loader nor hardware.firmware is written"),
    "no loader, bios": ("bios", BIOS, MIRROR, "boot.loader is not written"),
    "no loader, uefi": ("uefi", ESP, MIRRORED % FATS, "boot.loader is not written"),
    "no firmware": ("", BIOS, MIRROR + GRUB, "hardware.firmware is not written"),
    "bios": ("bios", BIOS, MIRROR + GRUB, ""),
    "uefi": ("uefi", ESP, MIRRORED % FATS + GRUB, ""),
    "one's own": ("uefi", ESP, MIRROR + "\nboot: {loader: none}", ""),
    "another": ("uefi", ESP, MIRROR + "\nboot: {loader: syslinux}", ""),
    "systemd-boot, and nothing mounted": ("uefi", ESP, MIRROR + "\nboot: {loader: systemd-boot}", "a0.efi, a1.efi, a2.efi and a3.efi have no file system that is mounted"),
    "systemd-boot, and a BIOS": (
        "bios", "bios: {size: 1MiB, type: bios-boot}, ", MIRROR + "\nboot: {loader: systemd-boot}", "only UEFI starts systemd-boot, and the firmware is bios"),
    "no root": ("", "", MIRROR.replace("mount: /", "mount: /srv"), ""),
    "nothing mounted": ("uefi", ESP, MIRROR + GRUB, "a0.efi, a1.efi, a2.efi and a3.efi have no file system that is mounted"),
    "one disk of two, of which another rule speaks": ("uefi", ESP, MIRRORED % FATS.partition(", efi2")[0] + GRUB, ""),
    "named and empty, of which another rule speaks": ("uefi", ESP, MIRROR + "\nboot: {loader: grub, esp: [a<0-1>.efi]}", ""),
    "no partition, of which another rule speaks": ("uefi", "", MIRROR + GRUB, ""),
    "a BIOS and an ESP, of which another rule speaks": ("bios", ESP, MIRROR + "\nboot: {loader: grub, esp: [a0.efi]}", ""),
    "an ESP on an array": (
        "uefi", "efi: {size: 1GiB}, ", "arrays: {os: {level: raid1, members: [a<0-1>.os]}, e: {level: raid1, members: [a<0-1>.efi], metadata: \"1.0\"}}\n"
        + TWO % ", e: {device: e, type: vfat, mount: /boot/efi}" + GRUB, "it is installed on EFI system partitions of their own, and e is an array"),
}  # fmt: skip


@pytest.mark.parametrize(("firmware", "part", "more", "why"), NONE.values(), ids=NONE)
def test_no_boot_loader(firmware: str, part: str, more: str, why: str, tmp_path: Path) -> None:
    """A layout that made / without a boot loader was checked, planned and estimated without a word of that."""
    fact = f"the layout makes /, and no boot loader is installed: {why}"
    assert [each for each, _ in said("no-boot-loader", machine(firmware, part) + more, tmp_path)] == [
        fact
    ] * bool(why)


def test_a_root_that_is_described_only_needs_none(tmp_path: Path) -> None:
    text = "hardware: {disks: {a: {serial: A, size: 1TB, keep: true, partitions: {os: {size: rest}}}}}\n"
    text += "filesystems: {root: {device: a.os, type: ext4, mount: /}}"
    assert found("no-boot-loader", text, tmp_path) == []
    assert found("no-boot-loader", text.replace("keep: true, ", ""), tmp_path) == ["4:warning"]


def test_one_on_a_kept_disk_is_left_as_it_is(tmp_path: Path) -> None:
    text = (
        machine("uefi", "", ESP) + MIRRORED % ", efi: {device: b0.efi, type: vfat, mount: /boot/efi}" + GRUB
    )
    text = text.replace("b<0-3>: {", "b<0-3>: {keep: true, ")
    assert [each.partition("installed: ")[2] for each, _ in said("no-boot-loader", text, tmp_path)] == [
        "b0.efi, where it could be, is kept as it is"
    ]


def test_the_hint_names_the_firmware_that_the_partitions_are_for(tmp_path: Path) -> None:
    hints = [
        hint
        for firmware, part, more in (
            ("", BIOS, MIRROR),
            ("", ESP, MIRRORED % FATS),
            ("", "", MIRROR),
            ("bios", BIOS, MIRROR),
        )
        for _, hint in said("no-boot-loader", machine(firmware, part) + more, tmp_path)
    ]
    written = [figures(hint, "grub", "bios", "uefi", "none") for hint in hints]
    assert written == ["grub bios none", "grub uefi none", "grub uefi bios none", "grub none"]


FATLESS = {
    "the other is empty": (", efi: {device: a0.efi, type: vfat, mount: /boot/efi}", "grub", ["add filesystems: {efi2: {device: a1.efi, type: vfat, mount: /boot/efi2}}"]),
    "the other is not mounted": (FATS.replace(", mount: /boot/efi2", ""), "grub", ["write mount: /boot/efi2 for efi2"]),
    "both": (FATS, "grub", []),
    "named too, of which another rule speaks": (", efi: {device: a0.efi, type: vfat, mount: /boot/efi}", "grub, esp: [a<0-1>.efi]", []),
}  # fmt: skip


@pytest.mark.parametrize(("more", "boot", "hints"), FATLESS.values(), ids=FATLESS)
def test_an_esp_counts_if_grub_is_installed_on_it(
    more: str, boot: str, hints: list[str], tmp_path: Path
) -> None:
    """A partition of type esp counted as a loader, whether anything was on it or not."""
    text = machine("uefi", ESP) + MIRRORED % more + f"\nboot: {{loader: {boot}}}"
    assert [hint for _, hint in said("too-few-boot-loaders", text, tmp_path)] == hints


def test_two_empty_esps_are_given_a_name_and_a_mount_point_each(tmp_path: Path) -> None:
    """Both hints said `efi` at /boot/efi, and after one the other was wrong."""
    text = machine("uefi", ESP) + MIRROR + "\nboot: {loader: grub, esp: [a<0-1>.efi]}"
    assert [hint.partition(", and have")[0] for _, hint in said("unformatted-esp", text, tmp_path)] == [
        "add filesystems: {efi: {device: a0.efi, type: vfat, mount: /boot/efi}}",
        "add filesystems: {efi2: {device: a1.efi, type: vfat, mount: /boot/efi2}}",
    ]


READ = {
    "grub": ("", "raid1", []),
    "grub, parity": ("", "raid6", []),
    "grub, linear": ("", "linear", ["6:error"]),
    "grub by name, linear": ("grub", "linear", ["6:error"]),
    "grub, 1.1": ("grub", 'raid5, metadata: "1.1"', []),
    "syslinux, by default 1.2": ("syslinux", "raid1", ["6:error"]),
    "syslinux, 1.0": ("syslinux", 'raid1, metadata: "1.0"', []),
    "lilo, 0.90": ("lilo", 'raid1, metadata: "0.90"', []),
    "lilo, 1.1": ("lilo", 'raid1, metadata: "1.1"', ["6:error"]),
    "lilo, raid5": ("lilo", 'raid5, metadata: "1.0"', ["6:error"]),
    "old grub": ("grub-legacy", 'raid10, metadata: "0.90"', ["6:error"]),
    "systemd-boot, no /boot": ("systemd-boot", "raid5", []),
}


@pytest.mark.parametrize(("loader", "level", "expected"), READ.values(), ids=READ)
def test_loader_cannot_read_array(loader: str, level: str, expected: list[str], tmp_path: Path) -> None:
    text = (
        machine("") + ROOT % (level, "a<0-3>.os", "/") + (f"\nboot: {{loader: {loader}}}" if loader else "")
    )
    assert found("loader-cannot-read-array", text, tmp_path) == expected


@pytest.mark.parametrize(("metadata", "expected"), [("1.2", ["6:error"]), ("1.0", [])])
def test_systemd_boot_reads_what_firmware_reads(metadata: str, expected: list[str], tmp_path: Path) -> None:
    text = machine("") + ROOT % (f'raid1, metadata: "{metadata}"', "a<0-1>.os", "/boot")
    text += "\nboot: {loader: systemd-boot}"
    assert found("loader-cannot-read-array", text, tmp_path) == expected


def test_systemd_boot_with_copies_of_its_kernels_reads_no_array(tmp_path: Path) -> None:
    text = (
        machine("uefi", ESP + "boot: {size: 1GiB}, ")
        + MIRRORED % f", boot: {{device: b, type: ext4, mount: /boot}}{FATS}"
    )
    text = (
        text.replace("arrays: {", "arrays: {b: {level: raid5, members: [a<0-3>.boot]}, ")
        + "\nboot: {loader: systemd-boot}"
    )
    assert found("loader-cannot-read-array", text, tmp_path) == []
    for other in ("grub-legacy", "lilo"):
        assert found("loader-cannot-read-array", text.replace("systemd-boot", other), tmp_path) != []
    unmounted = text.replace(FATS, "")
    assert found("loader-cannot-read-array", unmounted, tmp_path) != []


SECTORS = {
    "bios": ("bios", BIOS, BIOS, MIRROR, ["4:error"]),
    "uefi": ("uefi", ESP, ESP, MIRROR, []),
    "not named": ("", BIOS, BIOS, MIRROR, []),
    "a loader on a disk with smaller ones": ("bios", "", BIOS, MIRROR, []),
    "no loader": ("bios", "", "", MIRROR, ["4:error"]),
    "no system": ("bios", "", "", "", []),
    "the system elsewhere": ("bios", "", "", MIRROR.replace("a<", "b<"), []),
}


@pytest.mark.parametrize(("firmware", "on_a", "on_b", "more", "expected"), SECTORS.values(), ids=SECTORS)
def test_bios_boot_from_4kn(
    firmware: str, on_a: str, on_b: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    only = on_b if firmware != "bios" or on_a == "" else ""
    text = machine(firmware, on_a, only, ", logical_block: 4096") + more
    assert found("bios-boot-from-4kn", text, tmp_path) == expected
