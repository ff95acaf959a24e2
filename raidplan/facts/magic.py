"""Formats recognised by magic numbers in ranges of a disk that are no devices, where libblkid cannot be asked.

For devices libblkid decides. Data that neither recognises is reported all the same: the range is not blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.identity import lvm_form
from raidplan.base.magic import PHYSICAL_VOLUME, Magic, raw_uuid
from raidplan.base.reader import Reader


@dataclass(frozen=True, slots=True)
class Found:
    """A format and the place of its magic number, in bytes from the start of the range."""

    offset: int
    type: str
    uuid: str = ""
    label: str = ""


def recognised(read: Reader) -> Iterator[Found]:
    """Every format whose magic number is there; `read` is of the range, and gives nothing for what it lacks."""
    types = (magic for each in FILESYSTEMS.values() for magic in each.magics)
    for magic in (*dict.fromkeys(types), *OTHERS):
        at = next((at for at in magic.offsets if read(at, len(magic.text)) == magic.text), None)
        if at is not None:
            label = read(*magic.label).decode(magic.encoding, "replace").partition("\0")[0].rstrip(" ")
            yield Found(at, magic.type, magic.uuid(read, at), label)


def _luks(read: Reader, at: int) -> str:
    found = read(168, 40).partition(b"\0")[0].decode("ascii", "replace")
    return found if re.fullmatch(r"[0-9a-fA-F-]{36}", found) else ""


def _lvm(read: Reader, at: int) -> str:
    """32 letters and digits, in LVM's groups."""
    found = read(at + 8, 32).decode("ascii", "replace")
    return lvm_form(found) if re.fullmatch(r"\w{32}", found, re.ASCII) else ""


_PAGES = tuple(page - 10 for page in (4096, 8192, 16384, 32768, 65536))
_BCACHE = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")

OTHERS = (
    Magic("swap", _PAGES, b"SWAPSPACE2", raw_uuid(0x40C), (0x41C, 16)),
    Magic("swap", _PAGES, b"SWAP-SPACE"),
    Magic("swsuspend", _PAGES, b"S1SUSPEND"),
    Magic(PHYSICAL_VOLUME, (0x18, 0x218, 0x418, 0x618), b"LVM2 001", _lvm),
    Magic("crypto_LUKS", (0,), b"LUKS\xba\xbe", _luks),
    Magic("crypto_LUKS", tuple(0x4000 << n for n in range(6)), b"SKUL\xba\xbe"),
    Magic("BitLocker", (3,), b"-FVE-FS-"),
    Magic("exfat", (3,), b"EXFAT   "),
    Magic("ntfs", (3,), b"NTFS    "),
    Magic("bcache", (0x1018,), _BCACHE, raw_uuid(0x1028), (0x1048, 32)),
    Magic("zfs_member", tuple(range(0x20000, 0x40000, 0x400)), b"\x0c\xb1\xba\0\0\0\0\0"),
    Magic("iso9660", (0x8001,), b"CD001", label=(0x8028, 32)),
    Magic("jfs", (0x8000,), b"JFS1", raw_uuid(0x8088), (0x8098, 16)),
    Magic("reiserfs", (0x10034,), b"ReIsEr"),
    Magic("gfs2", (0x10000,), b"\x01\x16\x19\x70\0\0\0\x01"),
    Magic("stratis", (0x204,), b"!Stra0tis\x86\xff\x02^\x41rh"),
    Magic("squashfs", (0,), b"hsqs"),
    Magic("apfs", (0x20,), b"NXSB"),
)
"""Formats that raidplan does not make. Offsets and magic numbers as in libblkid's superblock probes (util-linux 2.38), types by its names."""
