"""The figures of a message as data: numbers, sizes in bytes, names as they were read, lists of them."""

from __future__ import annotations

from collections.abc import Mapping

Figure = str | int | tuple[str, ...]
Figures = Mapping[str, Figure]
