"""The failures of a twin, as exceptions that carry the end of its console log."""

from __future__ import annotations

from pathlib import Path

_TAIL_BYTES = 6000


class TwinError(Exception):
    """A twin could not be built, started or reached; the message says what was tried and what was seen."""


class BuildError(TwinError):
    """The image could not be made: a missing tool, no packages, no space."""


class BootError(TwinError):
    """The machine ended, or was not reachable in time; the message ends with its console log."""


class CommandError(TwinError):
    """A command in the guest ended with something else than 0, where 0 was asked for."""


class CommandTimeoutError(TwinError):
    """A command in the guest did not end in time; it may still be running there."""


class UnreachableError(TwinError):
    """The guest could not be reached, or the connection broke while a command ran."""


def with_console(message: str, console: Path) -> str:
    """`message`, followed by the last lines of the console log."""
    try:
        text = console.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").replace("\r", "")
    except OSError:
        text = ""
    return f"{message}\n--- end of the console log ({console}) ---\n{text.strip() or '(empty)'}"
