"""Swap areas from their bytes. Formats on disk do not change, outputs of tools do."""

from __future__ import annotations

import os

from raidplan.base.reader import Reader


def is_swap(read: Reader) -> bool:
    """A swap area of this machine's page size (mkswap(8))."""
    return read(os.sysconf("SC_PAGESIZE") - 10, 10) == b"SWAPSPACE2"
