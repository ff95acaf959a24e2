"""The programs that make and read a twin's files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from raidplan.twin.server.failure import TwinError

LOG_TAIL = 3000
"""Characters of messages that an error keeps."""
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def tool(argv: Sequence[str], error: type[TwinError]) -> str:
    """Runs a program to its end and returns what it printed. Raises `error` with the end of its messages where it fails or is missing."""
    done = run_tool(argv, error)
    if done.returncode:
        tail = (done.stdout + done.stderr)[-LOG_TAIL:]
        raise error(f"{' '.join(argv)[:200]} ended with {done.returncode}:\n{tail}")
    return done.stdout


def run_tool(argv: Sequence[str], error: type[TwinError]) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end and returns what it said. Raises `error` where it is not installed.

    The folders of system programs are searched too; a user's PATH often lacks them.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:{_SBIN}"
    program = shutil.which(argv[0], path=path)
    if not program:
        raise error(f"{argv[0]} is not installed; a virtual machine needs it")
    environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}
    words = [program, *argv[1:]]
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment
    )
