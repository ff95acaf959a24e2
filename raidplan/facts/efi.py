"""The variables of UEFI firmware: which partitions it starts from, and whether it checks signatures.

Source: UEFI specification 2.10, 3.1.3 (load options), 3.3 (variables) and 10.3 (device paths).
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterator
from pathlib import Path

from raidplan.facts.machine import Properties
from raidplan.plan.boot_loaders import REMOVABLE

VARIABLES = "sys/firmware/efi/efivars"
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
ATTRIBUTES = 4
"""Bytes of attributes before the value of a variable (Documentation/filesystems/efivarfs.rst)."""
ACTIVE = 1
HARD_DRIVE, FILE = (4, 1), (4, 4)
BY_GUID = 2
"""Type and subtype of parts of a device path, and the kind of signature of a GPT partition."""


def read_boot_entries(root: Path) -> dict[str, Properties]:
    """By UUID of a partition: whether an active entry of the boot order starts its `removable` path."""
    order = _value(root, "BootOrder")
    numbers = struct.unpack(f"<{len(order) // 2}H", order[: len(order) // 2 * 2])
    found: dict[str, Properties] = {}
    for number in numbers:
        for partition, file in _starts(_value(root, f"Boot{number:04X}")):
            path = file.replace("\\", "/").strip("/")
            is_it = path.upper() == REMOVABLE.upper() or found.get(partition) == {"removable": True}
            found[partition] = {"removable": is_it}
    return found


def read_secure_boot(root: Path) -> bool:
    """Whether the firmware starts signed programs only."""
    return _value(root, "SecureBoot")[:1] == b"\1"


def _value(root: Path, name: str) -> bytes:
    try:
        return (root / VARIABLES / f"{name}-{GLOBAL}").read_bytes()[ATTRIBUTES:]
    except OSError:
        return b""


def _starts(option: bytes) -> Iterator[tuple[str, str]]:
    """The partition and file of an active load option, if it names them."""
    if len(option) < 6:
        return
    attributes, length = struct.unpack_from("<IH", option)
    end = next((at + 2 for at in range(6, len(option) - 1, 2) if option[at : at + 2] == b"\0\0"), len(option))
    path, partition = option[end : end + length], ""
    while attributes & ACTIVE and len(path) >= 4:
        kind, subtype, size = struct.unpack_from("<BBH", path)
        part, path = path[4:size], path[max(size, 4) :]
        if (kind, subtype) == HARD_DRIVE and len(part) >= 38 and part[37] == BY_GUID:
            partition = str(uuid.UUID(bytes_le=part[20:36]))
        elif (kind, subtype) == FILE and partition:
            yield partition, part.decode("utf-16-le", errors="replace").rstrip("\0")
