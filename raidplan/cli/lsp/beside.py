"""The keys of the mapping in which a cursor stands, in a layout that may be half typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from raidplan.cli.lsp.brackets import CLOSING, OPENING, finished

_BLOCK = re.compile(r"(?P<indent> *(?:- +)*)(?P<key>[\w<>:/.-]+?):(?=\s|$)")
_FLOW = re.compile(r"\s*([\w<>:/.-]+?):(?=\s|$)")
_COMMENT = re.compile(r"(?:^|(?<= ))#.*")


def keys_beside(text: str, line: int, column: int) -> frozenset[str]:
    """The other keys of the mapping at a line and column, both from 0 on, above and below."""
    lines = [_COMMENT.sub("", each) for each in finished(text)]
    lines += [""] * (line + 1 - len(lines))
    here = "\n".join([*lines[:line], lines[line][:column]])
    opened = _opened(here)
    if opened is not None:
        after = "\n".join([lines[line][column:], *lines[line + 1 :]])
        return frozenset((*_flow_keys(here[opened + 1 :]), *_flow_keys(after)))
    indent = len(lines[line][:column]) - len(lines[line][:column].lstrip(" -"))
    above = () if "-" in lines[line][:indent] else _block_keys(reversed(lines[:line]), indent)
    below = _block_keys(lines[line + 1 :], indent, first=False)
    return frozenset((*above, *below))


def _opened(text: str) -> int | None:
    """The place of the innermost bracket that is still open; None in block style."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        if text[place] in CLOSING:
            depth += 1
        elif text[place] in OPENING:
            depth -= 1
            if depth < 0:
                return place
    return None


def _flow_keys(text: str) -> Iterator[str]:
    """The keys at the front of each entry, until the mapping is closed."""
    depth, start = 0, 0
    for place, letter in enumerate(f"{text},"):
        if letter in OPENING:
            depth += 1
        elif letter in CLOSING:
            depth -= 1
        if depth < 0 or (letter == "," and depth == 0):
            if match := _FLOW.match(text, start):
                yield match[1]
            start = place + 1
        if depth < 0:
            return


def _block_keys(lines: Iterable[str], indent: int, *, first: bool = True) -> Iterator[str]:
    """The keys at an indentation, until a line with less of it, or one behind `- `, which is the `first` of the mapping or of another."""
    for line in lines:
        found = _BLOCK.match(line)
        if line.strip() and len(line) - len(line.lstrip(" ")) < indent - (2 if "- " in line[:indent] else 0):
            return
        if found and len(found["indent"]) == indent:
            item = "-" in found["indent"]
            if first or not item:
                yield found["key"]
            if item:
                return
