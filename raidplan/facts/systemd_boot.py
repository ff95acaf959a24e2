"""systemd-boot on an EFI system partition: whether what the firmware and its menu start there is what the system has."""

from __future__ import annotations

from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from raidplan.facts.block import text_of
from raidplan.facts.machine import Properties
from raidplan.plan.boot_loaders import (
    BEHIND_SHIM,
    EFI_IMAGES,
    ENTRY,
    KERNELS,
    OWN_PATH,
    REMOVABLE,
    SHIM,
    SYSTEMD_BOOT,
    EfiImages,
)

ROOT = "root="


def read_systemd_boot(folder: Path, system: Path) -> Properties | None:
    """The `loader` of a partition that is mounted at a folder and starts systemd-boot, whether it is `current` with every kernel,
    and the `root` that its kernels get, several separated by blanks. None where something else is started."""
    own = content(folder, OWN_PATH)
    if not own or own not in (content(folder, REMOVABLE), content(folder, BEHIND_SHIM)):
        return None
    wanted = efi_files(EFI_IMAGES[SYSTEMD_BOOT], system)
    kernels = [
        file.name.removeprefix("vmlinuz-")
        for file in sorted(system.glob("boot/vmlinuz-*"))
        if (system / f"boot/initrd.img-{file.name.removeprefix('vmlinuz-')}").exists()
    ]
    current = bool(wanted) and all(content(folder, name) == data for name, data in wanted.items())
    there = {place.name for place in folder.glob(f"{KERNELS}/*")}
    current = current and bool(kernels) and there == {*kernels}
    current = current and all(_has_kernel(folder, system, version) for version in kernels)
    return {"loader": SYSTEMD_BOOT, "current": current, "root": " ".join(_roots(folder))}


def _has_kernel(folder: Path, system: Path, version: str) -> bool:
    copies = {f"vmlinuz-{version}": "linux", f"initrd.img-{version}": "initrd.img"}
    with suppress(OSError):
        return (folder / ENTRY.format(version)).is_file() and all(
            cmp(system / "boot" / file, folder / KERNELS / version / copy, shallow=False)
            for file, copy in copies.items()
        )
    return False


def _roots(folder: Path) -> list[str]:
    words = (
        word
        for file in sorted(folder.glob(ENTRY.format("*")))
        for line in text_of(file).splitlines()
        if line.startswith("options ")
        for word in line.split()
    )
    return list(dict.fromkeys(word.removeprefix(ROOT) for word in words if word.startswith(ROOT)))


def efi_files(images: EfiImages, system: Path) -> dict[str, bytes]:
    """The files of an EFI system partition that start a loader of the system; none if it has none."""
    signed, shim = content(system, images.signed), content(system, SHIM)
    if signed and shim:
        return {REMOVABLE: shim, BEHIND_SHIM: signed}
    image = signed or content(system, images.plain)
    return {REMOVABLE: image} if image else {}


def content(folder: Path, name: str) -> bytes:
    """The bytes of a file below a folder; empty where there is none."""
    with suppress(OSError):
        return (folder / name.lstrip("/")).read_bytes()
    return b""
