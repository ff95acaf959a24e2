"""Failures to read a part of the machine, as data. The words are in `render/machine_words.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unread = Literal["", "array", "program", "unsettled"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One of them; `place` is the array or the program, `said` the last words of that; with an empty `case`, the whole
    sentence, which snapshots of earlier versions have."""

    case: Unread
    place: str = ""
    said: str = ""
