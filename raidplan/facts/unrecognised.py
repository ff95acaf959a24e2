"""Data on partitions, arrays and volumes where libblkid recognises nothing.

Plain dm-crypt, a raw database and an erased file system carry no known signature, and are data all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from raidplan.base.reader import Reader
from raidplan.base.size import PAGE
from raidplan.facts.block import Block, Names
from raidplan.facts.machine import Trace
from raidplan.facts.readings import Readings
from raidplan.facts.traces import Place, read_traces
from raidplan.facts.uses import User
from raidplan.facts.written import reader_of


def read_unrecognised(
    readings: Readings, names: Names, uses: Mapping[str, Sequence[User]]
) -> dict[str, tuple[Trace, ...]]:
    """Kernel name to the data found on a device; an empty tuple if the device is proven blank.

    Reads only devices that a step may write over and that would otherwise count as blank. Every other device
    has a user, a holder, partitions or a signature, and is not read.
    """
    parts = {block.disk for block in readings.blocks.values() if block.disk}
    silent = [
        block
        for name, block in readings.blocks.items()
        if names.of(name) in readings.written
        and not (block.whole or block.holders or uses.get(name) or name in parts)
        and not readings.signatures.get(block.node)
        and block.node not in readings.unreadable
    ]
    # Side by side: a sleeping disk takes ten seconds to answer.
    with ThreadPoolExecutor(max_workers=16) as pool:
        found = pool.map(partial(_look, readings), silent)
        return dict(zip((block.name for block in silent), found, strict=True))


def _look(readings: Readings, block: Block) -> tuple[Trace, ...]:
    read = reader_of(readings.root, block.name, readings.blocks)
    return unrecognised(read, block.size, block.logical, joined=bool(block.slaves))


def unrecognised(read: Reader, size: int, sector: int, *, joined: bool) -> tuple[Trace, ...]:
    """Everything on a device of `size` bytes on which libblkid finds nothing; `joined`: the kernel builds it from others."""
    return read_traces(_alike(read) if joined else read, sector, Place(0, size, signatures=()))


def _alike(read: Reader) -> Reader:
    """The pages of an array come from several disks, of which each is blank in its own way: erased flash is 0xFF."""

    def read_pages(offset: int, size: int) -> bytes:
        data = read(offset, size)
        pages = (data[at : at + PAGE] for at in range(0, len(data), PAGE))
        return b"".join(bytes(len(page)) if page.strip(b"\xff") == b"" else page for page in pages)

    return read_pages
