"""The next start: the estimate names the disks without which `check` says that nothing starts, and claims no start that `check` denies."""

from __future__ import annotations

from pathlib import Path

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


KEPT = """hardware:
  firmware: uefi
  disks:
    k<0-1>: {serial: K<1>, size: 1TB, keep: true, partitions: {esp: {size: 512MiB, type: esp}, os: {size: rest}}}
    e<0-3>: {serial: E<1>, size: 4TB}
arrays:
  data: {level: raid6, members: [e<0-3>]}
"""
DATA = "filesystems:\n  data: {device: data, type: xfs, mount: /srv}\n"
SYSTEM = "  efi: {device: k0.esp, type: vfat, mount: /boot/efi}\n  root: {device: os, type: ext4, mount: /}\n"


def test_of_a_system_that_is_not_described_nothing_is_claimed() -> None:
    """`boots without: any one of 2 disks` stood there for the system disk, and one of Windows."""
    assert BOOT not in survival(KEPT + DATA).structure.stands


def test_a_kept_partition_may_have_what_the_layout_does_not_tell(tmp_path: Path) -> None:
    text = f"{KEPT}  os: {{level: raid1, members: [k<0-1>.os]}}\n{DATA}{SYSTEM}"
    (tmp_path / "x.yaml").write_text(f"version: 1\nhost: h\n{text}")
    assert "too-few-boot-loaders" not in {each.rule for each in stated_in(tmp_path / "x.yaml")}
    assert not [*survival(text).killers(BOOT)]
