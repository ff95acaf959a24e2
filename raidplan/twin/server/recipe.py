"""The content of a twin's root file system: a Debian release, packages, and a handful of files of ours.

The packages of md and LVM (udev rules, timers, initramfs hooks) stay exactly as Debian ships them, for they
are what is tested. Everything set here only makes an emulated machine start faster or lets it be reached.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass, field

from raidplan.base.filesystems import packages

LIBRARIES = ("python3-sh", "python3-yaml")
"""Those that raidplan requires, as its own Debian package does."""
PACKAGES = (
    *LIBRARIES,
    *(package.name for package in packages()),
    "cryptsetup",
    "cryptsetup-initramfs",
    "fdisk",
    "gdisk",
    "initramfs-tools",
    "iproute2",
    "kmod",
    "linux-image-cloud-amd64",
    "lvm2",
    "lz4",
    "mdadm",
    "openssh-server",
    "procps",
    "python3",
    "strace",
    "systemd-sysv",
    "udev",
    "util-linux",
)
"""The cloud kernel has md, virtio and device-mapper, and is less than half the size of the full one.

strace shows which programs were really started.
"""

MASKED = (
    "apt-daily-upgrade.timer",
    "apt-daily.timer",
    "console-getty.service",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "getty.target",
    "systemd-logind.service",
    "systemd-pstore.service",
    "systemd-timesyncd.service",
    "systemd-update-utmp-runlevel.service",
    "systemd-update-utmp.service",
)
"""Units that have nothing to do with storage and cost an emulated machine seconds: logind, like a message bus, hears of every device."""

NETWORK_UNIT = """\
[Unit]
Description=Address of the user-mode network
DefaultDependencies=no
After=systemd-modules-load.service
Before=network.target ssh.service
Wants=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'modprobe virtio_net; ip link set lo up; ip addr add 10.0.2.15/24 dev eth0; \\
  ip link set eth0 up; ip route add default via 10.0.2.2'

[Install]
WantedBy=sysinit.target
"""

SSHD = """\
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxSessions 64
MaxStartups 64
"""

INITRAMFS = """\
MODULES=list
COMPRESS=lz4
COMPRESSLEVEL=1
RESUME=none
KEYMAP=n
"""
"""A list instead of `most` or `dep`, and the fastest compressor: a rebuild is paid for in emulation."""

INITRAMFS_MODULES = """\
virtio_pci
virtio_blk
virtio_scsi
virtio_net
sd_mod
ext4
dm_mod
"""
"""Loaded by the initramfs before it looks for the root file system; mdadm's own hook adds the levels of md."""

SYNC_LIMIT = "dev.raid.speed_limit_max = 2000\n"
"""KiB/s: emulated parity takes both processors for hours otherwise, and what is tested waits behind it."""


LEAVE = "[Service]\nTimeoutStopSec=5\n"
"""At shutdown lvm2's service waits for syncs to end, as long as systemd lets it: 90 s, and no sync here is that short."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything an image depends on; `digest` names it in the cache."""

    release: str = "bookworm"
    packages: tuple[str, ...] = PACKAGES
    size_mib: int = 4096
    authorized_key: str = ""
    masked: tuple[str, ...] = field(default=MASKED)
    archives: tuple[str, ...] = ()
    """Packages whose archives lie in /root/packages as well, to be installed again without a network."""

    @property
    def included(self) -> tuple[str, ...]:
        """The packages of the image: from Debian 13 on systemd opens encryptions by a package of its own, which it recommends."""
        opens = "cryptsetup" in self.packages and self.release != "bookworm"
        return (*self.packages, *(("systemd-cryptsetup",) if opens else ()))

    @property
    def digest(self) -> str:
        """16 hexadecimal digits over the release, the packages, the size and every file of ours."""
        content = [
            self.release,
            sorted(self.included),
            self.size_mib,
            sorted(self.files().items()),
            self.links(),
            *([sorted(self.archives)] if self.archives else []),
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def files(self) -> dict[str, str]:
        """Path inside the image without a leading slash → content."""
        return {
            "etc/fstab": "/dev/vda / ext4 errors=remount-ro 0 0\n",
            "etc/hostname": "twin\n",
            "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 twin\n",
            "etc/resolv.conf": "nameserver 10.0.2.3\n",
            "etc/initramfs-tools/conf.d/twin": INITRAMFS,
            "usr/share/initramfs-tools/modules.d/twin": INITRAMFS_MODULES,
            # Loaded early, or the limit would be set before there is anything to set.
            "etc/modules-load.d/md.conf": "md_mod\n",
            "etc/sysctl.d/60-sync.conf": SYNC_LIMIT,
            "etc/systemd/system/blk-availability.service.d/twin.conf": LEAVE,
            "etc/ssh/sshd_config.d/twin.conf": SSHD,
            "etc/systemd/system/twin-network.service": NETWORK_UNIT,
            "root/.ssh/authorized_keys": self.authorized_key,
        }

    def links(self) -> dict[str, str]:
        """Symbolic links: path inside the image → target. A unit linked to /dev/null never starts."""
        masks = {f"etc/systemd/system/{unit}": "/dev/null" for unit in sorted(self.masked)}
        wants = "etc/systemd/system/sysinit.target.wants/twin-network.service"
        return {**masks, wants: "/etc/systemd/system/twin-network.service"}

    def overlay(self) -> bytes:
        """The files and links as a tar archive owned by root, the same bytes each time."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, content in sorted(self.files().items()):
                archive.addfile(_regular(path, content), io.BytesIO(content.encode()))
            for path, target in sorted(self.links().items()):
                archive.addfile(_link(path, target))
        return buffer.getvalue()


def _regular(path: str, content: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.size = len(content.encode())
    info.mode = 0o600 if path.startswith("root/") else 0o644
    return info


def _link(path: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type = tarfile.SYMTYPE
    info.linkname = target
    return info
