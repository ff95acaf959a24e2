"""Swap areas: a partition, an array, a volume, or a file."""

from __future__ import annotations

from raidplan.kinds.filesystem import MountPoint
from raidplan.kinds.model import Integer, Model, Reference, Size, Word


class Swap(Model):
    """A swap area; either `device`, or `file` with its `size`."""

    device: Reference | None = None
    file: MountPoint | None = None
    size: Size | None = None
    priority: Integer | None = None
    """-1 to 32767; areas of equal priority are used in turn, as a stripe."""
    label: Word | None = None
