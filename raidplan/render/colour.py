"""Colours of the terminal: a style is a function from text to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

CODES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "faint": "2",
    "good": "32",
    "change": "33",
    "destroy": "31",
}
"""SGR parameters (ECMA-48) by meaning."""

Styles = Mapping[str, Callable[[str], str]]


def styles(colour: bool) -> Styles:
    """A function for each meaning; without colour each gives its text back."""
    return {name: _style(code if colour else "") for name, code in CODES.items()}


def _style(code: str) -> Callable[[str], str]:
    return (lambda text: f"\x1b[{code}m{text}\x1b[0m") if code else (lambda text: text)
