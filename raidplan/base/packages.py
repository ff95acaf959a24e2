"""The Debian packages whose programs plans run: versions that plans are right for, and how versions differ."""

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


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a program does otherwise from a version on, and what plans do so that it does not matter."""

    package: str
    since: str
    what: str
    answer: str
    source: str
    until: str = ""
    """The first version that does it no more."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a program puts on a disk by itself, and what can read it; a plan cannot say otherwise to every version.

    `since` is the program's version that does so first, `under` the running kernel's; empty where it does not matter.
    """

    program: str
    words: tuple[str, ...]
    since: str
    under: str
    what: str
    kernel: str
    """The first Linux that reads it."""
    grub: str
    """The first GRUB that reads it; empty where GRUB does not look at it."""
    source: str
