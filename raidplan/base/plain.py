"""Plain values, and how each is written on one line of YAML."""

from __future__ import annotations

import re

Plain = dict[str, "Plain"] | list["Plain"] | str | int | bool | None


def flow(value: Plain) -> str:
    """A value on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{scalar(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow, value)) + "]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case text:
            return scalar(text)


_PLAIN = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_/.%+=@-]*( [A-Za-z0-9_/.%+=@][A-Za-z0-9_/.%+=@-]*)*")
_NUMBER = re.compile(
    r"[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?.*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def scalar(text: str) -> str:
    """A text as it is where YAML 1.1 and 1.2 both read it as this text, else in double quotes.

    Quoted texts are never expanded as ranges.
    """
    plain = _PLAIN.fullmatch(text) and not (_NUMBER.fullmatch(text) or _DATE.fullmatch(text))
    if plain and text.lower() not in _WORDS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
