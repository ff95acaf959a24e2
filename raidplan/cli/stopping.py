"""Signals that ask to end: taken as ^C is, so that running steps come to their end and no other begins."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Of systemd, of kill(1), of a terminal that was closed."""


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """They interrupt what is inside, unless the caller has them ignored (nohup)."""
    heeded = [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, signal.default_int_handler) for each in heeded}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
