"""A layout's machine as virtual hardware: one bus for each thing that disks hang on."""

from __future__ import annotations

from raidplan.layout.model import Layout
from raidplan.twin.server.hardware import Disk


def disks_of(layout: Layout) -> list[Disk]:
    """The disks of a layout, in its order, of their true sizes and with their serial numbers.

    A disk without a serial number gets its name as one. Raises ValueError for a disk without a size.
    """
    return [_disk(name, layout) for name in layout.hardware.disks]


def _disk(name: str, layout: Layout) -> Disk:
    disk = layout.hardware.disks[name]
    if disk.size is None:
        raise ValueError(f"{name} has no size, so no virtual disk can be made")
    return Disk(
        name=name,
        size_bytes=disk.size // 512 * 512,
        serial=disk.serial or name,
        wwn=disk.wwn or "",
        model=disk.model or "",
        behind=disk.behind or "onboard",
        logical_block=disk.logical_block or 512,
        physical_block=disk.physical_block or disk.logical_block or 512,
        rotational=disk.rotational is not False,
    )
