"""The place of a cursor in a layout that may be half typed: the keys above it, and what is being typed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from raidplan.cli.lsp.brackets import finished

BEHIND = "x"
"""Something at the cursor, where its line may be empty so far."""
_COMMENT = re.compile(r"""(?:"[^"]*"|'[^']*'|[^"'#]|(?<=\S)#)*(?<!\S)#.*""")
_KEY = re.compile(r"([\w<>:/.-]+?|\"[^\"]*\"):(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A cursor; the `path` ends with the key whose value is being typed, if one is."""

    path: tuple[str | int, ...]
    in_value: bool
    word: str
    """The part of the word that stands before the cursor."""


def cursor(text: str, line: int, column: int) -> Cursor | None:
    """The place at a line and column, both from 0 on; None in a comment, or behind a dash without its space."""
    lines = text.splitlines()[: line + 1]
    lines += [""] * (line + 1 - len(lines))
    lines[line] = lines[line][:column]
    if _COMMENT.fullmatch(lines[line]) or lines[line].lstrip() == "-":
        return None
    lines = [*finished("\n".join([*lines[:-1], lines[-1] + BEHIND]))[:-1], lines[-1]]
    block: list[tuple[int, str | int]] = []
    flow: list[str | int | None] = []
    value = False
    for each in lines:
        value = False if not flow else value
        indent = len(each) - len(each.lstrip(" "))
        rest = each[indent:]
        if not flow and (rest or each is lines[-1]):
            item = rest.startswith("- ")  # it may stand right below its key, which stays then
            while block and (
                block[-1][0] > indent or (block[-1][0] == indent and not (item and block[-1][1]))
            ):
                block.pop()
        while not flow and rest.startswith("- "):
            block.append((indent, 0))
            value = True
            indent, rest = indent + 2, rest[2:]
        value = _scan(rest, indent, block, flow, value)
    last = re.search(r"[\w<>./%-]*$", lines[line])
    path = (*(key for _, key in block), *(key for key in flow if key is not None))
    return Cursor(path, value, last[0] if last else "")


def _scan(
    rest: str, indent: int, block: list[tuple[int, str | int]], flow: list[str | int | None], value: bool
) -> bool:
    """Adds one line to the keys above; whether the cursor behind it would type a value."""
    place = 0
    while place < len(rest):
        letter = rest[place]
        if letter == "#" and (place == 0 or rest[place - 1] == " "):
            return value
        if letter in "{[":
            flow.append(None if letter == "{" else 0)
            value = letter == "["
        elif letter in "}]" and flow:
            flow.pop()
            value = True
        elif letter == "," and flow:
            value = flow[-1] == 0 and not isinstance(flow[-1], str)
            flow[-1] = 0 if value else None
        elif match := _KEY.match(rest, place):
            name = match[1].strip('"')
            if flow:
                flow[-1] = name
            else:
                block.append((indent, name))
            value = True
            place = match.end()
            continue
        elif letter in "\"'":
            end = rest.find(letter, place + 1)
            place = len(rest) if end < 0 else end
        elif word := re.match(r"[^\s,{}\[\]#]+", rest[place:]):
            place += word.end()
            continue
        place += 1
    return value
