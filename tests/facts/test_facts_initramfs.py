"""What an initramfs holds is read from any image that the tools make, and from no broken one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from raidplan.facts import initramfs
from raidplan.facts.initramfs import Unreadable, arrays_named
from raidplan.plan.initramfs import INITRAMFS_TOOLS
from tests.initramfs import BY_GNU_CPIO, PACKERS, UUID, boot, cpio, packed

CONF = f"create names=yes\nARRAY /dev/md/s0 metadata=1.2 UUID={UUID}\n# ARRAY /dev/md/x UUID=dead:beef\n".encode()
EARLY = cpio({"kernel/x86/microcode/GenuineIntel.bin": os.urandom(4097)})
MAIN = cpio({"bin/busybox": os.urandom(2_000_001), "etc/mdadm/mdadm.conf": CONF, "init": b"#!/bin/sh\n"})


def image(folder: Path, data: bytes) -> Path:
    file = folder / "initrd.img-6.1"
    file.write_bytes(data)
    return file


def test_an_archive_that_cpio_made(tmp_path: Path) -> None:
    assert arrays_named(image(tmp_path, BY_GNU_CPIO)) == {UUID}


@pytest.mark.parametrize("packer", PACKERS)
def test_every_compression_behind_microcode(packer: str, tmp_path: Path) -> None:
    if not shutil.which(packer.split()[0]):
        pytest.skip(f"{packer} is not installed")
    made = EARLY + packed(MAIN, packer)
    file = image(tmp_path, made)
    assert arrays_named(file) == {UUID} and not initramfs.unpacker(file)
    cut = image(tmp_path, made[:-100_000])
    with pytest.raises(Unreadable, match=r"^image-(short|packed) "):
        arrays_named(cut)


def test_the_last_archive_counts(tmp_path: Path) -> None:
    old = cpio({"etc/mdadm/mdadm.conf": b"ARRAY /dev/md/old UUID=1:2:3:4\n"})
    assert arrays_named(image(tmp_path, old + MAIN)) == {UUID}
    assert arrays_named(image(tmp_path, MAIN + old)) == {"1:2:3:4"}
    assert arrays_named(image(tmp_path, packed(MAIN + old, "gzip"))) == {"1:2:3:4"}


@pytest.mark.parametrize("rest", [b"", b"junk", bytes(1000), EARLY[:50], EARLY + b"junk", packed(EARLY + b"junk", "gzip")])  # fmt: skip
def test_what_is_no_image(rest: bytes, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"initrd\.img-6\.1"):
        arrays_named(image(tmp_path, rest))


def test_a_damaged_length_takes_no_memory(tmp_path: Path) -> None:
    huge = EARLY[:54] + b"FFFFFFFF" + EARLY[62:]
    with pytest.raises(Unreadable, match=r"^image-short "):
        arrays_named(image(tmp_path, huge))
    with pytest.raises(Unreadable, match=r"^image-damaged "):
        arrays_named(image(tmp_path, EARLY[:94] + b"FFFFFFFF" + EARLY[102:]))


def test_the_images_are_those_of_kernels_that_are_there(tmp_path: Path) -> None:
    found = boot(tmp_path, "6.1", "6.12")
    (tmp_path / "boot/initrd.img-5.10").touch()
    for other in (
        "boot/initrd.img-6.1.bak",
        "boot/vmlinuz-6.1.bak",
        "boot/vmlinuz-6.2",
        "boot/initramfs-6.1.img",
    ):
        (tmp_path / other).touch()
    (tmp_path / "lib/modules/5.10").mkdir()
    (tmp_path / "lib/modules/6.2").mkdir()
    kernels = dict(zip(found, ("6.1", "6.12"), strict=True))
    assert initramfs.images(tmp_path, "6.99", INITRAMFS_TOOLS) == kernels
    old = tmp_path / "boot/initrd.img-5.10"
    assert list(initramfs.images(tmp_path, "5.10", INITRAMFS_TOOLS).items()) == [
        (old, "5.10"),
        *kernels.items(),
    ]
