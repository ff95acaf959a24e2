"""Images as an initramfs is: cpio archives in the form newc, plain or compressed."""

from __future__ import annotations

import base64
import gzip
import subprocess
from collections.abc import Mapping
from pathlib import Path

UUID = "73f3d392:1aeb5c4e:9d1260fa:8fcc4553"
BY_GNU_CPIO = gzip.decompress(base64.b64decode(
    "H4sIAAAAAAACA+2PvwqDMBCHM/cp9AX0Ln9MFRwiOgidpA4d0yRutkOlz9+WIhhasQhu/Ybjxx3HdwcSJCBM4FiV8B2WFICFmJ3P"
    "QccQEZj6cCMfH4MbDCG+ky446Uqnmjjj3mrb+172KntUfGYffS+Xv2lRfHjfNTLXS0eIahp1CmLr7s92fIOgd4O2etA5RjRo27rM"
    "JeuYZSnNULuzMNxlqUWaQKezfWcMF4Lt/F8Wj4J1FGM4Nqo+VE0YhuTPpjwAVvztWwAEAAA="
))  # fmt: skip
"""What GNU cpio 2.13 makes of `etc/mdadm/mdadm.conf` with one array."""
PACKERS = ("cat", "gzip", "zstd -q", "lz4 -l", "xz", "xz --format=lzma", "bzip2")
"""As mkinitramfs calls them."""


def cpio(files: Mapping[str, bytes]) -> bytes:
    """An archive of regular files."""
    made = b""
    for name, data in {**files, "TRAILER!!!": b""}.items():
        fields = (1, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        made += _padded(b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0", 4)
        made += _padded(data, 4)
    return _padded(made, 512)


def packed(data: bytes, packer: str) -> bytes:
    """The same, compressed by a program."""
    return subprocess.run(packer.split(), input=data, capture_output=True, check=True).stdout


def boot(root: Path, *kernels: str, holds: bytes = b"# nothing\n") -> list[Path]:
    """Kernels and their images below a scratch root, older than any configuration; the images."""
    (root / "boot").mkdir(parents=True, exist_ok=True)
    for kernel in kernels:
        (root / f"boot/vmlinuz-{kernel}").touch()
        (root / "lib/modules" / kernel).mkdir(parents=True, exist_ok=True)
        (root / f"boot/initrd.img-{kernel}").write_bytes(cpio({"etc/mdadm/mdadm.conf": holds}))
    tool = root / "usr/sbin/update-initramfs"
    tool.parent.mkdir(parents=True, exist_ok=True)
    tool.write_text("#!/bin/sh\nmkinitramfs -o …\n")
    return [root / f"boot/initrd.img-{kernel}" for kernel in kernels]


def _padded(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)
