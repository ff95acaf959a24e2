"""The failures of a twin, as exceptions that carry the end of its console log."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from raidplan.base.size import human

_TAIL_BYTES = 2400
"""Less than a report shows of a failure, so that what was tried is shown too."""


class TwinError(Exception):
    """A twin could not be built, started or reached; the message says what was tried and what was seen."""


class BuildError(TwinError):
    """The image could not be made: a missing tool, no packages, no space."""


class BootError(TwinError):
    """The machine ended, or was not reachable in time; the message ends with its console log."""


class HostError(TwinError):
    """The host did not do its part: a program failed or ended, or no room is left; of the guest it says nothing."""


class CommandError(TwinError):
    """A command in the guest ended with something else than 0, where 0 was asked for."""


class CommandTimeoutError(TwinError):
    """A command in the guest did not end in time; it may still be running there."""


class UnreachableError(TwinError):
    """The guest could not be reached, or the connection broke while a command ran."""


def with_console(message: str, console: Path) -> str:
    """`message`, followed by the last lines of the console log."""
    return f"{message}\n--- end of the console log ({console}) ---\n{end_of(console) or '(empty)'}"


def end_of(console: Path) -> str:
    """The last lines of a console log."""
    try:
        return console.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").replace("\r", "").strip()
    except OSError:
        return ""


def room_in(directory: Path) -> str:
    """The room that is left for the files of a machine, in words."""
    return f"{human(shutil.disk_usage(directory).free)} are free in {directory}"


@contextmanager
def of_host(directory: Path) -> Iterator[None]:
    """Files of a machine are written: where that fails, it is the host that fails."""
    try:
        yield
    except OSError as error:
        raise HostError(f"{error.filename or directory}: {error.strerror}; {room_in(directory)}") from error
