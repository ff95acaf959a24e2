"""Safety copies: what stood where a plan is going to write, kept beside the journal before its first step.

Both ends of everything that is written over, and every range that is cleared: partition tables, md superblocks,
LVM metadata and the signatures of file systems lie there. One file for each disk, packed; its digest is in the journal.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from raidplan.apply.guard import PARTITION
from raidplan.facts import DiskFact, Machine
from raidplan.plan import Plan, Run, Step, WriteBlock, WriteFile, Zero
from raidplan.size import MIB, human

if TYPE_CHECKING:
    from raidplan.apply.world import World

FOLDER = "copies"
FILES = "files"
END = MIB
"""Bytes kept of both ends: a GPT takes 34 sectors at the front and 33 at the back, md and LVM write within 1 MiB."""
MOST = 256 * MIB
"""Bytes of all copies of one run, packed."""
HARMLESS = ("modprobe", "udevadm", "systemctl", "update-initramfs", "rm")
STOPS = (("mdadm", "--stop"), ("vgchange", "--activate", "n"))
"""What takes nothing away that a boot would not bring back."""

Range = tuple[int, int]
"""Start and size in bytes."""


class NoRoom(Exception):
    """The journal or the copies cannot be kept; the message says why. Nothing was written to any disk."""


@dataclass(frozen=True, slots=True)
class Copy:
    """What stood on a disk, by start in bytes of the disk; and what each step makes of it."""

    disk: str
    size: int
    sector: int
    pieces: Mapping[int, bytes]
    zeroed: Mapping[str, tuple[Range, ...]] = field(default_factory=dict)
    table: str = ""
    """The step that writes a partition table, if one does."""


@dataclass(slots=True)
class Wanted:
    """What is to be kept of a disk."""

    ranges: list[Range] = field(default_factory=list)
    zeroed: dict[str, tuple[Range, ...]] = field(default_factory=dict)
    table: str = ""


def wanted(left: Plan, disks: Mapping[str, DiskFact], machine: Machine) -> dict[str, Wanted]:
    """By disk of the layout; nothing for what is written through an array or a volume."""
    names = {disk.kernel_name: name for name, disk in disks.items()}
    parts = {
        PARTITION + block.identity.partition(":")[2]: (names[block.below[0]], block.start, block.size)
        for block in machine.blocks
        if block.kind == "partition" and block.below and block.below[0] in names
    }
    parts |= {f"{{{name}}}": (name, 0, disk.size) for name, disk in disks.items()}
    found: dict[str, Wanted] = {}
    for step in left.steps:
        for node in _written(step):
            if node not in parts:
                continue
            name, first, size = parts[node]
            keep = found.setdefault(name, Wanted())
            keep.ranges += [(first, min(END, size)), (first + max(0, size - END), min(END, size))]
            if isinstance(step.action, Zero):
                ranges = tuple((first + start, length) for start, length in step.action.ranges)
                keep.zeroed[step.id] = ranges
                keep.ranges += ranges
            elif step.phase == "partition":
                keep.table = step.id
    return found


def _written(step: Step) -> tuple[str, ...]:
    return (step.action.device,) if isinstance(step.action, Zero) else step.guard


def no_way_back(left: Plan, kept: Mapping[str, Wanted]) -> list[str]:
    """The steps after which nothing can be put back."""
    covered = {step for keep in kept.values() for step in (*keep.zeroed, keep.table)}

    def final(step: Step) -> bool:
        if isinstance(step.action, WriteFile | WriteBlock):
            return False
        if step.id in covered:
            return False
        if isinstance(step.action, Run) and step.phase in ("prepare", "teardown", "configure"):
            argv = step.action.argv
            return argv[0] not in HARMLESS and not any(argv[: len(stop)] == stop for stop in STOPS)
        return True

    return [step.id for step in left.steps if final(step)]


def keep(left: Plan, disks: Mapping[str, DiskFact], machine: Machine, folder: Path, world: World,
         known: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:  # fmt: skip
    """Keeps what an earlier, interrupted part of the run (`known`) has not kept.

    Gives the digests by disk, and the steps after which there is no way back. Raises NoRoom, OSError.
    """
    kept = wanted(left, disks, machine)
    if not kept:
        return {}, no_way_back(left, kept)
    place = folder / FOLDER
    place.mkdir(mode=0o700, exist_ok=True)
    if not known:
        for old in sorted(place.iterdir()):
            world.effect("remove", str(old), old.unlink)
    digests: dict[str, str] = {}
    total = 0
    for name, data in _files(left, kept, disks, world):
        if name in known:
            continue
        total += len(data)
        free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
        if total > MOST or len(data) * 2 > free:
            raise NoRoom(
                f"the safety copies of what is written over take more than {human(min(MOST, free // 2))}: "
                f"name another folder with --state, or clear the disks by hand"
            )
        world.replace(place / name, data, like=place / name, mode=0o600)
        digests[name] = "sha256:" + hashlib.sha256(data).hexdigest()
    return digests, no_way_back(left, kept)


def _files(
    left: Plan, kept: Mapping[str, Wanted], disks: Mapping[str, DiskFact], world: World
) -> Iterator[tuple[str, bytes]]:
    for name, keep in kept.items():
        disk = disks[name]
        pieces = {start: world.bytes_at(disk.node, start, size) for start, size in joined(keep.ranges)}
        yield (
            f"{name}.disk",
            packed(Copy(name, disk.size, disk.logical_block, pieces, keep.zeroed, keep.table)),
        )
    files = [step.action.file for step in left.steps if isinstance(step.action, WriteFile | WriteBlock)]
    texts = {file: world.path(file).read_bytes() if world.path(file).exists() else None for file in files}
    yield FILES, json.dumps({file: _text(data) for file, data in texts.items()}).encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def joined(ranges: list[Range]) -> list[Range]:
    """In order, joined where they touch."""
    found: list[Range] = []
    for start, size in sorted(ranges):
        if found and start <= found[-1][0] + found[-1][1]:
            first, length = found[-1]
            found[-1] = (first, max(length, start + size - first))
        elif size:
            found.append((start, size))
    return found


def packed(copy: Copy) -> bytes:
    """A line of JSON, and the pieces one after another, packed by zlib."""
    head = {
        "disk": copy.disk,
        "size": copy.size,
        "sector": copy.sector,
        "zeroed": copy.zeroed,
        "table": copy.table,
        "pieces": [[start, len(data)] for start, data in copy.pieces.items()],
    }
    return json.dumps(head).encode() + b"\n" + zlib.compress(b"".join(copy.pieces.values()), 1)


def unpacked(data: bytes) -> Copy:
    """The copy in such a file, whose digest was right."""
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    content = zlib.decompress(rest)
    pieces, at = {}, 0
    for start, size in head["pieces"]:
        pieces[start] = content[at : at + size]
        at += size
    zeroed = {step: tuple((start, size) for start, size in ranges) for step, ranges in head["zeroed"].items()}
    return Copy(head["disk"], head["size"], head["sector"], pieces, zeroed, head["table"])


def read_copies(folder: Path, digests: Mapping[str, str]) -> tuple[list[Copy], dict[str, bytes | None]]:
    """The copies of disks, and of files, None for one that was not there. Raises ValueError for a changed one."""
    copies: list[Copy] = []
    files: dict[str, bytes | None] = {}
    for name, digest in digests.items():
        file = folder / FOLDER / name
        data = file.read_bytes() if file.is_file() else b""
        if "sha256:" + hashlib.sha256(data).hexdigest() != digest:
            raise ValueError(f"{file} is not the copy that the journal speaks of: it was removed or changed")
        if name == FILES:
            texts = json.loads(data)
            files = {each: None if text is None else base64.b64decode(text) for each, text in texts.items()}
        else:
            copies.append(unpacked(data))
    return copies, files
