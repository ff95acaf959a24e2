"""One change in place as a value: its commands, and the least version of the program; `base/filesystems/` and `plan/changes/` make them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """A way to change something while its data stays."""

    command: str
    """The program and its mode: `mdadm --grow --chunk`."""
    note: str = ""
    """Something to know before."""
