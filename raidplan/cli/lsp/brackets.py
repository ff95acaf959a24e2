"""Brackets in a layout that is half typed."""

from __future__ import annotations

import re

OPENING, CLOSING = "{[", "}]"
_TOKEN = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"?|'[^']*'?)|(?P<comment>(?:^|(?<=\s))#.*)|(?P<bracket>[{}\[\]])"""
)
_BEFORE_QUOTE = re.compile(r"[\s,:{\[]$")


def finished(text: str) -> list[str]:
    """The lines of a text; a bracket that is never closed ends before the next line of the block around it, or at the end.

    What follows a line that somebody is typing reads as if that was complete. Balanced text stays as it is.
    """
    lines = text.splitlines()
    left = ""
    for line in lines:
        left = _open(line, left)
    if not left:
        return lines
    left, indent, last = "", 0, 0
    for number, line in enumerate(lines):
        rest = line.lstrip(" ")
        if not rest or rest.startswith("#"):
            continue
        here = len(line) - len(rest)
        if left and here <= indent and rest[0] not in CLOSING:
            lines[last] = _with_end(lines[last], left)
            left = ""
        indent = indent if left else here
        left, last = _open(line, left), number
    if left:
        lines[last] = _with_end(lines[last], left)
    return lines


def _open(line: str, left: str) -> str:
    """The brackets that are open behind a line, the innermost last; `left` are those in front of it."""
    for match in _tokens(line):
        if (letter := match["bracket"]) and letter in OPENING:
            left += letter
        elif letter and left:
            left = left[:-1]
    return left


def _with_end(line: str, left: str) -> str:
    """The line with what closes its brackets, before its comment."""
    code = next((match.start() for match in _tokens(line) if match["comment"]), len(line))
    end = "".join(CLOSING[OPENING.index(each)] for each in reversed(left))
    return f"{line[:code].rstrip()}{end} {line[code:]}" if line[code:] else line + end


def _tokens(line: str) -> list[re.Match[str]]:
    """Comments, brackets and quoted words; an apostrophe within a word quotes nothing."""
    found, place = [], 0
    while match := _TOKEN.search(line, place):
        if match["quoted"] and match.start() and not _BEFORE_QUOTE.search(line[: match.start()]):
            place = match.start() + 1
            continue
        found.append(match)
        place = max(match.end(), match.start() + 1)
    return found
