"""The programs that make and read a twin's files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def run_tool(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end and returns what it said. Raises FileNotFoundError where it is not installed.

    The folders of system programs are searched too; a user's PATH often lacks them.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:{_SBIN}"
    program = shutil.which(argv[0], path=path)
    if not program:
        raise FileNotFoundError(f"{argv[0]} is not installed; a virtual machine needs it")
    environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}
    words = [program, *argv[1:]]
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment
    )
