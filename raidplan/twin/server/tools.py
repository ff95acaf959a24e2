"""The programs that make and read a twin's files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from raidplan.twin.server.failure import TwinError

LOG_TAIL = 3000
"""Characters of messages that an error keeps."""
LIMIT_SECONDS = 3600.0
"""Time of one program; an image takes a minute, and a slow mirror some more."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


@contextmanager
def without_interruption() -> Iterator[None]:
    """Signals that ask to end wait for the end of what is inside: who presses ^C twice would leave files behind.

    Not by a mask, which holds for one thread and for the programs that it starts: the kernel gives the signal to another thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # a handler interrupts the main thread only
        return
    asked: list[int] = []
    before = {each: signal.signal(each, lambda number, frame: asked.append(number)) for each in ENDING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in dict.fromkeys(asked):
            signal.raise_signal(number)


def tool(argv: Sequence[str], error: type[TwinError]) -> str:
    """Runs a program to its end and returns what it printed. Raises `error` with the end of its messages where it fails or is missing."""
    return _check(run_tool(argv, error), argv, error)


def _check(done: subprocess.CompletedProcess[str], argv: Sequence[str], error: type[TwinError]) -> str:
    if done.returncode:
        tail = (done.stdout + done.stderr)[-LOG_TAIL:]
        raise error(f"{' '.join(argv)[:200]} ended with {done.returncode}:\n{tail}")
    return done.stdout


def run_tool(
    argv: Sequence[str], error: type[TwinError], *, inside: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, `inside` another one that starts it, and returns what it said. Raises `error` where it is not installed, or does not end in an hour.

    The folders of system programs are searched too; a user's PATH often lacks them. ^C is for us: we end it in good order.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:{_SBIN}"
    program = shutil.which(argv[0], path=path)
    if not program:
        raise error(f"{argv[0]} is not installed; a virtual machine needs it")
    environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}
    words = [*inside, program, *argv[1:]]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="replace", env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said, complained = process.communicate(timeout=LIMIT_SECONDS)
        except BaseException as ended:
            process.kill()
            process.communicate()  # not before everything that it started has closed its end, too
            if isinstance(ended, subprocess.TimeoutExpired):
                raise error(f"{' '.join(argv)[:200]} did not end in {LIMIT_SECONDS:.0f} s") from None
            raise
    return subprocess.CompletedProcess(words, process.returncode, said, complained)


def tool_as_root(argv: Sequence[str], error: type[TwinError]) -> str:
    """`tool` as root of a mount and process namespace of its own: with the program all that it started ends, and all that it mounted is gone.

    Whoever is not root is root of a namespace of the own user, in which files get their owners. If we end, the program does.
    """
    own = ["--map-auto", "--map-root-user"] if os.geteuid() else []
    apart = ["unshare", *own, "--mount", "--pid", "--fork", "--kill-child", "--"]
    return _check(run_tool(argv, error, inside=["setpriv", "--pdeathsig", "KILL", *apart]), argv, error)
