"""A program in the guest: a command at a terminal of its own, on which the passphrase is typed wherever it is asked for.

A program of its own: `typist.py COMMAND…`, with the passphrase in `PASSPHRASE`. What the command writes elsewhere than to
its terminal, and its exit code, stay what they are.
"""

import fcntl
import os
import subprocess
import sys
import termios
from pathlib import Path

PASSPHRASE = Path("/root/passphrase")
QUESTION = b"assphrase"
"""Stands in every question."""


def main(argv: list[str]) -> int:
    """The exit code of the command."""
    keyboard, terminal = os.openpty()

    def sit_down() -> None:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=sit_down, pass_fds=(terminal,)
    )
    os.close(terminal)
    question = b""
    while shown := read(keyboard):
        question += shown
        if QUESTION in question and question.rstrip(b" ").endswith(b":"):
            question = b""
            os.write(keyboard, PASSPHRASE.read_bytes() + b"\n")
    return process.wait()


def read(keyboard: int) -> bytes:
    """The next output of the terminal; empty once nobody has it open (EIO)."""
    try:
        return os.read(keyboard, 4096)
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
