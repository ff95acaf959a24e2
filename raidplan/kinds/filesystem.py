"""File systems and where they are mounted."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from raidplan.kinds.model import Integer, Model, Percent, Reference, Size, Word, typed


def _mount_point(text: str) -> str:
    parts = text.split("/")
    if not text.startswith("/") or len(text) > 4096 or (text != "/" and "" in parts[1:]) or {".", ".."} & set(parts):
        raise ValueError(f"'{text}' is not a mount point: write an absolute path such as /srv/data, without . .. // or an end in /")
    if not text.isprintable() or any(len(part.encode()) > 255 for part in parts):
        raise ValueError(f"'{text}' is not a mount point: a part of it is too long or holds a control character")
    return text


def _option(text: str) -> str:
    if not text or not text.isascii() or not text.isprintable() or any(c in text for c in " ,\"'\\#"):
        raise ValueError(f"'{text}' is not a mount option: one word, without spaces, commas and quotes")
    return text


MountPoint = Annotated[str, *typed(_mount_point, {"type": "string", "pattern": "^/"})]
Option = Annotated[str, *typed(_option, {"type": "string", "pattern": r"^[^ ,\"'\\#]+$"})]

class Filesystem(Model):
    """A file system on a partition, an array or a volume."""

    device: Reference
    type: Literal["ext2", "ext3", "ext4", "xfs", "btrfs", "vfat"]
    mount: MountPoint | None = None
    label: Word | None = None
    options: tuple[Option, ...] = ()
    """Mount options; nofail and a device timeout are added where the machine boots without this mount."""
    files: Integer | None = None
    """How many files it is to hold; rules compare it with the inodes."""
    inodes: Integer | None = None
    """ext: how many inodes to make (mke2fs -N)."""
    inode_ratio: Size | None = None
    """ext: bytes for each inode (mke2fs -i)."""
    reserved: Percent = Fraction(5)
    """ext: blocks kept for root (mke2fs -m)."""
