"""A range as people write it who know another notation."""

from __future__ import annotations

import re
from collections.abc import Container


def meant_range(text: str, known: Container[str] | None = None) -> str:
    """`d<0-3>` for `d0-d3`, `d0-3` or `d0..3`, if both ends are known, or may be anything; else an empty text."""
    match = re.fullmatch(r"(\D*)(\d+)\s*(?:-|\.\.|:)\s*(?:\1)?(\d+)(\D.*)?", text)
    if match is None:
        return ""
    stem, first, last, end = match.groups(default="")
    there = known is None or all(f"{stem}{number}{end}" in known for number in (first, last))
    return f"{stem}<{first}-{last}>{end}" if there else ""
