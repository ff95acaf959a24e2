"""The magic number of a format, with the places of its UUID and its label; the content of devices by what is found of those."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, Self
from uuid import UUID

from raidplan.base.reader import Reader

MEMBER, PHYSICAL_VOLUME = "linux_raid_member", "LVM2_member"
"""libblkid's words for the superblock of an array's member, and of a physical volume."""


class Magic(NamedTuple):
    """`text` at one of the `offsets`; UUID and label by their places in the range."""

    type: str
    offsets: tuple[int, ...]
    text: bytes
    uuid: Callable[[Reader, int], str] = lambda read, at: ""
    label: tuple[int, int] = (0, 0)
    """Offset and length."""
    encoding: str = "utf-8"
    """The encoding of the label."""


def raw_uuid(offset: int) -> Callable[[Reader, int], str]:
    """A UUID as 16 bytes at a fixed place."""

    def read_uuid(read: Reader, at: int) -> str:
        found = read(offset, 16)
        return str(UUID(bytes=found)) if len(found) == 16 and any(found) else ""

    return read_uuid


class Content(NamedTuple):
    """The content that a signature tells of: libblkid's word for the format, and the UUID; `?` where nobody could look."""

    type: str
    uuid: str

    def __str__(self) -> str:
        return f"{self.type} {self.uuid}".strip()

    @classmethod
    def read(cls, text: str) -> Self:
        """The content in a text of the machine's objects."""
        type, _, uuid = text.partition(" ")
        return cls(type, uuid)


def member_of(uuid: str) -> Content:
    """The superblock of a member of this array."""
    return Content(MEMBER, uuid)


LINE = re.compile(r"([0-9]+) (0x[0-9a-f]+)(?: ([^ ]*))?(?: (.*))?")


class SignatureAt(NamedTuple):
    """A signature and its place: the number of the partition (0: the device itself), the offset in bytes.

    Snapshots, plans and their shell form have it as a line: `0 0x438 ext4 <uuid>`.
    """

    partition: int
    offset: int
    content: Content

    def __str__(self) -> str:
        return f"{self.partition} {self.offset:#x} {self.content.type} {self.content.uuid}".rstrip()

    @classmethod
    def read(cls, line: str) -> Self:
        """The signature in a line. Raises ValueError for a line that no signature has."""
        words = LINE.fullmatch(line)
        found = words and cls(int(words[1]), int(words[2], 16), Content(words[3] or "", words[4] or ""))
        if not found or str(found) != line:
            raise ValueError(f"{line!r:.80} is no signature")
        return found
