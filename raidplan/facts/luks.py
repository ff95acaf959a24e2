"""LUKS headers from their bytes, and what device-mapper has opened. Formats on disk do not change, outputs of tools do.

Sources: the LUKS2 On-Disk Format Specification 1.1.1 and LUKS1 1.2.3; dm-crypt.rst of the kernel for its table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from raidplan.base.reader import Reader
from raidplan.base.size import KIB, MIB, SECTOR
from raidplan.facts.block import Block, Names, read_at
from raidplan.facts.machine import Properties
from raidplan.facts.readings import Readings
from raidplan.facts.signatures import Ask
from raidplan.plan.step import Value

TYPE = "crypto_LUKS"
"""libblkid's word for a device with such a header."""
LABEL = "ext2"
"""libblkid's word for the label in front of an area with a random key, a file system of 1 MiB."""
FIRST, SECOND = b"LUKS\xba\xbe", b"SKUL\xba\xbe"
SECOND_HEADERS = tuple(0x4000 << n for n in range(9))
"""The places of the second header of LUKS2, which depend on its size."""
KEY_SLOTS, DRAWN_VALUES = 32 * KIB, 190
"""Where the key slots begin behind both headers as luksFormat makes them, and the fewest different bytes of a random sector."""
BINARY, CHECKSUM = 4096, slice(448, 512)
"""Bytes before the JSON of a header, and where its checksum stands."""
LARGEST = 4 * MIB
SLOTS_1, SLOT_1, ACTIVE_1 = 208, 48, 0x00AC71F3
TABLE = ("dmsetup", "table", "--target", "crypt")
"""Without --showkeys it prints zeroes for each key, or the key's name in the kernel."""


@dataclass(frozen=True, slots=True)
class Header:
    """A LUKS header; sizes in bytes. `headers` is how many of its copies are whole, `keyed` whether any key opens it."""

    uuid: str
    version: int
    cipher: str = ""
    sector_size: int = SECTOR
    data_offset: int = 0
    headers: int = 1
    keyed: bool = False


def header_on(read: Reader) -> Header | None:
    """The header on a device; None where no copy of one is whole. Raises OSError."""
    first = _second_version(read, 0, FIRST)
    second = next((found for at in SECOND_HEADERS if (found := _second_version(read, at, SECOND))), None)
    known = first or second
    if known is None:
        return _first_version(read)
    return Header(**{**known, "headers": bool(first) + bool(second)})


def key_slots(offset: int, data_offset: int, sector: bytes) -> bool:
    """Whether luksFormat may have filled this sector of its key slots with random bytes; of bytes that are neither compressed nor
    encrypted none looks like that. 512 drawn bytes have 221 values, and fewer than this is seven standard deviations off."""
    return KEY_SLOTS <= offset < data_offset and len({*sector}) >= DRAWN_VALUES


def names_it(read: Reader, uuid: str) -> bool:
    """Whether a header of LUKS2, or the beginning of one that was never finished, has this UUID. Raises OSError."""
    places = ((0, FIRST), *((at, SECOND) for at in SECOND_HEADERS))
    heads = ((read(at, SECTOR), magic + b"\0\2") for at, magic in places)
    return any(head.startswith(begin) and _text(head[168:208]) == uuid for head, begin in heads)


def _second_version(read: Reader, at: int, magic: bytes) -> dict[str, Any] | None:
    """One copy of a LUKS2 header; None unless its checksum is right."""
    head = read(at, BINARY)
    size = int.from_bytes(head[8:16], "big")
    if head[:8] != magic + b"\0\2" or not BINARY < size <= LARGEST or head[72:104].rstrip(b"\0") != b"sha256":
        return None
    area = read(at + BINARY, size - BINARY)
    blank = head[: CHECKSUM.start] + bytes(64) + head[CHECKSUM.stop :]
    if hashlib.sha256(blank + area).digest() != head[CHECKSUM][:32]:
        return None
    try:
        data = json.loads(area.partition(b"\0")[0])
        segment = min(data["segments"].items(), key=lambda each: int(each[0]))[1]
        return {
            "uuid": _text(head[168:208]),
            "version": 2,
            "cipher": str(segment.get("encryption", "")),
            "sector_size": int(segment.get("sector_size", SECTOR)),
            "data_offset": int(segment["offset"]),
            "keyed": bool(data["keyslots"]),
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _first_version(read: Reader) -> Header | None:
    head = read(0, SLOTS_1 + 8 * SLOT_1)
    if head[:8] != FIRST + b"\0\1" or len(head) < SLOTS_1 + 8 * SLOT_1:
        return None
    slots = (int.from_bytes(head[at : at + 4], "big") for at in range(SLOTS_1, len(head), SLOT_1))
    offset = int.from_bytes(head[104:108], "big") * SECTOR
    cipher = f"{_text(head[8:40])}-{_text(head[40:72])}"
    return Header(_text(head[168:208]), 1, cipher, data_offset=offset, keyed=ACTIVE_1 in slots)


def _text(field: bytes) -> str:
    return re.sub(r"[^ -~]", "", field.partition(b"\0")[0].decode("ascii", "replace")).lower()


def encryption_objects(readings: Readings, names: Names) -> dict[str, Properties]:
    """Encrypted devices by the UUID of their header, or of the label before an area with a random key.

    Of several with the same UUID, as after a copy, the first; the others are in `also`.
    """
    found: dict[str, dict[str, Value]] = {}
    for name, block in readings.blocks.items():
        signatures = readings.signatures.get(block.node, ())
        # A member with its superblock at the end shows the array's content as its own.
        for one in signatures if all(other.usage != "raid" for other in signatures) else ():
            if one.type not in (TYPE, LABEL) or not one.uuid or _shown_above(one.uuid, block, readings):
                continue
            device: dict[str, Value] = {"device": names.of(name)}
            also = found.get(one.uuid, device)["device"]
            if also != names.of(name):
                found[one.uuid]["also"] = [*_listed(found[one.uuid].get("also")), names.of(name)]
            elif one.uuid not in found:
                more = _header(readings.root, name) if one.type == TYPE else {"type": "plain"}
                found[one.uuid] = {**device, **more}
    return {**found}


def _shown_above(uuid: str, block: Block, readings: Readings) -> bool:
    """Whether a device that stands on this one shows the same UUID, as a mirrored volume does what is on each of its legs."""
    above = (readings.signatures.get(f"/dev/{name}", ()) for name in block.holders)
    return any(one.uuid == uuid for signatures in above for one in signatures)


def _listed(value: Value) -> list[str]:
    return list(value) if isinstance(value, list) else []


def _header(root: Path, name: str) -> dict[str, Value]:
    try:
        found = header_on(partial(read_at, root / "dev" / name))
    except OSError:
        found = None
    if found is None:
        return {"type": "luks", "headers": 0}
    return {
        "type": f"luks{found.version}",
        "cipher": found.cipher,
        "sector_size": found.sector_size,
        "data_offset": found.data_offset,
        "headers": found.headers,
        "keyed": found.keyed,
    }


def mapping_objects(blocks: Mapping[str, Block], names: Names, ask: Ask) -> dict[str, Properties]:
    """Opened encryptions by the UUID of their header, or by name where they have none.

    Of several with the same UUID, as where a copy is opened as well, the first; the nodes of the others are in `also`.
    """
    opened = [block for block in blocks.values() if block.mapping]
    tables = parse_tables(ask(TABLE).stdout) if opened else {}
    found: dict[str, dict[str, Value]] = {}
    for block in opened:
        node = f"/dev/mapper/{block.dm_name}"
        if first := found.get(block.mapping):
            first["also"] = [*_listed(first.get("also")), node]
            continue
        found[block.mapping] = {
            "name": block.dm_name,
            "device": names.of(block.slaves[0]) if block.slaves else "",
            "node": node,
            "discard": "allow_discards" in tables.get(block.dm_name, ()),
        }
    return {**found}


def parse_tables(text: str) -> dict[str, list[str]]:
    """The options of each mapping by its name, in the answer of `dmsetup table`; no key is looked at."""
    found = {}
    for line in text.splitlines():
        name, _, table = line.partition(": ")
        words = table.split(" ")
        if len(words) > 2 and words[2] == "crypt":
            found[name] = words[9:]
    return found
