"""The Debian packages whose programs plans run: versions that plans are right for, and how versions differ."""

from __future__ import annotations

from typing import NamedTuple


class Package(NamedTuple):
    """Programs of one version; `oldest` is the first that plans are right for, `newest` the last that was read."""

    name: str
    programs: tuple[str, ...]
    oldest: str = ""
    """Empty where every version will do; then there is no `newest` either."""
    newest: str = ""
    """Compared as far as it is written: every 1.47.x is known where it says 1.47."""
    source: str = ""
    """The document with the changes between the versions."""


class Behaviour(NamedTuple):
    """A change of a program's behaviour in a version, and the precaution in plans that makes it harmless."""

    package: str
    since: str
    what: str
    answer: str
    source: str
    until: str = ""
    """The first version that does it no more."""


class Written(NamedTuple):
    """A format that a program writes by itself, and its readers; a plan cannot choose another with every version.

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
