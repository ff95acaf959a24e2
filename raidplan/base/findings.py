"""A finding: one thing that is wrong or unwise, named by its path in the layout.

Stages return findings beside their value; nothing a user can write is an exception. A finding carries
a path, never a line: lines are attached once, at the end, by `raidplan.document.Document.locate`.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

LETTERS = string.ascii_letters + string.digits + "_-."
LONGEST = 60
"""Letters of a user's own text in a message."""

Path = tuple[str | int, ...]
"""A place in a layout: ("arrays", "s0", "members", 2)."""


class Severity(StrEnum):
    """The gravity: an error stops `plan` and `apply`, a warning would be changed by an expert, a note informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for an error, 1 for a warning, 2 for a note."""
        return list(Severity).index(self)


class Related(NamedTuple):
    """Another place of the layout that a finding is about, and what is there in a few words."""

    path: Path
    message: str


class Edit(NamedTuple):
    """A change of one value of a layout, in which all ranges are written out.

    A path whose end is not there yet inserts the value. The paths of several edits are those before any of them.
    """

    path: Path
    new: str | int | tuple[str, ...] | None
    """The value as it is written; None removes the key or the item."""
    on_key: bool = False
    """The key of the value gets a new name, not the value."""


class Finding(NamedTuple):
    """One statement of fact with its numbers (`message`) and what to do about it (`hint`)."""

    rule: str
    severity: Severity
    path: Path
    message: str
    hint: str = ""
    on_key: bool = False
    """Point at the key, not at the value (an unknown key, a name that is used twice)."""
    related: tuple[Related, ...] = ()
    edits: tuple[Edit, ...] = ()
    """The part of the hint that a program can do: without this finding afterwards, and with none as grave in its place."""
    meant: str = ""
    """The word that was probably meant in place of the one at the path; an editor offers it, and a person decides."""


def error(
    rule: str, path: Path, message: str, hint: str = "", *, on_key: bool = False, meant: str = ""
) -> Finding:
    """An error finding; its hint asks for the word that was probably `meant`, if there is one."""
    hint = suggestion(meant) or hint
    return Finding(rule, Severity.ERROR, path, message, hint, on_key, meant=meant)


def has_errors(findings: Iterable[Finding]) -> bool:
    """True if any finding is an error."""
    return any(f.severity is Severity.ERROR for f in findings)


def dotted(path: Path) -> str:
    """The path as it is printed: `arrays.s0.members.2`."""
    return ".".join(str(part) for part in path)


def shortened(text: str) -> str:
    """A user's own text, short enough for a message."""
    return (text if len(text) <= LONGEST else f"{text[:LONGEST]}...").replace("\n", "\\n")


def did_you_mean(word: str, known: Collection[str]) -> str:
    """`did you mean 'chunk'?` for a near miss, else an empty text."""
    return suggestion(nearest(word, known))


def suggestion(near: str) -> str:
    """The hint that names the word that was probably meant; empty if there is none."""
    return f"did you mean '{near}'?" if near else ""


def nearest(word: str, known: Collection[str]) -> str:
    """The known word that a misspelt one is nearest to, else an empty text."""
    if len(word) > 64:
        return ""
    # Comparing with thousands of names takes too long; of those, only what is one slip away is found.
    near = _closest(word, tuple(known)) if len(known) < 500 else [w for w in _slips(word) if w in known]
    return near[0] if near else ""


@lru_cache
def _closest(word: str, known: tuple[str, ...]) -> list[str]:
    from difflib import get_close_matches  # most layouts have no word that is misspelt

    return get_close_matches(word, known)


def _slips(word: str) -> Iterator[str]:
    """The word with two letters exchanged, one too many, one wrong, or one left out."""
    for place in range(len(word) + 1):
        front, back = word[:place], word[place:]
        if len(back) > 1:
            yield front + back[1] + back[0] + back[2:]
        if back:
            yield front + back[1:]
            yield from (front + letter + back[1:] for letter in LETTERS)
        yield from (front + letter + back for letter in LETTERS)
