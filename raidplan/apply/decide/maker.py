"""The content that an interrupted mkfs, mkswap or pvcreate can have left on a device: what the same program writes to a sparse file.

Most of them write many blocks before the one that libblkid knows them by. Where they write the same bytes again with
the same arguments and the same clock (`facts.run`), each sector of the device must be empty or hold what the file holds.
Others mark each block as theirs: mkfs.btrfs (`base/filesystems/`), pvcreate (`own_sectors.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from shutil import disk_usage
from tempfile import TemporaryFile

from raidplan.apply.decide.own_sectors import of_encryption, of_physical_volume
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.filesystems.type import FilesystemType
from raidplan.base.reader import Own, Reader, either, same_as, without
from raidplan.base.size import MIB, SECTOR
from raidplan.facts.machine import Trace
from raidplan.facts.run import run
from raidplan.facts.traces import Place, read_all, read_traces
from raidplan.plan.step import Run, Step

SCRATCH = "/var/tmp"
"""The folder of the sparse file: on a disk, since the file may need more room than memory has."""
PART, MORE = 256, 64 * MIB
"""A maker writes less than this part of a device and so many bytes: FAT32 takes 8 bytes for each cluster of 4 KiB."""
SECONDS = 600


def foreign(step: Step, size: int, clock: int, read: Reader, *, carried: bool = False) -> Iterator[Trace]:
    """Content of a device of `size` bytes that the interrupted maker of `step` did not write.

    `clock` is the second since 1970 that the maker ran with. `carried`: libblkid knows the device as the step's; where
    nothing else tells whose a sector is, that has to do. Raises OSError.
    """
    if next(read_all(read, size), None) is None:
        return
    with own_sectors(step, size, clock, read) as own:
        if own or not carried:
            others = partial(without, own, read) if own else read
            yield from read_all(others, size)
            if start := int(str(step.proof.expect.get("data_offset", 0))) if step.proof else 0:
                yield from read_traces(partial(_behind, others, start), SECTOR, Place(0, size - start))


def _behind(read: Reader, start: int, offset: int, size: int) -> bytes:
    return read(start + offset, size)


@contextmanager
def own_sectors(step: Step, size: int, clock: int, read: Reader) -> Iterator[Own | None]:
    """A function that recognises the sectors that the maker of `step` wrote; None where that is not possible."""
    proof, kind = step.proof, _type(step)
    own = kind.own(read, proof.key) if kind and proof else None
    if proof and proof.kind == "physical_volume":
        yield of_physical_volume(proof, read)
    elif proof and proof.kind == "encryption":
        yield of_encryption(proof, read)
    elif (kind and kind.repeats and clock) or (proof and proof.kind == "swap"):
        with _made_again(step, size, clock) as again:
            yield either(own, again and (kind.own_again(again) if kind else same_as(again)))
    else:
        yield own


def pristine(step: Step, size: int, clock: int, read: Reader) -> bool:
    """The device holds the file system of `step` as its maker left it: never mounted for writing. False if unsure. Raises OSError."""
    kind = _type(step)
    if kind is None or not kind.compared or not clock:
        return False
    with _made_again(step, size, clock) as again:
        return again is not None and kind.as_made(read, again)


def _type(step: Step) -> FilesystemType | None:
    """The type of the file system that the step makes; None if it makes none."""
    if not (step.proof and step.proof.kind == "filesystem" and isinstance(step.action, Run)):
        return None
    kind = FILESYSTEMS.get(str(step.proof.expect.get("type")))
    return kind if kind and step.action.argv[0] == kind.package.programs[0] else None


@contextmanager
def _made_again(step: Step, size: int, clock: int) -> Iterator[Reader | None]:
    """The file that the maker writes; None where it cannot be made."""
    assert isinstance(step.action, Run)
    if disk_usage(SCRATCH).free < 2 * (size // PART + MORE):
        yield None
        return
    with TemporaryFile(dir=SCRATCH) as file:
        file.truncate(size)
        os.set_inheritable(file.fileno(), True)
        node = f"/dev/fd/{file.fileno()}"
        argv = [node if word in step.guard else word for word in step.action.argv]
        made = run(argv, step.action.stdin, keep=(file.fileno(),), clock=clock, timeout=SECONDS)
        yield partial(_read, file.fileno()) if made.ok and node in argv else None


def _read(descriptor: int, offset: int, size: int) -> bytes:
    return os.pread(descriptor, size, offset)
