"""What GitHub's runner takes for a command in a line of a log, as its source reads them (ActionCommand.cs)."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    properties: dict[str, str]
    data: str


def commands(log: str) -> list[Command]:
    """Every command in a log, in either of its two forms; names are not compared with those that exist."""
    found = (_command(line) for line in re.split("\r\n|\n|\r", log))
    return [command for command in found if command is not None]


def _command(line: str) -> Command | None:
    text = line.lstrip()
    if text.startswith("::") and "::" in text[2:]:
        head, _, data = text[2:].partition("::")
        name, _, properties = head.partition(" ")
        return Command(name, _properties(properties), _undo(data, {"%0D": "\r", "%0A": "\n", "%25": "%"}))
    old = "##" in text and re.search(r"##(\w*)\[([^\]]*)\]", text)
    return Command(old[2], {}, text[old.end() :]) if old else None


def _properties(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    escapes = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
    return {name: _undo(value, escapes) for name, _, value in pairs}


def _undo(text: str, escapes: dict[str, str]) -> str:
    for escape, meaning in escapes.items():
        text = text.replace(escape, meaning)
    return text
