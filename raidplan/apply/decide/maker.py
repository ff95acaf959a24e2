"""The content that an interrupted mkfs, mkswap or pvcreate can have left on a device: what the same program writes to a sparse file.

Most of them write many blocks before the one that libblkid knows them by. Where they write the same bytes again with
the same arguments and the same clock (`facts.run`), each sector of the device must be empty or hold what the file holds.
Empty is a sector of zeroes; one of 0xFF too, where the device read as erased flash before (`Past.erased`).
Others mark each block as theirs: mkfs.btrfs (`base/filesystems/`), pvcreate (`own_sectors.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryFile
from typing import IO

from raidplan.apply.decide.own_sectors import of_encryption, of_physical_volume
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.filesystems.type import FilesystemType
from raidplan.base.reader import Own, Reader, either, same_as, unerased, without
from raidplan.base.size import MIB
from raidplan.facts import luks
from raidplan.facts.host import memory_free
from raidplan.facts.machine import Trace
from raidplan.facts.run import run
from raidplan.facts.traces import first_bytes, read_all, read_behind
from raidplan.plan.step import Run, Step

SCRATCH = "/var/tmp"
"""The folder of the sparse file: on a disk, which mostly has more room than memory; but ext4 takes no file of 16 TiB."""
MORE = 64 * MIB
"""Bytes that any maker may write beside what its type says (`scratch`)."""
SECONDS = 600


@dataclass(frozen=True, slots=True)
class BegunDevice:
    """A device on which an interrupted step was begun: as it is, and what came since. Its size in bytes."""

    identity: str
    size: int
    read: Reader
    """The device as it is: superblocks and whole blocks of ours are looked for in it."""
    since: Reader
    """Zeroes in place of the sectors that were there before the step, or before the device was cleared for it. What counts is here."""
    clock: int = 0
    """The second since 1970 that the maker ran with; 0 where the journal has none."""
    old: bool = False
    """Bytes between its ends may be as old as the disk."""
    known: bool = False
    """All that is read of it has fingerprints from before the step, so that `since` has no old bytes."""
    erased: bool = False
    """Whether sectors that nobody has written may read as erased flash."""
    front_known: bool = False
    """All in front of the data of an encryption was read right before, and is blank in `since` where nobody wrote to it."""

    def unerased(self, read: Reader) -> Reader:
        """The reader with zeroes in place of the sectors of erased flash, where there may be such."""
        return partial(unerased, read) if self.erased else read


def foreign(step: Step, device: BegunDevice, *, carried: bool = False) -> Iterator[Trace]:
    """Content of a device that the interrupted maker of `step` did not write.

    `carried`: libblkid knows the device as the step's; where nothing else tells whose a sector is, that has to do. Raises OSError.
    """
    if not device.front_known and next(read_all(device.since, device.size), None) is None:
        return
    with own_sectors(step, device) as own:
        if own or not carried:
            others = device.unerased(device.since)
            others = partial(without, own, others) if own else others
            yield from read_all(others, device.size)
            if start := int(str(step.proof.expect.get("data_offset", 0))) if step.proof else 0:
                yield from read_behind(others, start, device.size - start)
                if device.front_known and (at := first_written(others, start)) is not None:
                    yield Trace(at, "data", 0, device.size)


def first_written(read: Reader, end: int) -> int | None:
    """The first byte before `end` that is not zero; None if all are. Raises OSError."""
    return next(first_bytes((at, read(at, min(MIB, end - at))) for at in range(0, end, MIB)), None)


@contextmanager
def own_sectors(step: Step, device: BegunDevice) -> Iterator[Own | None]:
    """A function that recognises the sectors that the maker of `step` wrote; None where that is not possible."""
    proof, kind = step.proof, _type(step)
    # A block of a file system has a checksum of all its sectors, also of those from before; but the header of an encryption
    # from before must not answer for key slots that came since.
    read, clock = device.read if kind else device.since, device.clock
    own = kind.own(read, proof.key) if kind and proof else None
    if proof and proof.kind == "physical_volume":
        yield of_physical_volume(proof, read)
    elif proof and proof.kind == "encryption" and proof.expect.get("type") == "plain":
        # It is no file system for anybody, so where it cannot be made again nothing on the device is ours.
        with _remake(step, device.size, clock, read) if clock else nullcontext() as again:
            yield FILESYSTEMS[luks.LABEL].own_again(again) if again else (lambda offset, sector: False)
    elif proof and proof.kind == "encryption":
        yield of_encryption(proof, read, front_known=device.front_known)
    elif (kind and kind.repeats and clock) or (proof and proof.kind == "swap"):
        with _remake(step, device.size, clock, read) as again:
            yield either(own, again and (kind.own_again(again) if kind else same_as(again)))
    else:
        yield own


def pristine(step: Step, device: BegunDevice) -> bool:
    """The device holds the file system of `step` as its maker left it: never mounted for writing. False if unsure. Raises OSError."""
    kind = _type(step)
    if kind is None or not kind.compared or not device.clock:
        return False
    with _remake(step, device.size, device.clock, device.read) as again:
        return again is not None and kind.as_made(device.unerased(device.read), again, old=device.old)


def _type(step: Step) -> FilesystemType | None:
    """The type of the file system that the step makes; None if it makes none."""
    if not (step.proof and step.proof.kind == "filesystem" and isinstance(step.action, Run)):
        return None
    kind = FILESYSTEMS.get(str(step.proof.expect.get("type")))
    return kind if kind and step.action.argv[0] == kind.package.programs[0] else None


@contextmanager
def _remake(step: Step, size: int, clock: int, read: Reader) -> Iterator[Reader | None]:
    """The file that the maker writes; None where it cannot be made."""
    with ExitStack() as held:
        # Where one file is not taken, another may be: on a disk with sectors of 4 KiB mkfs.xfs makes none of 512 bytes.
        files = (held.enter_context(file) for file in _sparse(size, *_room(step, size)))
        yield next((partial(_read, file.fileno()) for file in files if _made(step, clock, read, file)), None)


def _made(step: Step, clock: int, read: Reader, file: IO[bytes]) -> bool:
    """Whether the maker wrote all to the file."""
    assert isinstance(step.action, Run)
    os.set_inheritable(file.fileno(), True)
    node = f"/dev/fd/{file.fileno()}"
    argv = [node if word in step.guard else word for word in command_again(step, read)]
    return (
        node in argv and run(argv, step.action.stdin, keep=(file.fileno(),), clock=clock, timeout=SECONDS).ok
    )


def command_again(step: Step, read: Reader) -> tuple[str, ...]:
    """The command of the maker, as it makes the same on a sparse file."""
    assert isinstance(step.action, Run)
    kind = _type(step)
    return kind.repeat(step.action.argv, read) if kind else step.action.argv


def _room(step: Step, size: int) -> tuple[int, int]:
    """Bytes that have to be free for the file on a disk, and in memory: so many as the maker writes at most, and as many left to
    others."""
    kind = _type(step)
    if not kind or not step.proof:
        return 2 * MORE, 2 * MORE
    of = kind.scratch, kind.scratch_in_memory
    on_disk, in_memory = (2 * (written(size, step.proof.expect) + MORE) for written in of)
    return on_disk, in_memory


def _sparse(size: int, on_disk: int, in_memory: int) -> Iterator[IO[bytes]]:
    """Files of that size, on a disk and in memory, where there is such room; first where the maker takes less."""
    places = [(_on_disk, on_disk), (_in_memory, in_memory)]
    for opened, room in sorted(places, key=itemgetter(1)):
        with suppress(OSError):
            if file := opened(room):
                yield _long(file, size)


def _on_disk(room: int) -> IO[bytes] | None:
    return TemporaryFile(dir=SCRATCH) if disk_usage(SCRATCH).free >= room else None


def _in_memory(room: int) -> IO[bytes] | None:
    return os.fdopen(os.memfd_create("made again"), "w+b") if memory_free(Path("/")) >= room else None


def _long(file: IO[bytes], size: int) -> IO[bytes]:
    """The file with a hole of that size. Raises OSError."""
    try:
        file.truncate(size)
    except OSError:
        file.close()
        raise
    return file


def _read(descriptor: int, offset: int, size: int) -> bytes:
    return os.pread(descriptor, size, offset)
