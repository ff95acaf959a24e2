"""Whole disks: identifiers from lsblk and udev, everything else from sysfs and the disk itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from raidplan.base.hidden import escaped
from raidplan.facts.block import Block, read_at, text_of
from raidplan.facts.block_devices import direct_uses, links_of
from raidplan.facts.machine import DiskFact, PartitionFact, Trace
from raidplan.facts.readings import Readings
from raidplan.facts.signatures import Ask, rows_of
from raidplan.facts.tables import Entry
from raidplan.facts.traces import Place, read_traces
from raidplan.facts.uses import User

LSBLK = ("lsblk", "--json", "--nodeps", "--output", "KNAME,TYPE,SERIAL,WWN,MODEL,TRAN")
"""Columns that util-linux has had since 2.33. Of the rest of lsblk nothing is used: udev may be out of date."""
SETTLE = ("udevadm", "settle", "--timeout=60")
"""lsblk takes identifiers from udev, which reports those of an earlier disk until it has looked at the present one."""


def read_disks(readings: Readings, listing: Mapping[str, Mapping[str, str]]) -> tuple[DiskFact, ...]:
    """Every whole disk and loop device, by node; `listing` is the output of `lsblk`."""
    links, uses = links_of(readings.root), direct_uses(readings)
    disks = [block for _, block in sorted(readings.blocks.items()) if block.whole]
    # Side by side: a sleeping disk takes ten seconds to answer.
    with ThreadPoolExecutor(max_workers=16) as pool:
        traces = pool.map(partial(_traces, readings), disks)
        return tuple(
            replace(_disk(readings, block, listing.get(block.name, {}), links, uses), traces=found)
            for block, found in zip(disks, traces, strict=True)
        )


def lsblk(ask: Ask, *, udev: bool) -> dict[str, dict[str, str]]:
    """Kernel name to identifiers; where udev runs, when it has looked at every disk there is."""
    if udev:
        ask(SETTLE)
    return parse_lsblk(ask(LSBLK).stdout)


def parse_lsblk(text: str) -> dict[str, dict[str, str]]:
    """Kernel name to the texts that lsblk tells."""
    rows: list[Mapping[str, Any]] = rows_of(text, "blockdevices")
    return {
        str(row["kname"]): {key: str(value).strip() for key, value in row.items() if value is not None}
        for row in rows
        if row.get("kname")
    }


def _traces(readings: Readings, disk: Block) -> tuple[Trace, ...]:
    """Everything on a disk, at every place; for a known disk, its table."""
    table = readings.tables.get(disk.name)
    if table and table.uuid in readings.known:
        return (Trace(disk.logical, "gpt", room=disk.size, uuid=table.uuid),)
    parts = sorted((b for b in readings.blocks.values() if b.disk == disk.name), key=lambda b: b.partition)
    places = [
        Place(
            part.start, part.size, f"partition {part.partition}", readings.found_on(part), where="partition"
        )
        for part in parts
    ]
    closed = [
        place.trace(part.start, "unreadable", readings.unreadable[part.node])
        for part, place in ((disk, Place(0, disk.size)), *zip(parts, places, strict=True))
        if part.node in readings.unreadable
    ]
    words = "the range of a future partition"
    places += (Place(start, size, words, where="future") for start, size in readings.ranges)
    read = partial(read_at, readings.root / "dev" / disk.name)
    return (
        *closed,
        *read_traces(read, disk.logical, Place(0, disk.size, signatures=readings.found_on(disk)), places),
    )


def _disk(
    readings: Readings,
    block: Block,
    row: Mapping[str, str],
    links: Mapping[str, list[str]],
    uses: Mapping[str, Sequence[User]],
) -> DiskFact:
    return DiskFact(
        node=block.node,
        kernel_name=block.name,
        size=block.size,
        kind=row.get("type") or ("loop" if block.name.startswith("loop") else "disk"),
        serial=row.get("serial", ""),
        wwn=row.get("wwn", ""),
        path=_id_path(readings.root, block, links.get(block.name, [])),
        model=row.get("model", ""),
        transport=row.get("tran", ""),
        logical_block=block.logical,
        physical_block=block.physical,
        rotational=block.rotational,
        read_only=block.read_only,
        signatures=readings.words(block.node),
        partitions=tuple(partitions_of(readings, block)),
        users=tuple(dict.fromkeys(_users(readings, block, uses, set()))),
        links=tuple(sorted(links.get(block.name, []))),
        instance=block.instance,
    )


def _id_path(root: Path, block: Block, links: Sequence[str]) -> str:
    """udev's ID_PATH: from its database, else the shortest link that was made of it."""
    found = re.search(r"^E:ID_PATH=(.*)$", text_of(root / f"run/udev/data/b{block.number}"), re.MULTILINE)
    paths = [Path(link).name for link in links if link.startswith("/dev/disk/by-path/")]
    return found[1] if found else min(paths, key=len, default="")


def partitions_of(readings: Readings, disk: Block) -> Iterator[PartitionFact]:
    """The partitions that the kernel knows, then those that only the table on the disk has."""
    table = readings.tables.get(disk.name)
    entries = {entry.number: entry for entry in table.entries} if table else {}
    known = sorted((b for b in readings.blocks.values() if b.disk == disk.name), key=lambda b: b.partition)
    for block in known:
        # A table that was changed behind the kernel's back gives its entries to no device.
        entry = entry_of(entries.get(block.partition), block)
        uuid, kind, name = (entry.uuid, entry.type, entry.name) if entry else ("", "", "")
        yield PartitionFact(
            block.node, uuid, kind, block.start, block.size, name, readings.words(block.node), readings.types(block.node)
        )  # fmt: skip
    # A boot sector of a file system can look like a DOS table, so that is believed with the kernel only.
    unknown = entries.keys() - {block.partition for block in known} if table and table.kind == "gpt" else ()
    for number in sorted(unknown):
        entry = entries[number]
        node = f"{disk.node}{'p' if disk.name[-1].isdigit() else ''}{number}"
        yield PartitionFact(node, entry.uuid, entry.type, entry.start, entry.size, entry.name)


def entry_of(entry: Entry | None, block: Block) -> Entry | None:
    """The entry, if the kernel's partition lies where it says."""
    return entry if entry and (entry.start, entry.size) == (block.start, block.size) else None


def _users(
    readings: Readings, block: Block, uses: Mapping[str, Sequence[User]], visited: set[str]
) -> Iterator[User]:
    """The users of a device, then the users of everything that is made of it."""
    if block.name in visited:
        return
    visited.add(block.name)
    yield from uses.get(block.name, ())
    for holder in block.holders:
        above = readings.blocks.get(holder)
        yield User("held", f"{escaped(above.dm_name)} ({holder})" if above and above.dm_name else holder)
    parts = [other.name for other in readings.blocks.values() if other.disk == block.name]
    for name in (*parts, *block.holders):
        if name in readings.blocks:
            yield from _users(readings, readings.blocks[name], uses, visited)
