"""How something is changed while its data stays, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """How something is changed while its data stays."""

    command: str
    """The program and its mode: `mdadm --grow --chunk`."""
    note: str = ""
    """What has to be known before."""
