"""The names that a range stands for, as a reader takes it: `d[0-7]`, `sd[a-c]`, `n[0-22/2]`, `d[0-3].{boot,swap}`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CHOICE = re.compile(r"\{((?:[^{}\[\]]|\[[^\]]*\])*)\}|\[([^\[\]]*)\]")
"""What stands in braces, in which ranges may stand, or in brackets."""
_COMMA = re.compile(r",(?![^\[]*\])")


def written_out(text: str) -> list[str]:
    """The names, each as often as the range has it."""
    choice = _CHOICE.search(text)
    if not choice:
        return [text]
    before, after = text[: choice.start()], text[choice.end() :]
    parts = _COMMA.split(choice[1]) if choice[1] is not None else _members(choice[2])
    return [name for part in parts for name in written_out(f"{before}{part}{after}")]


def _members(inner: str) -> Iterator[str]:
    for each in inner.split(","):
        first, _, last = each.partition("-")
        last, _, step = last.partition("/")
        if not last:
            yield first
        elif first.isalpha():
            yield from (chr(code) for code in range(ord(first), ord(last) + 1, int(step or 1)))
        else:
            numbers = range(int(first), int(last) + 1, int(step or 1))
            yield from (f"{number:0{len(first)}}" for number in numbers)
