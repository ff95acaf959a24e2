"""The devices that the firmware and the boot loader read: the file system of the kernel, and the EFI system partitions."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.layout.kinds.boot_options import ESP_MOUNTS
from raidplan.rules.lib.subjects import mounted
from raidplan.topology import Topology
from raidplan.topology.boot_places import boot_places, made_root


def boot_filesystem(topology: Topology) -> str | None:
    """The file system that holds kernel and initramfs: that of /boot, else the root."""
    mounts = topology.once(mounted)
    return mounts.get("/boot", mounts.get("/"))


def read_by_loader(topology: Topology) -> tuple[str, str | None]:
    """The boot loader, GRUB where none is named, and the file system that it reads kernel and initramfs from; None of
    systemd-boot where it has them on the EFI system partition."""
    loader, name = topology.layout.boot.loader or "grub", boot_filesystem(topology)
    copied = (
        name is None
        or topology.layout.filesystems[name].mount != "/boot"
        or bool(made_root(topology) and boot_places(topology))
    )
    return loader, None if loader == "systemd-boot" and copied else name


def esps(topology: Topology) -> dict[str, Path]:
    """The EFI system partitions, by `boot.esp` or by where they are mounted, and where that is written."""
    found: dict[str, Path] = {}
    for number, device in enumerate(topology.layout.boot.esp):
        found.setdefault(device, ("boot", "esp", number))
    mounts = topology.once(mounted)
    for mount in (*ESP_MOUNTS, "/boot"):
        name = mounts.get(mount)
        if name is not None and (mount != "/boot" or topology.layout.filesystems[name].type == "vfat"):
            found.setdefault(topology.layout.filesystems[name].device, ("filesystems", name, "device"))
    return {device: path for device, path in found.items() if device in topology.provider}
