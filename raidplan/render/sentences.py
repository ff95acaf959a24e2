"""Sentences as data: a template and its figures. Text that was read from a disk is escaped.

| in a template | becomes |
| --- | --- |
| `{x}` | the figure; `unknown` if it is empty, `nothing` if it is a list without entries |
| `{x:size}`, `{x:exact}` | bytes as `4.00 TB`, as `4.00 TB (4000787030016 bytes)` |
| `{x:lines}` | the words of a program, in their lines |
| `{x:; }` | a list, joined by what stands behind the colon |
| `{x:5}`, `{x:5; }` | a list, of which five are shown and the others counted |
| `{x:?, as % does}` | nothing if the figure is empty, else this text with the figure for `%`; of a list, `{x:?; ?(%)}` |
| `{x:|none}` | another word for an empty figure, behind any of the above but `?` |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

from raidplan.base.hidden import escaped
from raidplan.base.size import human
from raidplan.base.words import and_more


class _Sentences(Formatter):
    """A formatter of figures by the table above."""

    def format_field(self, value: Any, spec: str) -> str:
        """The figure in the words that its place in the template asks for."""
        if spec.startswith("?"):
            between, _, text = spec[1:].rpartition("?")
            return text.replace("%", _shown(value, between)) if value else ""
        form, _, empty = spec.partition("|")
        if not value and value != 0:
            return empty if "|" in spec else "unknown" if value == "" else "nothing"
        return _shown(value, form)


def _shown(value: Any, form: str) -> str:
    if isinstance(value, tuple):
        most, between = re.fullmatch(r"(\d*)(.*)", form, re.DOTALL).groups()  # type: ignore[union-attr]
        parts = [escaped(str(each)) for each in value]
        more = f" {and_more(len(parts) - int(most))}" if most and len(parts) > int(most) else ""
        return (between or ", ").join(parts[: int(most)] if more else parts) + more
    if form == "exact":
        return f"{human(value)} ({value} bytes)"
    if form == "lines":
        return "\n".join(map(escaped, str(value).split("\n")))
    return human(value) if form == "size" else escaped(str(value))


def filled(template: str, figures: Mapping[str, Any]) -> str:
    """The template with its figures."""
    return _Sentences().vformat(template, (), figures)
