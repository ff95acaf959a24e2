"""Zeroes over ranges of a device that is ours alone, and the proof that they are there."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from raidplan.apply.devices.guard import other_partition
from raidplan.base.magic import SignatureAt
from raidplan.base.size import MIB
from raidplan.facts.block import SYS_BLOCK, kernel_name, partitions_in, read_at
from raidplan.facts.block_devices import signature_at
from raidplan.facts.failure import Failed, failure
from raidplan.facts.in_use import written_by_others
from raidplan.facts.read import read_only
from raidplan.facts.signatures import read_signatures
from raidplan.facts.uses import NotWritten, use
from raidplan.plan.step import Zero

BLKRRPART = 0x125F
"""The ioctl that makes the kernel read the partition table again (linux/fs.h)."""
BUSY_SECONDS = 60
"""How long a device may still be busy after the array on it was stopped: md and udev release it a little later."""
LOOK_AGAIN_SECONDS = 0.2


def zero(device: str, action: Zero, tell: Callable[[float], None] = lambda share: None) -> None:
    """Clears the ranges of a block device. Raises OSError, Failed, NotWritten; the last before anything is written
    if something is on it that was not there when the plan was made, or a program has it open for writing. `tell` hears which share is done.

    The device is opened for us alone, which the kernel refuses for anything in use, and locked as udev asks for.
    """
    descriptor = _open_exclusively(device)
    try:
        if not stat.S_ISBLK(os.fstat(descriptor).st_mode):
            raise NotWritten(use("no-device", device))
        if other := other_partition(device, os.fstat(descriptor).st_rdev):
            raise NotWritten(other)
        _ours(device, descriptor)
        new = [] if action.found is None else [one for one in found_on(device) if one not in action.found]
        if new:
            raise NotWritten(use("new", device, found=tuple(map(str, new))))
        ranges = action.within(os.lseek(descriptor, 0, os.SEEK_END))
        before, all_of_it = 0, sum(size for _, size in ranges)
        for start, size in ranges:
            for done in _write_zeroes(descriptor, start, size):
                tell((before + done) / all_of_it)
            os.fsync(descriptor)  # in this order also where the power goes
            before += size
        _forget_partitions(descriptor)
        for start, size in ranges:
            _prove(device, start, size)
    finally:
        os.close(descriptor)


def put_back(device: str, pieces: Mapping[int, bytes]) -> None:
    """Writes bytes to their places on a whole disk, by start. Raises OSError, NotWritten, Failed."""
    descriptor = _open_exclusively(device)
    try:
        _ours(device, descriptor)
        for start, data in pieces.items():
            if os.pwrite(descriptor, data, start) != len(data):
                raise Failed(failure("not-taken", device, byte=start))
        os.fsync(descriptor)
        # A disk without partitions of its own kind, as a loop device, has no table that could be read again.
        with suppress(OSError):
            _patiently(lambda: fcntl.ioctl(descriptor, BLKRRPART))
        for start, data in pieces.items():
            if read_at(device, start, len(data)) != data:
                raise Failed(failure("not-kept", device, byte=start))
    finally:
        os.close(descriptor)


def found_on(device: str) -> list[SignatureAt]:
    """The signatures that libblkid finds on a device and its partitions. Raises NotWritten, OSError."""
    parts = dict(_partitions(os.stat(device).st_rdev))
    nodes = {device: 0, **parts}
    found, closed = read_signatures(list(nodes), read_only)
    if closed:
        node, why = next(iter(closed.items()))
        raise NotWritten(use("unseen", node, error=why))
    return [
        signature_at(number, one.offset, one.type, one.uuid)
        for node, number in nodes.items()
        for one in found[node]
    ]


def _partitions(number: int) -> Iterator[tuple[str, int]]:
    """Node and number of each partition that the kernel knows."""
    for part in partitions_in(SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}"):
        yield f"/dev/{kernel_name(part)}", int((part / "partition").read_text())


def _open_exclusively(device: str) -> int:
    opened: list[int] = []
    _patiently(lambda: opened.append(os.open(device, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)))
    return opened[0]


def _ours(device: str, descriptor: int) -> None:
    """Locks the device, and looks for other writers again, since O_EXCL does not stop plain opens. Raises OSError,
    NotWritten."""
    _patiently(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
    if others := [*written_by_others(device)]:
        raise NotWritten(*others)


def _patiently(act: Callable[[], object]) -> None:
    """Tries again while the device is busy. Raises OSError."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            act()
            return
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EAGAIN) or time.monotonic() > deadline:
                raise
        time.sleep(LOOK_AGAIN_SECONDS)


def _write_zeroes(descriptor: int, start: int, size: int) -> Iterator[int]:
    """Writes zeroes, and tells after each part how many bytes were written."""
    nothing = memoryview(bytes(min(size, MIB)))
    done = 0
    while done < size:
        done += os.pwrite(descriptor, nothing[: size - done], start + done)
        yield done


def _prove(device: str, start: int, size: int) -> None:
    """Reads the zeroes back from the disk, past the page cache. Raises Failed."""
    for at in range(start, start + size, MIB):
        part = min(MIB, start + size - at)
        if read_at(device, at, part) != bytes(part):
            raise Failed(failure("not-zero", device, byte=at))


def _forget_partitions(descriptor: int) -> None:
    """Lets the kernel forget the partitions of a table that was cleared. Raises OSError, Failed."""
    number = os.fstat(descriptor).st_rdev
    if not any(_partitions(number)):
        return
    _patiently(lambda: fcntl.ioctl(descriptor, BLKRRPART))
    left = [node for node, _ in _partitions(number)]
    if left:
        raise Failed(failure("partitions-kept", partitions=tuple(left)))
