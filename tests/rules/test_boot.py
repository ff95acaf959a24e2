"""What firmware can read: EFI system partitions on arrays, and disks that it does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

PARTS = "hardware: {disks: {d<0-3>: {serial: S<1>, size: 1TB, partitions: {esp: {size: 1GiB}, os: {size: rest}}}}}\n"
ESPS = {
    "a partition": ("", "boot: {esp: [d0.esp]}", []),
    "two partitions": ("", "boot: {esp: [d<0-1>.esp]}", []),
    "1.2": ("raid1", "boot: {esp: [e]}", ["5:error"]),
    "1.1": ('raid1, metadata: "1.1"', "boot: {esp: [e]}", ["5:error"]),
    "1.0": ('raid1, metadata: "1.0"', "boot: {esp: [e]}", ["5:warning"]),
    "0.90": ('raid1, metadata: "0.90"', "boot: {esp: [e]}", ["5:warning"]),
    "raid10": ('raid10, metadata: "1.0"', "boot: {esp: [e]}", ["5:error"]),
    "mounted": ("raid1", "filesystems: {e: {device: e, type: vfat, mount: /boot/efi}}", ["5:error"]),
    "mounted at /efi": ("raid1", "filesystems: {e: {device: e, type: vfat, mount: /efi}}", ["5:error"]),
    "FAT at /boot": ("raid1", "filesystems: {e: {device: e, type: vfat, mount: /boot}}", ["5:error"]),
    "ext4 at /boot": ("raid1", "filesystems: {e: {device: e, type: ext4, mount: /boot}}", []),
    "said once": ("raid1", "{boot: {esp: [e]}, filesystems: {e: {device: e, type: vfat, mount: /efi}}}", ["5:error"]),
}  # fmt: skip


@pytest.mark.parametrize(("level", "more", "expected"), ESPS.values(), ids=ESPS)
def test_esp_on_raid(level: str, more: str, expected: list[str], tmp_path: Path) -> None:
    arrays = f"arrays: {{e: {{level: {level}, members: [d<0-1>.esp]}}}}\n" if level else "arrays: {}\n"
    # One line for what may be two sections.
    more = more[1:-1].replace("}, files", "}\nfiles") if more.startswith("{") else more
    assert found("esp-on-raid", PARTS + arrays + more, tmp_path) == expected


def test_an_esp_on_a_volume(tmp_path: Path) -> None:
    text = (
        PARTS + "volume_groups: {vg: {devices: [d0.os], volumes: {esp: {size: 1GiB}}}}\nboot: {esp: [vg.esp]}"
    )
    assert found("esp-on-raid", text, tmp_path) == ["5:error"]
    ((message, _),) = said("esp-on-raid", text, tmp_path)
    assert figures(message, "vg.esp", "LVM") == "vg.esp LVM"


READABLE = {
    "a partition": ("boot: {esp: [d0.esp]}", []),
    "with FAT": ("boot: {esp: [d0.esp]}\nfilesystems: {e: {device: d0.esp, type: vfat, mount: /boot/efi}}", []),
    "of its type": ("boot: {esp: [d4.typed]}", []),
    "a whole disk": ("boot: {esp: [d5]}", ["8:error"]),
    "a whole disk, mounted": ("filesystems: {e: {device: d5, type: vfat, mount: /efi}}", ["8:error"]),
    "of another type": ("boot: {esp: [d4.other]}", ["8:error"]),
    "XFS": ("filesystems: {e: {device: d0.esp, type: xfs, mount: /boot/efi}}", ["8:error"]),
    "XFS on what is named": ("boot: {esp: [d0.esp]}\nfilesystems: {e: {device: d0.esp, type: xfs}}", ["9:error"]),
    "ext4 at /boot": ("filesystems: {e: {device: d0.esp, type: ext4, mount: /boot}}", []),
    "an array": ("boot: {esp: [e]}", []),
    "what is not there": ("boot: {esp: [d9]}", []),
}  # fmt: skip


@pytest.mark.parametrize(("more", "expected"), READABLE.values(), ids=READABLE)
def test_unreadable_esp(more: str, expected: list[str], tmp_path: Path) -> None:
    disks = PARTS.replace("hardware: {disks: {", "hardware:\n  disks: {").replace("}}}}}\n", "}}},") + (
        "\n    d4: {serial: T, size: 1TB, partitions: {typed: {size: 1GiB, type: esp}, other: {size: 1GiB, type: linux}}},\n"
        "    d5: {serial: U, size: 1TB}}\n"
    )
    text = disks + "arrays: {e: {level: raid1, members: [d<2-3>.esp]}}\n" + more
    assert found("unreadable-esp", text, tmp_path) == expected


def test_a_root_on_an_esp_is_to_move_as_no_system_runs_from_fat(tmp_path: Path) -> None:
    text = PARTS + "boot: {esp: [d0.esp]}\nfilesystems: {root: {device: d0.esp, type: ext4, mount: /}}"
    ((_, hint),) = said("unreadable-esp", text, tmp_path)
    assert hint == "put / on another partition"


UNMADE = {
    "one of two": ("filesystems: {e: {device: d0.esp, type: vfat, mount: /boot/efi}}", ["6:warning"]),
    "both made": ("filesystems: {e: {device: d0.esp, type: vfat, mount: /boot/efi}, f: {device: d1.esp, type: vfat}}", []),
    "of another type, which another rule names": (
        "filesystems: {e: {device: d0.esp, type: vfat, mount: /boot/efi}, f: {device: d1.esp, type: ext4}}", []),
    "none made": ("", ["6:warning", "6:warning"]),
}  # fmt: skip


def test_an_esp_for_a_loader_is_mounted(tmp_path: Path) -> None:
    made = "filesystems: {e: {device: d0.esp, type: vfat, mount: /boot/efi}, f: {device: d1.esp, type: vfat}}"
    text = PARTS + f"arrays: {{}}\n{made}\nboot: {{esp: [d<0-1>.esp], loader: LOADER}}"
    for loader, expected in (("grub", ["5:warning"]), ("systemd-boot", ["5:warning"]), ("lilo", [])):
        assert found("unformatted-esp", text.replace("LOADER", loader), tmp_path) == expected
    mounted = text.replace("device: d1.esp, type: vfat", "device: d1.esp, type: vfat, mount: /boot/efi2")
    assert found("unformatted-esp", mounted.replace("LOADER", "grub"), tmp_path) == []


@pytest.mark.parametrize(("made", "expected"), UNMADE.values(), ids=UNMADE)
def test_unformatted_esp(made: str, expected: list[str], tmp_path: Path) -> None:
    """Defect D5 of the trial: of two EFI system partitions one was never formatted."""
    text = PARTS + "arrays: {}\n" + (made or "filesystems: {}") + "\nboot: {esp: [d<0-1>.esp]}"
    assert found("unformatted-esp", text, tmp_path) == expected


MACHINE = (
    "hardware:\n  controllers: {ahci: {ports: 8}, sil: {ports: 4%s}}\n  multipliers: {pm: {behind: sil, port: 0}}\n"
    "  disks: {a<0-3>: {behind: ahci, serial: A<1>, size: 1TB, partitions: {x: {size: 1GiB}, z: {size: rest}}},\n"
    "          p<0-3>: {behind: pm, serial: P<1>, size: 1TB, partitions: {x: {size: 1GiB}, z: {size: rest}}},\n"
    "          s0: {behind: sil, port: 1, serial: S, size: 1TB, partitions: {x: {size: 1GiB}, z: {size: rest}}}}\n"
)
ROOT = "arrays: {os: {level: %s, members: [%s]}}\nfilesystems: {root: {device: os, type: ext4, mount: %s}}"
BOOTS = {
    "on the board": ("", ROOT % ("raid1", "a<0-1>.z", "/"), []),
    "data behind a multiplier": ("", ROOT % ("raid1", "p<0-1>.z", "/srv"), []),
    "all behind a multiplier": ("", ROOT % ("raid1", "p<0-1>.z", "/"), ["10:error"]),
    "/boot behind a multiplier": ("", ROOT % ("raid1", "p<0-1>.z", "/boot"), ["10:error"]),
    "one of a mirror": ("", ROOT % ("raid1", "a0.z, p0.z", "/"), ["10:warning"]),
    "one of a raid5": ("", ROOT % ("raid5", "a<0-1>.z, p0.z", "/"), ["10:warning"]),
    "two of a raid5": ("", ROOT % ("raid5", "a<0-1>.z, p<0-1>.z", "/"), ["10:error"]),
    "two of a raid6": ("", ROOT % ("raid6", "a<0-1>.z, p<0-1>.z", "/"), ["10:warning"]),
    "a multiplier that firmware shows": (", bootable: true", ROOT % ("raid1", "p<0-1>.z", "/"), []),
    "a card that firmware does not show": (", bootable: false", ROOT % ("raid1", "s0.z, p0.z", "/"), ["10:error"]),
    "a card of which nothing is known": ("", ROOT % ("raid1", "a0.z, s0.z", "/"), []),
    "root behind it, /boot not": (
        "", "filesystems: {root: {device: p0.z, type: ext4, mount: /}, boot: {device: a0.x, type: ext4, mount: /boot}}", []),
    "an ESP behind it": ("", "boot: {esp: [p0.x]}", ["9:error"]),
    "one ESP of two behind it": ("", "boot: {esp: [p0.x, a0.x]}", []),
}  # fmt: skip


@pytest.mark.parametrize(("card", "more", "expected"), BOOTS.values(), ids=BOOTS)
def test_boot_behind_multiplier(card: str, more: str, expected: list[str], tmp_path: Path) -> None:
    assert found("boot-behind-multiplier", MACHINE % card + more, tmp_path) == expected


def test_what_hides_the_disks_is_named(tmp_path: Path) -> None:
    ((message, _),) = said(
        "boot-behind-multiplier", MACHINE % "" + ROOT % ("raid1", "a0.z, p0.z", "/"), tmp_path
    )
    assert figures(message, "root", "pm") == "root p0 pm a0"


def test_the_journal_of_an_array_holds_no_esp(tmp_path: Path) -> None:
    """It is on a disk that firmware shows, and to name what hides that disk ended with a traceback."""
    text = (
        "hardware:\n  controllers: {ahci: {ports: 8}, sil: {ports: 4}}\n  multipliers: {pm: {behind: sil, port: 0}}\n"
        "  disks: {j: {behind: ahci, size: 1TB, serial: J}, p<0-2>: {behind: pm, serial: P<1>, size: 1TB}}\n"
        "arrays: {e: {level: raid5, members: [p<0-2>], journal: j}}\n"
        "filesystems: {e: {device: e, type: vfat, mount: /boot/efi}}"
    )
    ((message, _),) = said("boot-behind-multiplier", text, tmp_path)
    assert figures(message, "EFI", "e", "pm").startswith("EFI e p0 p1 p2 pm")


SECRET = """\
hardware: {disks: {d0: {serial: S, size: 1TB, partitions: {os: {size: 100GB}, swap: {size: 4GiB}, data: {size: rest}}}}}
encryption: {crypt: {device: d0.data, key: ask}%s}
filesystems: {root: {device: d0.os, type: ext4, mount: /}, data: {device: crypt, type: ext4, mount: /srv}}
swap: {w: {device: %s}}
"""


def test_plain_swap_beside_encrypted_data(tmp_path: Path) -> None:
    """Only an encrypted root was asked for, and what is read from data comes into memory and into swap as well."""
    (message, _), = said("plain-swap-beside-encryption", SECRET % ("", "d0.swap"), tmp_path)  # fmt: skip
    assert message.startswith("data is encrypted by crypt, and swap w on d0.swap is not")
    assert (
        said("plain-swap-beside-encryption", SECRET % (", s: {device: d0.swap, key: random}", "s"), tmp_path)
        == []
    )
    plain = SECRET.replace("device: crypt,", "device: d0.data,").replace(
        "crypt: {device: d0.data, key: ask}%s", "%s"
    )
    assert said("plain-swap-beside-encryption", plain % ("", "d0.swap"), tmp_path) == []


@pytest.mark.parametrize(
    ("loader", "size", "expected"),
    [("systemd-boot", "399MiB", ["6:warning"]), ("systemd-boot", "400MiB", []), ("grub", "399MiB", [])],
)
def test_small_esp_for_kernels(loader: str, size: str, expected: list[str], tmp_path: Path) -> None:
    text = (
        "hardware:\n  firmware: uefi\n  disks:\n"
        f"    d0: {{size: 1TB, partitions: {{esp: {{size: {size}, type: esp}}, os: {{size: rest}}}}}}\n"
        "filesystems: {e: {device: d0.esp, type: vfat, mount: /boot/efi}, root: {device: d0.os, type: ext4, mount: /}}\n"
        f"boot: {{loader: {loader}}}"
    )
    assert found("small-esp-for-kernels", text, tmp_path) == expected
