"""The files of safety copies beside the journal: their form, packed and read again.

One packed file for each disk, and one for the configuration; their digests are in the journal. A part of a run that
has more to keep adds another file: of several of one disk, and of the configuration, the last one counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.apply.journal.journal import BrokenJournal
from raidplan.apply.journal.past import COPIES
from raidplan.facts import DiskFact

DISK, CONFIGURATION = ".disk", "files.configuration"
"""The suffix of the copies of disks, and the first name of the copy of the configuration."""

Range = tuple[int, int]
"""Start and size in bytes."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The earlier content of a disk, by start in bytes; and the changes that each step makes to it."""

    disk: str
    size: int
    sector: int
    pieces: Mapping[int, bytes]
    zeroed: Mapping[str, tuple[Range, ...]] = field(default_factory=dict)
    table: str = ""
    """The step that writes a partition table, if one does."""
    serial: str = ""
    wwn: str = ""

    def is_of(self, disk: DiskFact) -> bool:
        """The copy was taken from this disk, as far as the disk has identifiers."""
        identifiers = ((self.serial, disk.serial), (self.wwn, disk.wwn))
        return all(was == now for was, now in identifiers if was and now)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps whose writes to the disk can be undone."""
        return (*self.zeroed, *([self.table] if self.table else []))


@dataclass(frozen=True, slots=True)
class FileCopy:
    """The earlier content of a configuration file; None: there was none. `made`: by step, the digests of the content that it makes of it."""

    before: bytes | None
    made: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnitCopy:
    """The earlier state of a unit, in systemd's word (`enabled`…). `verbs`: by step, its verb for systemctl."""

    before: str
    verbs: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Copies:
    """All copies of a run, by name."""

    disks: dict[str, Copy] = field(default_factory=dict)
    files: dict[str, FileCopy] = field(default_factory=dict)
    units: dict[str, UnitCopy] = field(default_factory=dict)


def digest(data: bytes | None) -> str:
    """The digest of a file's content; empty where there is none."""
    return "" if data is None else "sha256:" + hashlib.sha256(data).hexdigest()


def packed(copy: Copy) -> bytes:
    """A line of JSON, and the pieces one after another, packed by zlib."""
    head = {
        "disk": copy.disk,
        "size": copy.size,
        "sector": copy.sector,
        "zeroed": copy.zeroed,
        "table": copy.table,
        "serial": copy.serial,
        "wwn": copy.wwn,
        "pieces": [[start, len(data)] for start, data in copy.pieces.items()],
    }
    return json.dumps(head).encode() + b"\n" + zlib.compress(b"".join(copy.pieces.values()), 1)


def unpacked(data: bytes) -> Copy:
    """The copy in such a file, whose digest was right."""
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    content = zlib.decompress(rest)
    pieces, at = {}, 0
    for start, size in head.pop("pieces"):
        pieces[start] = content[at : at + size]
        at += size
    zeroed = {
        step: tuple((start, size) for start, size in ranges) for step, ranges in head.pop("zeroed").items()
    }
    return Copy(pieces=pieces, zeroed=zeroed, **head)


def packed_configuration(copies: Copies) -> bytes:
    """The files and the units as JSON."""
    files = {
        name: {"before": None if file.before is None else base64.b64encode(file.before).decode(), "made": file.made}
        for name, file in copies.files.items()
    }  # fmt: skip
    units = {name: {"before": unit.before, "verbs": unit.verbs} for name, unit in copies.units.items()}
    return json.dumps({"files": files, "units": units}).encode()


def _unpack_configuration(data: bytes, copies: Copies) -> None:
    read = json.loads(data)
    for name, file in read["files"].items():
        before = None if file["before"] is None else base64.b64decode(file["before"])
        copies.files[name] = FileCopy(
            before, {step: tuple(digests) for step, digests in file["made"].items()}
        )
    copies.units |= {name: UnitCopy(unit["before"], unit["verbs"]) for name, unit in read["units"].items()}


def read_copies(folder: Path, digests: Mapping[str, str]) -> Copies:
    """The copies of a run. Raises OSError, and BrokenJournal for one that was changed."""
    copies = Copies()
    for name, wanted in digests.items():
        file = folder / COPIES / name
        data = file.read_bytes() if file.is_file() else b""
        if digest(data) != wanted:
            raise BrokenJournal("copy-changed", file)
        try:
            if Path(name).suffix == Path(CONFIGURATION).suffix:
                _unpack_configuration(data, copies)
            else:
                copy = unpacked(data)
                copies.disks[copy.disk] = copy
        except (ValueError, TypeError, KeyError, zlib.error):
            raise BrokenJournal("copy-unread", file) from None
    return copies
