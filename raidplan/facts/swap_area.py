"""Swap areas from their bytes. Formats on disk do not change, outputs of tools do."""

from __future__ import annotations

import os
from collections.abc import Mapping

from raidplan.base.reader import Reader, little
from raidplan.plan.step import Value

HEADER = 1024
"""The start of `info` in `union swap_header`: its version, and the number of the last page."""


def is_swap(read: Reader) -> bool:
    """A swap area of this machine's page size (mkswap(8))."""
    return read(_page() - 10, 10) == b"SWAPSPACE2"


def area(read: Reader) -> Mapping[str, Value]:
    """The size that a swap area has recorded as its own, and that of its pages, in bytes; nothing where it cannot be told."""
    header = read(HEADER, 8)
    if not is_swap(read) or len(header) < 8 or little(header, "I", 0) != 1:
        return {}
    return {"page": _page(), "size": (little(header, "I", 4) + 1) * _page()}


def _page() -> int:
    return os.sysconf("SC_PAGESIZE")
