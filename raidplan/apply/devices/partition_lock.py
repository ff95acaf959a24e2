"""A lock on the partitions of a disk, which keeps them where they are.

When a program that wrote to a disk closes it, udev reads the partition table again: for a moment the partitions and
every name of theirs disappear. It does so only under an exclusive lock of the disk
(https://systemd.io/BLOCK_DEVICE_LOCKING), so with a shared one held that is either over or does not begin.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from raidplan.facts.block import kernel_name, partitions_in
from raidplan.facts.run import run

LOCK_SECONDS, LOOK_AGAIN_SECONDS = 60, 0.1


def hold_partitions(node: str) -> int:
    """Opens a disk with a shared lock, and waits for what udev still has to do; closing it gives up the lock.

    Raises OSError: it cannot be opened, or another program holds it locked for a minute.
    """
    descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _lock(descriptor, time.monotonic() + LOCK_SECONDS)
    except OSError:
        os.close(descriptor)
        raise
    run(["udevadm", "settle"])
    return descriptor


def look_again(*nodes: str, settle: bool = False) -> None:
    """Lets udev look at devices and their partitions once more, and bring its database and its links up to date; `settle`: waits
    until it has.

    A name that leads nowhere any more makes udevadm give up before it asks for any (`trigger_main` in udevadm-trigger.c): then each
    is asked for alone.
    """
    every = dict.fromkeys([*nodes, *(part for node in nodes for part in partitions_of(node))])
    names = [f"--name-match={node}" for node in every]
    words = ["udevadm", "trigger", *(["--settle"] if settle else []), "--action=change"]
    if names and not run([*words, *names]).ok and len(names) > 1:
        for name in names:
            run([*words, name])


def partitions_of(node: str, root: Path = Path("/")) -> tuple[str, ...]:
    """The nodes of the partitions that the kernel has on a device."""
    name = os.path.realpath(node).removeprefix("/dev/").replace("/", "!")
    return tuple(f"/dev/{kernel_name(part)}" for part in partitions_in(root / "sys/class/block" / name))


def _lock(descriptor: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(LOOK_AGAIN_SECONDS)
