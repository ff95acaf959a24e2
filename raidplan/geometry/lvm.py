"""LVM: where a physical volume's extents begin, how many there are, and UUIDs in LVM's own form.

Sources: lvm2 2.03.16 to 2.03.39, ``lib/format_text/format-text.c`` (``_text_pv_add_metadata_area``,
``_text_pv_setup``), ``lib/metadata/metadata.c`` (``get_default_pvmetadatasize_sectors``,
``extents_from_size``), ``lib/metadata/vg.c`` (``vg_check_new_extent_size``), ``lib/id/id.c``. One metadata
area of default size, 4 KiB pages.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NamedTuple

from raidplan.base.size import KIB, MIB, SECTOR, align_up, is_power_of_two

DEFAULT_EXTENT: Final = 4 * MIB
DEFAULT_ALIGNMENT: Final = MIB
MOST_EXTENTS: Final = 2**32 - 1
_LEAST_PV: Final = 2 * MIB
_METADATA_END: Final = MIB
_ODD_EXTENT_STEP: Final = 128 * KIB
_MOST_EXTENT_BYTES: Final = (2**32 - 1) * SECTOR
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""LVM reads ``!`` and ``#`` too but makes none; an id that begins with ``#`` it prints without dashes."""
_GROUPS: Final = (6, 4, 4, 4, 4, 4, 6)


class PhysicalVolume(NamedTuple):
    """A physical volume: ``extents`` extents of ``extent_bytes`` from ``pe_start_bytes`` on."""

    pe_start_bytes: int
    extent_bytes: int
    extents: int

    @property
    def size_bytes(self) -> int:
        return self.extents * self.extent_bytes


def physical_volume(
    device_bytes: int, alignment_bytes: int = DEFAULT_ALIGNMENT, extent_bytes: int = DEFAULT_EXTENT
) -> PhysicalVolume:
    """The result of pvcreate --dataalignment and vgcreate --physicalextentsize on a device.

    The metadata ends at 1 MiB, and the extents begin at the next multiple of the alignment.

    Raises ``ValueError`` for a device under 2 MiB or without room for one extent, and for a bad alignment or
    extent.
    """
    check_extent(extent_bytes)
    if alignment_bytes <= 0 or alignment_bytes % SECTOR:
        raise ValueError(f"an alignment of {alignment_bytes} B is not a multiple of {SECTOR} B")
    if device_bytes < _LEAST_PV:
        raise ValueError(f"a physical volume needs {_LEAST_PV} B, the device has {device_bytes} B")
    start = align_up(_METADATA_END, alignment_bytes)
    extents = (device_bytes - start) // extent_bytes
    if extents < 1:
        raise ValueError(
            f"a device of {device_bytes} B has no room for an extent of {extent_bytes} B after {start} B"
        )
    if extents > MOST_EXTENTS:
        raise ValueError(f"{extents} extents of {extent_bytes} B are more than {MOST_EXTENTS}")
    return PhysicalVolume(start, extent_bytes, extents)


def check_extent(extent_bytes: int) -> None:
    """Checks an extent size. Raises ``ValueError`` unless it is a power of two from 512 B or a multiple of 128 KiB."""
    odd = not is_power_of_two(extent_bytes) and extent_bytes % _ODD_EXTENT_STEP
    if odd or not SECTOR <= extent_bytes <= _MOST_EXTENT_BYTES:
        raise ValueError(f"an extent of {extent_bytes} B is neither a power of two nor a multiple of 128 KiB")


def lvm_uuid(text: str) -> str:
    """An LVM UUID derived from ``text``: 32 characters (190 bits) in LVM's groups of 6-4-4-4-4-4-6."""
    number = int.from_bytes(sha256(text.encode()).digest(), "big")
    digits = []
    for _ in range(sum(_GROUPS)):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    groups = []
    for length in _GROUPS:
        groups.append("".join(digits[:length]))
        digits = digits[length:]
    return "-".join(groups)
