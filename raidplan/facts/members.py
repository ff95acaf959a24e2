"""md superblocks of every version at every possible place, also those that mdadm would not accept."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from raidplan.base.reader import Reader
from raidplan.base.size import KIB, SECTOR

MAGIC = 0xA92B4EFC
SIZE = 4 * KIB
"""The size of a superblock of any version."""
LEVELS = {-6: "container", -5: "faulty", -4: "multipath", -1: "linear"}
Role = Literal["data", "rebuilding", "spare", "faulty", "journal"]
"""The part that a device has in its array: `data` has a slot and all of its data, `rebuilding` a slot and less."""
NO_SLOT: dict[int, Role] = {0xFFFF: "spare", 0xFFFE: "faulty", 0xFFFD: "journal"}
"""The values of `dev_roles` that are no slot (md_p.h)."""
RECOVERY = 2
"""The bit of `feature_map` for a member whose data ends at `recovery_offset`."""
FAULTY, SYNC, JOURNAL = 1 << 0, 1 << 2, 1 << 18
"""The bits of the state of a device in a 0.90 superblock."""


@dataclass(frozen=True, slots=True)
class Superblock:
    """One superblock. `offset`, `data_offset` and `data_size` in bytes from the start of the member.

    `problem` is the reason, in words, why mdadm would not accept it; its other values may be wrong then.
    """

    offset: int
    version: str
    uuid: str
    name: str = ""
    level: str = ""
    devices: int = 0
    data_offset: int = 0
    data_size: int = 0
    problem: str = ""
    events: int = 0
    """The number of its last update: members of one array that have the same belong together."""
    layout: int = 0
    """The kernel's number of it."""
    role: Role = "spare"
    slot: int = -1
    """The number of the member in the array; -1 for a device without one."""
    chunk: int = 0
    """In bytes; 0 where the level has none."""

    @property
    def words(self) -> str:
        """`raid6 of 8, metadata 1.2`."""
        of = f" of {self.devices}" if self.devices else ""
        parts = [f"{self.level}{of}", f"metadata {self.version}", self.problem]
        return ", ".join(part for part in parts if part)


def positions(size: int) -> dict[str, int]:
    """The offset of the superblock of each version on a member of `size` bytes (super0.c, super1.c, md_p.h)."""
    found = {
        "1.1": 0,
        "1.2": 4 * KIB,
        "1.0": (size // SECTOR - 16) // 8 * 8 * SECTOR,
        "0.90": size // (64 * KIB) * 64 * KIB - 64 * KIB,
    }
    return {version: offset for version, offset in found.items() if 0 <= offset <= size - SECTOR}


def superblocks(read: Reader, size: int) -> Iterator[Superblock]:
    """The superblocks on a member of `size` bytes, of every version."""
    found = (superblock(read, size, version) for version in positions(size))
    yield from (block for block in found if block)


def length(read: Reader, block: Superblock) -> int:
    """Bytes of a superblock that its checksum covers."""
    if block.version == "0.90":
        return SIZE
    return 256 + 2 * int.from_bytes(read(block.offset + 220, 4), "little")


def superblock(read: Reader, size: int, version: str) -> Superblock | None:
    """The superblock of one version, recognised by its magic number alone, in either byte order."""
    offset = positions(size).get(version)
    if offset is None:
        return None
    block = read(offset, SIZE).ljust(SIZE, b"\0")
    order = next((order for order in "<>" if struct.unpack_from(f"{order}I", block)[0] == MAGIC), "")
    if not order:
        return None
    return (_version_0 if version == "0.90" else _version_1)(block, order, offset, version)


def _version_1(block: bytes, order: str, offset: int, version: str) -> Superblock:
    """`struct mdp_superblock_1` (md_p.h), which is little-endian on every machine."""
    level, devices = struct.unpack_from("<i", block, 72)[0], struct.unpack_from("<I", block, 92)[0]
    data_offset, data_size = struct.unpack_from("<QQ", block, 128)
    problem = "other byte order" if order == ">" else ""
    if not problem and _checksum_1(block) != struct.unpack_from("<I", block, 216)[0]:
        problem = "bad checksum"
    return Superblock(
        offset,
        version,
        str(uuid.UUID(bytes=block[16:32])),
        block[32:64].partition(b"\0")[0].decode(errors="replace"),
        "" if problem else LEVELS.get(level, f"raid{level}"),
        0 if problem else devices,
        0 if problem else data_offset * SECTOR,
        0 if problem else data_size * SECTOR,
        problem,
        0 if problem else struct.unpack_from("<Q", block, 200)[0],
        0 if problem else struct.unpack_from("<I", block, 76)[0],
        *(("spare", -1) if problem else _role_1(block, devices)),
        0 if problem else struct.unpack_from("<I", block, 88)[0] * SECTOR,
    )


def _role_1(block: bytes, devices: int) -> tuple[Role, int]:
    """The role of the device that has this superblock, and its slot (`super_1_validate` in md.c)."""
    number, known = (struct.unpack_from("<I", block, place)[0] for place in (160, 220))
    role = struct.unpack_from("<H", block, 256 + 2 * number)[0] if number < known else 0xFFFF
    if role in NO_SLOT or role >= devices:
        return NO_SLOT.get(role, "spare"), -1
    features, size = struct.unpack_from("<I", block, 8)[0], struct.unpack_from("<Q", block, 80)[0]
    half = features & RECOVERY and struct.unpack_from("<Q", block, 152)[0] < size
    return "rebuilding" if half else "data", role


def _checksum_1(block: bytes) -> int:
    """The sum of all words up to the last role, with the checksum as 0 (`calc_sb_1_csum`); -1 if it has no end."""
    roles = struct.unpack_from("<I", block, 220)[0]
    length = 256 + 2 * roles
    if length > SIZE:
        return -1
    summed = block[:216] + bytes(4) + block[220:length] + bytes(length % 4)
    total: int = sum(struct.unpack(f"<{len(summed) // 4}I", summed))
    return (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF


def _version_0(block: bytes, order: str, offset: int, version: str) -> Superblock:
    """`mdp_super_t` (md_p.h): words in the byte order of the machine that wrote it."""
    words = struct.unpack(f"{order}1024I", block)
    level = words[7] - (1 << 32 if words[7] >> 31 else 0)
    total = sum(words) - words[38]
    intact = ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF == words[38]
    # mdadm takes a 0.90 superblock of its own byte order only.
    problem = "bad checksum" if not intact else "big-endian" if order == ">" else ""
    return Superblock(
        offset,
        version,
        str(uuid.UUID("".join(f"{words[at]:08x}" for at in (5, 13, 14, 15)))),
        level=LEVELS.get(level, f"raid{level}") if intact else "",
        devices=words[10] if intact else 0,
        data_size=words[8] * KIB if intact else 0,
        problem=problem,
        events=_events_0(words, order) if intact else 0,
        layout=words[64] if intact else 0,
        role=_role_0(words) if intact else "spare",
        slot=words[995] if intact and _role_0(words) == "data" else -1,
        chunk=words[65] if intact else 0,
    )


def _role_0(words: Sequence[int]) -> Role:
    """The role by `this_disk`: one that is being rebuilt has no `SYNC` yet, and no data to start with."""
    slot, state = words[995:997]
    if state & FAULTY:
        return "faulty"
    if state & JOURNAL:
        return "journal"
    return "data" if state & SYNC and slot < words[10] else "spare"


def _events_0(words: Sequence[int], order: str) -> int:
    """Two words, the lower one first where that is the order of bytes."""
    low, high = words[39:41] if order == "<" else words[40:38:-1]
    return high << 32 | low
