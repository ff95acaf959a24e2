"""The printer: data to standard output or a file, talk to standard error."""

from __future__ import annotations

import errno
import os
import stat
import sys

from raidplan.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import TextIO

    from raidplan.review.pipeline import Loaded


class Unable(Exception):
    """The command cannot do its work; the message says why. Exit code 2."""


def emit(text: str, file: str | None = None) -> None:
    """Prints data, or writes it to a file. Raises Unable.

    A reader that has seen enough (`| head`) is no error, and does not change the exit code.
    """
    if file is not None and file != "-":
        _write_file(text, file)
        return
    _print(lambda out: out.write(text))


def emit_bytes(data: bytes) -> None:
    """Gives data to another program as it is. Raises Unable."""
    _print(lambda out: out.buffer.write(data))


def _print(write: Callable[[TextIO], object]) -> None:
    if sys.stdout is None:
        raise Unable("standard output is closed")
    try:
        sys.stdout.flush()
        _utf8(sys.stdout)
        write(sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        raise Unable(f"cannot write to standard output: {error.strerror}") from None


def talk(text: str) -> None:
    """Says something to the person at the keyboard, or to nobody if standard error is closed."""
    if sys.stderr is None:
        return
    try:
        print("\n".join(visible(line) for line in text.split("\n")), file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def talk_findings(loaded: Loaded, arguments: argparse.Namespace | None = None) -> None:
    """Says what is wrong or unwise in a layout; in colour where the arguments want it."""
    from raidplan.render.findings_text import findings_text

    if sys.stderr is None:
        return
    colour = arguments is not None and wants_colour(arguments, sys.stderr)
    text = findings_text(loaded.findings, loaded.sources, colour=colour)
    try:
        print(text, end="", file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def wants_colour(arguments: argparse.Namespace, stream: TextIO | None) -> bool:
    """The option decides, then NO_COLOR, FORCE_COLOR (https://no-color.org, force-color.org), then the terminal."""
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    if stream is sys.stdout and getattr(arguments, "output", None) not in (None, "-"):
        return False
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream is not None and stream.isatty()


def report_bug(problem: Exception) -> None:
    """The end of the traceback, and the request to report it."""
    import traceback

    frames = traceback.extract_tb(problem.__traceback__)[-3:]
    where = "".join(f"  {os.path.basename(f.filename)}:{f.lineno} in {f.name}: {f.line}\n" for f in frames)
    talk(
        f"raidplan: this is a bug in raidplan, not in your layout: {type(problem).__name__}: {problem}\n{where}"
        "Report it with these lines and, if you may show it, the layout."
    )


def _utf8(stream: TextIO) -> None:
    """Files and pipes get UTF-8 whatever the locale; a terminal gets what it can show."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        encoding = stream.encoding if stream.isatty() else "utf-8"
        reconfigure(encoding=encoding, errors="backslashreplace")


def may_be_written(file: str) -> None:
    """No output of ours goes to a disk, nor where a link of somebody else leads. Raises Unable."""
    try:
        owner = os.lstat(file).st_uid
        if os.path.islink(file) and owner != os.geteuid() and not file.startswith(("/dev/", "/proc/")):
            raise Unable(f"{file} is a symbolic link of another user (uid {owner}): name the file itself")
        if stat.S_ISBLK(os.stat(file).st_mode):
            raise Unable(f"{file} is a block device: what is on it would be written over")
    except OSError:
        return  # nothing is there, or what is wrong shows when it is opened


def try_place(file: str | None) -> None:
    """Raises Unable where `emit` could not write: before hours of work, and not after them."""
    if file is None or file == "-":
        return
    may_be_written(file)
    path = os.path.realpath(file)
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.path.exists(path) or os.path.isfile(path):
            with open(beside := _beside(path), "xb"):
                os.unlink(beside)
    except OSError as error:
        raise Unable(f"cannot write {file}: {error.strerror}") from None


def _write_file(text: str, file: str) -> None:
    may_be_written(file)
    path = os.path.realpath(file)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as opened:  # a device or a FIFO: nothing to replace
                opened.write(text)
            return
        _replace(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise Unable(f"cannot write {file}: {error.strerror}") from None


def _replace(path: str, data: bytes) -> None:
    beside = _beside(path)
    try:
        with open(beside, "xb") as opened:
            if os.path.exists(path):
                os.fchmod(opened.fileno(), os.stat(path).st_mode & 0o7777)
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(beside, path)
    except BaseException:  # also where somebody interrupts it
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def _beside(path: str) -> str:
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}")


def silence_if_lost(stream: TextIO | None) -> None:
    """Sends the rest nowhere if nobody can be reached: what somebody else has written there is still to be flushed at exit."""
    if stream is None or stream.closed:
        return
    try:
        stream.flush()
    except OSError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Sends the rest nowhere, so that closing the stream at exit does not fail a second time."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere == stream.fileno():  # it was closed, so its number was the next to be given
        os.set_inheritable(nowhere, True)
    else:
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
