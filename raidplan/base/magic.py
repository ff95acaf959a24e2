"""The magic number of a format, with the places of its UUID and its label."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from raidplan.base.reader import Reader


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
