"""The partitions of a table, as proofs have them, and the types that plans write, by the words of a layout."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from raidplan.base.identity import Identity

TYPE_CODES: dict[str, str] = {
    "linux": "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
    "raid": "A19D880F-05FC-4D3B-A006-743F0F84911E",
    "lvm": "E6D6D379-F507-44C2-A23C-238F2A3DF928",
    "swap": "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F",
    "esp": "C12A7328-F81F-11D2-BA4B-00A0C93EC93B",
    "bios-boot": "21686148-6449-6E6F-744E-656564454649",
}
"""GPT partition types (UEFI specification 2.10, 5.3.3; systemd's discoverable partitions)."""


class PartitionRow(NamedTuple):
    """A partition in the table of a proof or a machine; start and size in bytes, the type as a code."""

    uuid: str
    start: int
    size: int
    type: str

    def __str__(self) -> str:
        return " ".join(map(str, self))

    @classmethod
    def read(cls, text: str) -> Self:
        """The partition in a row. Raises ValueError."""
        uuid, start, size, type = text.split()
        return cls(uuid, int(start), int(size), type)

    @property
    def identity(self) -> str:
        """The partition as proofs name it."""
        return str(Identity("partition", self.uuid))


def partition_rows(rows: object) -> tuple[PartitionRow, ...]:
    """The partitions in the property of a table. Raises ValueError."""
    return tuple(map(PartitionRow.read, rows)) if isinstance(rows, list | tuple) else ()


class TableLine(NamedTuple):
    """A partition in the text by which sfdisk(8) writes a table."""

    text: str
    sectors: str
    """Its size in logical sectors."""
    name: str


def table_lines(script: str) -> dict[str, TableLine]:
    """The partitions in the text of a table, by their UUIDs."""
    found = re.finditer(r'^.*\bsize=(\d+),.*\buuid=([0-9A-F-]+), name="(.*)"$', script, re.MULTILINE)
    return {each[2].lower(): TableLine(each[0], each[1], each[3]) for each in found}


def table_uuid(script: str) -> str:
    """The UUID of the disk in the text of a table."""
    found = re.search(r"^label-id: (\S+)$", script, re.MULTILINE)
    return found[1].lower() if found else ""
