"""One `apply` at a time: a lock of the kernel's, gone with the process, so that nothing stale can be left."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

LOCK = "/run/raidplan.lock"


class Held(Exception):
    """Another process applies something."""


@contextmanager
def only_one(file: str = LOCK) -> Iterator[None]:
    """Holds the lock. Raises Held, OSError."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Held(f"another raidplan holds {file}") from None
        yield
    finally:
        os.close(descriptor)
