"""Signals that ask to end: the running steps come to their end, and no other begins."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from raidplan.cli.output import report_bug

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals of systemd, of kill(1), of a terminal that was closed: handled as ^C is."""
WAITS = b"\nraidplan: interrupted already: raidplan waits for the running programs to end\n"
Handler = Callable[[int, FrameType | None], object] | int | None
"""The handler of a signal, as the module `signal` has it."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Lets these signals interrupt the code inside, unless the caller has them ignored (nohup)."""
    before = _set_handlers(signal.default_int_handler)
    try:
        yield
    finally:
        for each, handler in before.items():
            if signal.getsignal(each) is not signal.SIG_IGN:
                signal.signal(each, handler)


def run_until_stopped(
    act: Callable[[], int], stopped: Callable[[], int], *, before: tuple[type[Exception], ...] = ()
) -> int:
    """The exit code of what writes; that of `stopped` where a bug or a signal came in between, whatever is pressed after it.

    Raises what is named in `before`: nothing was written then.
    """
    _set_handlers(_first)
    try:
        try:
            code = act()
        except before:
            raise
        except Exception as error:
            report_bug(error)
            code = stopped()
        _set_handlers(signal.SIG_IGN)
    except KeyboardInterrupt:  # there is no second one
        code = stopped()
        _set_handlers(signal.SIG_IGN)  # nothing is run any more that would inherit it
    return code


def _set_handlers(handler: Handler) -> dict[int, Handler]:
    """Sets it for ^C and all that is taken as such; what answered to them before."""
    heeded = [each for each in (signal.SIGINT, *ENDING) if signal.getsignal(each) is not signal.SIG_IGN]
    return {each: signal.signal(each, handler) for each in heeded}


def _first(number: int, frame: FrameType | None) -> None:
    _set_handlers(_second)
    raise KeyboardInterrupt


def _second(number: int, frame: FrameType | None) -> None:
    _set_handlers(_further)
    # Not `talk`, which this may have interrupted.
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            os.write(sys.stderr.fileno(), WAITS)


def _further(number: int, frame: FrameType | None) -> None:
    """Ignores a third signal; the second was answered."""
