"""Commands as text that a shell would read back to the same words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from raidplan.render.visible import COMMAND, visible

_DISK = re.compile(r"\{[A-Za-z0-9_][A-Za-z0-9_-]*\}")


def quoted(word: str) -> str:
    """One word for a POSIX shell; nothing in it is expanded, and nothing commands a runner that logs it."""
    text = COMMAND.sub(r"##\1''[", shlex.quote(word))
    return f"'{text}'" if text.startswith("::") else text


def disk_name(word: str) -> str:
    """`d00` for the word `{d00}`, which stands for a disk's device; else an empty text."""
    return word[1:-1] if _DISK.fullmatch(word) else ""


def command_text(argv: Sequence[str]) -> str:
    """A command for reading: `{d00}` stays as it is, what cannot be seen is shown as an escape."""
    return " ".join(visible(word if disk_name(word) else quoted(word)) for word in argv)
