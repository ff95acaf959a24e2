"""The record of the files in place of a layout's disks, as a value and as it is written down."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from raidplan.base.size import align_up
from raidplan.layout.kinds.reference import NAME_PATTERN
from raidplan.topology import Topology

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class DiskFile:
    """The file in place of a disk. `inode` is None until it is recorded; no loop is made before that."""

    disk: str
    size: int
    """Bytes."""
    sector: int
    """Bytes in a logical sector of the loop device."""
    inode: int | None = None

    @property
    def name(self) -> str:
        """The file's name in the folder."""
        return f"{self.disk}.img"


@dataclass(frozen=True, slots=True)
class Record:
    """The files of a folder, made or about to be made."""

    host: str
    scale: int
    files: tuple[DiskFile, ...]

    def same_disks(self, other: Record) -> bool:
        """Made for the same disks of the same host at the same scale."""
        return self.blank() == other.blank()

    def blank(self) -> Record:
        """The record as it was before anything was made."""
        files = tuple(DiskFile(file.disk, file.size, file.sector) for file in self.files)
        return Record(self.host, self.scale, files)


def used_disks(topology: Topology) -> Iterator[str]:
    """The disks that a plan of this layout would touch."""
    for name, disk in topology.layout.hardware.disks.items():
        if disk.partitions or name in topology.used_by:
            yield name


def record_of(topology: Topology, scale: int = 1) -> Record:
    """The files for a layout, which is the scaled one already. All its disks in use have sizes.

    They are not a byte smaller than the layout's disks: a smaller disk is not the layout's.
    """
    disks = topology.layout.hardware.disks
    files = []
    for name in used_disks(topology):
        sector = disks[name].logical_block or 512
        files.append(DiskFile(name, align_up(disks[name].size or 0, sector), sector))
    return Record(topology.host, scale, tuple(files))


def as_json(data: Mapping[str, Any]) -> str:
    """Our files' form."""
    return json.dumps({"format_version": FORMAT_VERSION, **data}, indent=2) + "\n"


def to_text(record: Record) -> str:
    """The record as it is written."""
    files = [{"disk": f.disk, "size": f.size, "sector": f.sector, "inode": f.inode} for f in record.files]
    return as_json({"host": record.host, "scale": record.scale, "files": files})


def from_text(text: str) -> Record:
    """The record in a text. Raises ValueError, TypeError or KeyError for one that we would not have written."""
    data = json.loads(text)
    if data["format_version"] != FORMAT_VERSION:
        raise ValueError(f"its format_version is {data['format_version']}, known is {FORMAT_VERSION}")
    files = tuple(
        DiskFile(_name(row["disk"]), int(row["size"]), int(row["sector"]), row["inode"] and int(row["inode"]))
        for row in data["files"]
    )
    return Record(_name(data["host"]), int(data["scale"]), files)


def _name(text: object) -> str:
    # The name becomes a file's: no slash, no dots.
    if not isinstance(text, str) or not re.fullmatch(NAME_PATTERN, text):
        raise ValueError(f"{text!r} is not a name")
    return text
