"""Failures to read a part of the machine, as data. The words are in `render/machine_words.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unread = Literal["", "array", "program", "unsettled"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the machine that could not be read; `place` is the array or the program, `said` its last words.

    With an empty `case` these are the whole sentence, which snapshots of earlier versions have.
    """

    case: Unread
    place: str = ""
    said: str = ""
