"""Whether a file system is as mkfs left it, asked of what the tools really make."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which

import pytest

from raidplan.base.filesystems import FILESYSTEMS

MIB = 2**20


def made(file: Path, *argv: str, size: int = 64 * MIB) -> Path:
    if which(argv[0]) is None:
        pytest.skip(f"no {argv[0]} here")
    with file.open("wb") as opened:
        opened.truncate(size)
    subprocess.run([*argv, str(file)], check=True, capture_output=True)
    return file


def asked(file: Path, kind: str) -> bool:
    def read(offset: int, size: int) -> bytes:
        with file.open("rb") as opened:
            opened.seek(offset)
            return opened.read(size)

    return kind in FILESYSTEMS and FILESYSTEMS[kind].untouched(read)


def patched(file: Path, at: int, data: bytes) -> Path:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(data)
    return file


def cut_off(file: Path, size: int) -> Path:
    os.truncate(file, size)
    return file


@pytest.mark.parametrize("kind", ["ext2", "ext3", "ext4"])
def test_ext_until_it_is_mounted_or_holds_a_file(kind: str, tmp_path: Path) -> None:
    def fresh() -> Path:
        return made(tmp_path / "image", "mke2fs", "-q", "-F", "-t", kind)

    assert asked(fresh(), kind)
    (free,) = struct.unpack("<I", fresh().read_bytes()[1040:1044])
    changes: dict[str, Callable[[], Path]] = {
        "s_mtime": lambda: patched(fresh(), 1024 + 0x2C, b"\1"),
        "s_mnt_count": lambda: patched(fresh(), 1024 + 0x34, b"\1"),
        "s_last_mounted": lambda: patched(fresh(), 1024 + 0x88, b"/srv"),
        "a file": lambda: patched(fresh(), 1040, struct.pack("<I", free - 2)),
        "cut off": lambda: cut_off(fresh(), 1500),
    }
    assert [name for name, change in changes.items() if asked(change(), kind)] == []


def test_xfs_until_something_is_in_its_log(tmp_path: Path) -> None:
    def fresh() -> Path:
        return made(tmp_path / "image", "mkfs.xfs", "-q", "-f", size=400 * MIB)

    assert asked(fresh(), "xfs")
    start = log_of(fresh())
    (length,) = struct.unpack_from(">I", fresh().read_bytes()[start : start + 16], 12)
    assert not asked(patched(fresh(), start + 512 + length, b"\xfe\xed\xba\xbe"), "xfs")
    assert not asked(patched(fresh(), start + 4, struct.pack(">I", 2)), "xfs"), "the log was cleared later"
    assert not asked(patched(fresh(), start, bytes(4)), "xfs")
    assert not asked(patched(fresh(), 48, bytes(8)), "xfs"), "its log is on another device"
    assert asked(patched(patched(fresh(), start, bytes(4)), 126, b"\1"), "xfs"), "mkfs was never finished"


GEOMETRIES = [
    *(
        (f"su={su}k,sw=4", f"su={log}k", 512)
        for su in (4, 64, 128, 256, 512)
        for log in (4, 32, 64, 128, 256)
    ),
    *(("su=64k,sw=3", f"su={log}k", 4096) for log in (4, 32, 64, 256)),
]


@pytest.mark.parametrize(("data", "log", "sector"), GEOMETRIES)
def test_xfs_of_every_log_stripe_unit(data: str, log: str, sector: int, tmp_path: Path) -> None:
    """Above 32 KiB the record of mkfs.xfs has several header sectors: none of them is use, and what lies behind is."""
    file = made(
        tmp_path / "image",
        "mkfs.xfs",
        "-q",
        "-f",
        "-s",
        f"size={sector}",
        "-d",
        data,
        "-l",
        log,
        size=2048 * MIB,
    )
    assert asked(file, "xfs")
    start = log_of(file)
    with file.open("rb") as opened:
        opened.seek(start)
        head = opened.read(512)
    (length,), (size,) = (struct.unpack_from(">I", head, at) for at in (12, 320))
    end = start + 512 * max(1, -(-size // 32768)) + length
    for behind in (0, 512, 65535):
        assert not asked(patched(file, end + behind, b"\1"), "xfs")
        patched(file, end + behind, b"\0")
    assert asked(file, "xfs")
    assert not asked(patched(file, start + 320, struct.pack(">I", 2**31)), "xfs"), "no record of any mkfs"


def log_of(file: Path) -> int:
    """Where the log of an XFS begins, in bytes."""
    with file.open("rb") as opened:
        sb = opened.read(512)
    (block,), (log,), (blocks,) = (
        struct.unpack_from(form, sb, at) for form, at in ((">I", 4), (">Q", 48), (">I", 84))
    )
    return int(((log >> sb[124]) * blocks + (log & ((1 << sb[124]) - 1))) * block)


def test_what_cannot_be_told_is_taken_for_used(tmp_path: Path) -> None:
    assert not asked(made(tmp_path / "image", "true"), "btrfs")
    assert not any(asked(patched(tmp_path / "image", 0, b""), kind) for kind in ("vfat", "ntfs"))
    (tmp_path / "empty").write_bytes(b"")
    assert not asked(tmp_path / "empty", "xfs")
