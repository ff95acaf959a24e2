"""LUKS2: where the encrypted data begin on a device, and how many bytes there are for what stands on them.

Sources: cryptsetup 2.4 to 2.8, ``lib/luks2/luks2_json_format.c`` (``LUKS2_generate_hdr``: 16 MiB for the header with its
key slots, the data at the next multiple of the alignment), ``lib/luks2/luks2.h`` (``LUKS2_DEFAULT_HDR_SIZE``), ``lib/setup.c``
(``_crypt_format_luks2``: a device whose data are no whole sectors is refused), cryptsetup-luksFormat(8) (``--offset``).
"""

from __future__ import annotations

from typing import Final

from raidplan.base.size import MIB, SECTOR, SECTORS, align_up

HEADER: Final = 16 * MIB
"""Bytes of both headers and the key slots."""
LABEL: Final = MIB
"""Bytes in front of an area with a random key, for a label by which the device is known."""


def data_offset(stripe_bytes: int, front_bytes: int = HEADER) -> int:
    """Bytes before the data: at least ``front_bytes``, and a multiple of a full stripe, or of 1 MiB without one.

    A stripe of the data is then a stripe of the device. Raises ``ValueError`` for a stripe of no whole sectors.
    """
    if stripe_bytes % SECTOR:
        raise ValueError(f"a stripe of {stripe_bytes} B is not a multiple of {SECTOR} B")
    return align_up(front_bytes, stripe_bytes or MIB)


def sector_size(device_bytes: int, offset_bytes: int, logical_block: int, physical_block: int) -> int:
    """The largest sector in bytes that the device writes as one, and of which its data are a whole number.

    With more than the device's physical block, a sector that a power cut tore would be lost as a whole.
    """
    data = device_bytes - offset_bytes
    fit = (size for size in SECTORS if logical_block <= size <= max(logical_block, physical_block))
    return max((size for size in fit if data % size == 0), default=max(logical_block, SECTOR))


def data_bytes(device_bytes: int, offset_bytes: int, sector_bytes: int) -> int:
    """The bytes of the opened device. Raises ``ValueError`` where cryptsetup refuses the format."""
    size = device_bytes - offset_bytes
    if sector_bytes not in SECTORS:
        raise ValueError(
            f"a sector of {sector_bytes} B is none of {', '.join(map(str, SECTORS))} B, which dm-crypt knows"
        )
    if size < sector_bytes:
        raise ValueError(f"a device of {device_bytes} B has no room for data behind {offset_bytes} B")
    if size % sector_bytes:
        raise ValueError(
            f"the {size} B behind the header are no whole number of sectors of {sector_bytes} B, which cryptsetup refuses"
        )
    return size
