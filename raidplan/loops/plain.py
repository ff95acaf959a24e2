"""Plain data as YAML text that every reader understands alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_SAFE = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_./+%@-]*")
"""Characters that mean nothing to YAML wherever they stand, nor to our ranges."""
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_UNIT = re.compile(r"\d+(\.\d+)?([kKMGT]i?B|B|[GM]bps|MHz|ms|s|min|%|%free)(/s)?")
_INTEGER = re.compile(r"0|[1-9][0-9]{0,17}")


def as_text(value: str) -> str:
    """A scalar that must stay text, quoted where YAML 1.1 or 1.2 could take it for anything else."""
    plain = _SAFE.fullmatch(value) and value.lower() not in _WORDS and not value[0].isdigit()
    if plain or _UNIT.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def as_typed(value: str | None) -> str:
    """A scalar that may be a number or a boolean, which then stand without quotes."""
    if value is None:
        return "null"
    return value if _INTEGER.fullmatch(value) or value in ("true", "false") else as_text(value)


def as_flow(value: Any) -> str:
    """Any plain value on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{as_text(key)}: {as_flow(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(as_flow, value)) + "]"
        case _:
            return as_typed(value)


def as_yaml(data: Mapping[str, Any]) -> str:
    """A whole layout: one line for each thing that has no things inside."""
    return "\n".join(_lines(data, "")) + "\n"


def _lines(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
            yield f"{indent}{as_text(key)}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{as_text(key)}: {as_flow(value)}"
