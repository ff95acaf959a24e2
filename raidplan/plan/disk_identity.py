"""A disk of the layout as it is found on the machine, and what is only described on it; as plain values for JSON too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

STRONG = ("serial", "wwn")
"""Identifiers that belong to a disk wherever it is plugged in; a path belongs to the plug."""
IDENTIFIERS = (*STRONG, "path", "model")


@dataclass(frozen=True, slots=True)
class KeptPartition:
    """A partition of a table that stays; what is empty or 0 is not compared."""

    number: int
    name: str
    """The name in the layout."""
    size: int = 0
    """Bytes."""
    type: str = ""
    """The GPT type, in lower case."""
    holds: str = ""
    """The content, by libblkid's word: `ext4`, `swap`, `linux_raid_member`."""
    mount: str = ""
    uuid: str = ""
    """The UUID of the partition."""
    keep: bool = True
    """It is never written to; else it is used, and stands beside one that is kept."""


@dataclass(frozen=True, slots=True)
class DiskIdentity:
    """The identity of a disk of the layout on the machine; empty texts are not compared.

    `size` (bytes) is the least it may have; `device` is given by `--devices` in place of an identity.
    """

    name: str
    size: int
    logical_block: int = 512
    serial: str = ""
    wwn: str = ""
    path: str = ""
    model: str = ""
    device: str = ""
    wipe: bool = False
    """The disk's content may be destroyed, once a person has confirmed the list of it."""
    keep: bool = False
    """The disk is described only, and nothing may ever write to it."""
    partitions: tuple[KeptPartition, ...] = ()
    """The partitions of such a disk, and of one that has a kept partition."""


def disk_to_data(disk: DiskIdentity) -> dict[str, Any]:
    """The disk as plain values; what only kept disks have is left out of others, as in plans of before."""
    data = asdict(disk)
    if not (disk.keep or disk.partitions):
        return {key: data[key] for key in data if key not in ("keep", "partitions")}
    for part in data["partitions"]:
        if disk.keep:
            del part["keep"]
        if not part["uuid"]:
            del part["uuid"]
    return data


def disk_from_data(data: Mapping[str, Any]) -> DiskIdentity:
    """The disk in plain values. Raises TypeError."""
    partitions = data.get("partitions", [])
    if type(partitions) is not list:
        raise TypeError("the partitions of a disk are no list")
    kept = tuple(KeptPartition(**_typed(KeptPartition, each)) for each in partitions)
    rest = {key: value for key, value in data.items() if key != "partitions"}
    return DiskIdentity(**_typed(DiskIdentity, rest), partitions=kept)


def _typed(of: type[DiskIdentity | KeptPartition], data: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {field.name: field.type for field in fields(of)}
    for key, value in data.items():
        if kinds.get(key) != type(value).__name__:
            raise TypeError(f"{value!r:.80} is no {key} of a disk")
    return dict(data)
