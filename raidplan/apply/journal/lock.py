"""One `apply` at a time: a lock of the kernel's, which ends with its last holder, so that nothing stale can be left.

The programs that change the machine hold it too: if we are killed, no other `apply` begins before they end.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from raidplan.apply.refusal import Refused, refusal

LOCK = "/run/raidplan.lock"


class Held(Refused):
    """Another apply runs, or nobody can tell."""


@contextmanager
def only_one(file: str = "") -> Iterator[int]:
    """Holds the lock, an open file to be kept by every program that is started. Raises Held."""
    file = file or LOCK
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Held(refusal("locked", "unopened", place=file, error=error.strerror or "")) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Held(refusal("locked", place=file)) from None
        os.set_inheritable(descriptor, True)  # only into what is started with `keep`
        yield descriptor
    finally:
        os.close(descriptor)
