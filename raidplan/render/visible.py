"""Text from a layout made harmless: what could move the cursor, reorder, hide or command is shown as an escape."""

from __future__ import annotations

import re

from raidplan.base.hidden import is_seen

_HIDDEN = re.compile(r"[^ -~]")
_HIDDEN_IN_JSON = re.compile(r"[^\n -~]")
COMMAND = re.compile(r"##(\w*)\[")
"""Commands of GitHub's and Azure's runners, wherever they stand in a line of a log: `##[error]`,
`##vso[task.complete]` (ActionCommand.TryParse of actions/runner)."""


def visible(text: str) -> str:
    """The text with everything unprintable as `\\x1b` or `\\u202e`; tabs and line breaks too."""
    return COMMAND.sub(r"##\1\\x5b", _HIDDEN.sub(lambda match: shown(match[0]), text))


def shown(character: str) -> str:
    """One character, or its escape if it is not printable."""
    if is_seen(character):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_safe(text: str) -> str:
    """JSON text with the unprintable characters of its strings as JSON escapes; it means the same."""
    return COMMAND.sub(r"##\1\\u005b", _HIDDEN_IN_JSON.sub(lambda match: _json_escape(match[0]), text))


def _json_escape(character: str) -> str:
    if is_seen(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
