"""The next start: the estimate names the disks without which `check` says that nothing starts, and claims no start that `check` denies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidplan.estimate.survival import BOOT
from tests.rules.stages import stated_in
from tests.survival.layouts import survival

DISKS = "e: {size: 512MiB%s}, k: {size: 1GiB}, a: {size: rest}"
TYPED = DISKS % ", type: esp"
LAYOUT = """hardware:
  FIRMWARE
  disks:
    d0: {serial: S0, size: 1TB, partitions: {ON0}}
    d1: {serial: S1, size: 1TB, partitions: {ON1}}
    x: {serial: X, size: 1TB, KEEPpartitions: {e: {size: 512MiB, type: esp}, k: {size: 1GiB}, a: {size: rest}}}
BOOT
arrays:
  os: {level: raid1, members: [d<0-1>.a]}
  b: {level: LEVEL, members: [d<0-1>.k]}
filesystems:
  root: {device: os, type: ext4, mount: /}
MORE
"""
UEFI, BIOS = "firmware: uefi", "firmware: bios"
CORE = "k: {size: 1GiB}, a: {size: rest}, e: {size: 1MiB, type: bios-boot}"
E0 = "  e0: {device: d0.e, type: vfat, mount: /boot/efi}"
E1 = "\n  e1: {device: d1.e, type: vfat, mount: /srv/esp}"
X = "\n  other: {device: x.e, type: vfat, mount: /efi}"
ON_X = "  boot: {device: x.k, type: ext4, mount: /boot%s}"
ON_B = "  boot: {device: b, type: ext4, mount: /boot}"


def layout(
    firmware: str,
    boot: str,
    more: str,
    *,
    on0: str = TYPED,
    on1: str = TYPED,
    keep: str = "",
    level: str = "raid1",
) -> str:
    pairs = {
        "FIRMWARE": firmware,
        "BOOT": f"boot: {{{boot}}}",
        "MORE": more,
        "ON0": on0,
        "ON1": on1,
        "KEEP": keep,
    }
    text = LAYOUT.replace("LEVEL", level)
    for word, value in pairs.items():
        text = text.replace(word, value)
    return text


KEPT = "keep: true, "
STARTS = {
    "one ESP, mounted": (layout(UEFI, "loader: grub", E0, on1=DISKS % ""), "d0"),
    "one ESP, and somebody else's loader": (layout(UEFI, "loader: none", E0, on1=DISKS % ""), "d0"),
    "one ESP, and no word of a loader": (layout(UEFI, "esp: []", E0, on1=DISKS % ""), "d0"),
    "one ESP, and no firmware": (layout("", "loader: grub", E0, on0=DISKS % "", on1=DISKS % ""), "d0"),
    "an ESP without FAT beside it": (layout(UEFI, "loader: none", E0), "d0"),
    "two ESPs": (layout(UEFI, "loader: none", E0 + E1), ""),
    "two ESPs, and no firmware": (layout("", "loader: grub", E0 + E1), ""),
    "two ESPs, one is named": (layout(UEFI, "esp: [d0.e]", ""), "d0"),
    "one that firmware cannot read": (layout(UEFI, "loader: none", E0 + E1.replace("vfat", "ext4")), "d0"),
    "either firmware": (layout("", "esp: [d0.e]", "", on0=f"{CORE}, f: {{size: 512MiB, type: esp}}".replace("e: {", "c: {").replace("f: {", "e: {"), on1=CORE), "d0"),
    "another system's ESP": (layout(UEFI, "loader: grub", E0 + X, keep=KEPT), "d0"),
    "another system's ESP that is named": (layout(UEFI, "loader: grub, esp: [d0.e, x.e]", E0 + X, keep=KEPT), ""),
    "a kept ESP, and somebody else's loader": (layout(UEFI, "loader: none", E0 + X, keep=KEPT), ""),
    "a kept ESP alone": (layout(UEFI, "loader: grub", X.strip("\n"), keep=KEPT), "x"),
    "GRUB reads /boot": (layout(BIOS, "loader: grub", ON_X % "", on0=CORE, on1=CORE), "x"),
    "GRUB reads /boot, nofail": (layout(BIOS, "loader: grub", ON_X % ", options: [nofail]", on0=CORE, on1=CORE), "x"),
    "GRUB reads /boot, noauto": (layout(BIOS, "loader: grub", ON_X % ", options: [noauto]", on0=CORE, on1=CORE), "x"),
    "systemd-boot does not": (layout(UEFI, "loader: systemd-boot", ON_X % ", options: [nofail]" + "\n" + E0 + E1), ""),
    "but systemd waits for it": (layout(UEFI, "loader: systemd-boot", ON_X % "" + "\n" + E0 + E1), "x"),
    "the initramfs mounts /usr": (layout(BIOS, "loader: grub", "  usr: {device: x.k, type: ext4, mount: /usr, options: [nofail]}", on0=CORE, on1=CORE), "x"),
}  # fmt: skip
"""The layout, and the disks each of which the next start fails without."""


@pytest.mark.parametrize(("text", "expected"), STARTS.values(), ids=STARTS)
def test_what_check_and_estimate_say_of_the_next_start_agrees(
    text: str, expected: str, tmp_path: Path
) -> None:
    """`check` said "without d0 nothing starts the machine", and `estimate` "boots without: any one of 2 disks"."""
    alone = {each.name for each in survival(text).killers(BOOT)}
    assert alone == set(expected.split())
    (tmp_path / "x.yaml").write_text(f"version: 1\nhost: h\n{text}")
    told = [
        each.message
        for each in stated_in(tmp_path / "x.yaml")
        if each.rule in ("too-few-boot-loaders", "unmirrored-boot")
    ]
    named = re.findall(r"without (\w+)(?: nothing starts|, which /\w+ is on)", " ".join(told))
    assert set(named) == alone, told


NOTHING = {
    "GRUB reads no linear array": layout(BIOS, "loader: grub", ON_B, on0=CORE, on1=CORE, level="linear"),
    "lilo knows nothing of md": layout(BIOS, "loader: lilo", ON_B, on0=CORE, on1=CORE),
    "GRUB opens no encryption": layout(BIOS, "loader: grub", ON_B.replace("device: b", "device: c") + "\nencryption: {c: {device: b, key: ask}}", on0=CORE, on1=CORE),
    "a BIOS, and no partition for it": layout(BIOS, "loader: grub", ON_B),
    "UEFI, and no ESP": layout(UEFI, "loader: grub", ON_B, on0=DISKS % "", on1=DISKS % "").replace(", type: esp", ""),
    "an ESP on LVM": layout("", "esp: [v.e]", "volume_groups: {v: {devices: [x.a], volumes: {e: {size: 1GiB}}}}"),
    "an ESP on a striped array": layout(UEFI, "esp: [b]", "", level="raid0"),
    "no FAT on any": layout(UEFI, "loader: none", E0.replace("vfat", "ext4")),
    "sectors of 4096 bytes": layout(BIOS, "loader: grub", "", on0=CORE, on1=CORE).replace("size: 1TB", "size: 1TB, logical_block: 4096"),
    "GRUB's modules elsewhere": layout(BIOS, "loader: grub", "  g: {device: x.k, type: ext4, mount: /boot/grub}", on0=CORE, on1=CORE),
}  # fmt: skip


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_nothing_is_claimed_of_a_start_that_check_denies(text: str, tmp_path: Path) -> None:
    """`boots without: any one of 2 disks` stood there although GRUB cannot read the kernels."""
    (tmp_path / "x.yaml").write_text(f"version: 1\nhost: h\n{text}")
    assert [each for each in stated_in(tmp_path / "x.yaml") if str(each.severity) == "error"]
    assert BOOT not in survival(text).structure.stands
