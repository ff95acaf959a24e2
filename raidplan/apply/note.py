"""A fact to know before anything is written, as data: a code, a place and figures; no reason to refuse.

Its sentence is in `render/note_words.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raidplan.base.figures import Figure, Figures


@dataclass(frozen=True, slots=True)
class Note:
    """One fact; `place` is the object, file or folder that it is about, `line` that of the layout, if they are known."""

    code: str
    place: str = ""
    line: int = 0
    figures: Figures = field(default_factory=dict, hash=False)


def note(code: str, *, place: str = "", line: int = 0, **figures: Figure) -> Note:
    """A note with these figures."""
    return Note(code, place, line, figures)
