"""A Debian package whose programs plans run, and the versions that plans are right for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Package:
    """Programs of one version; `oldest` is the first that plans are right for, `newest` the last that was read."""

    name: str
    programs: tuple[str, ...]
    oldest: str = ""
    """Empty where every version will do; then there is no `newest` either."""
    newest: str = ""
    """Compared as far as it is written: every 1.47.x is known where it says 1.47."""
    source: str = ""
    """Where the changes between the versions are written down."""
