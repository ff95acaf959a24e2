"""Options and places with which a file system of the system itself is of no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import found, said

TEXT = """hardware:
  firmware: uefi
  disks: {d0: {serial: S0, size: 1TB, KEEPpartitions: {e: {size: 512MiB, type: esp}, k: {size: 1GiB}, v: {size: 9GiB}, a: {size: rest}}}}
boot: {loader: LOADER}
filesystems:
  e0: {device: d0.e, type: vfat, mount: /boot/efi}
  root: {device: d0.a, type: ext4, mount: /ROOT}
  boot: {device: d0.k, type: ext4, mount: /bootBOOT}
  more: {device: d0.v, type: ext4, mount: MORE}
"""


def machine(
    *, loader: str = "grub", root: str = "", boot: str = "", more: str = "/srv", keep: str = ""
) -> str:
    text = TEXT.replace("LOADER", loader).replace("MORE", more).replace("KEEP", keep)
    for word, options in (("ROOT", root), ("BOOT", boot)):
        text = text.replace(word, f", options: [{options}]" if options else "")
    return text


USELESS = {
    "nothing": (machine(), []),
    "a /boot that is not mounted": (machine(boot="noauto"), ["10:error"]),
    "it is mounted by whoever looks into it": (machine(boot="noauto, x-systemd.automount"), []),
    "a /boot that may be missing": (machine(boot="nofail"), ["10:warning"]),
    "it is an error to look into it": (machine(boot="nofail, x-systemd.automount"), []),
    "systemd-boot copies its kernels from there": (machine(loader="systemd-boot", boot="noauto"), ["10:error"]),
    "nobody's loader": (machine(loader="none", boot="noauto"), []),
    "a root that takes no system": (machine(root="ro"), ["9:error"]),
    "a /boot that takes none": (machine(boot="ro"), ["10:error"]),
    "a /var that takes none": (machine(more="/var, options: [ro]"), ["11:error"]),
    "a /usr that takes none": (machine(more="/usr, options: [ro]"), ["11:error"]),
    "data": (machine(more="/srv, options: [ro]"), []),
    "data with a mount point below": (machine(more="/boot/efi/EFI").replace("/boot/efi}", "/boot/efi, options: [ro]}").replace("loader: grub", "loader: none"), ["8:error"]),
    "what is described only": (machine(root="ro", boot="ro", keep="keep: true, "), []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), USELESS.values(), ids=USELESS)
def test_unusable_system_mount(text: str, expected: list[str], tmp_path: Path) -> None:
    """`noauto` at /boot was accepted, where the next update makes a menu without kernels; and `ro`, where `apply` fails half-way."""
    assert found("unusable-system-mount", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("loader", "mount", "expected"),
    [
        ("grub", "/boot/grub", ["11:error"]),
        ("grub", "/boot/grub/x86_64-efi", ["11:error"]),
        ("grub", "/boot/grubby", []),
        ("systemd-boot", "/boot/grub", []),
        ("none", "/boot/grub", []),
    ],
)
def test_grubs_files_stay_in_boot(loader: str, mount: str, expected: list[str], tmp_path: Path) -> None:
    """No rule looked below /boot/grub: on a linear array or an encryption there, nothing was said."""
    assert found("system-folder-apart", machine(loader=loader, more=mount), tmp_path) == expected


@pytest.mark.parametrize(("loader", "options", "told"), [("systemd-boot", "nofail", 0), ("systemd-boot", "noatime", 1), ("grub", "nofail", 1)])  # fmt: skip
def test_a_boot_that_nobody_waits_for_stops_no_start(
    loader: str, options: str, told: int, tmp_path: Path
) -> None:
    """systemd-boot reads the kernels from the EFI system partitions: the machine starts without /boot."""
    text = machine(loader=loader, boot=options).replace("device: d0.a", "device: os").replace("d0.k", "d1.v")
    text = text.replace("disks: {d0: {serial: S0,", "disks: {d<0-1>: {serial: S<1>,")
    text += (
        "  e1: {device: d1.e, type: vfat, mount: /efi}\narrays: {os: {level: raid1, members: [d<0-1>.a]}}\n"
    )
    assert len(said("unmirrored-boot", text, tmp_path)) == told
