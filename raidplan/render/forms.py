"""The forms of `check`: a name and the module whose `render` makes it. To add one, write it and name it here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from raidplan.review.pipeline import Loaded

FORMS = {
    "text": "findings_text",
    "json": "findings_json",
    "sarif": "findings_sarif",
    "github": "findings_github",
    "gitlab": "findings_gitlab",
    "junit": "findings_junit",
    "markdown": "findings_markdown",
    "html": "html.page",
}


class Look(NamedTuple):
    """The reader's colours and room."""

    colour: bool = False
    """Colours of a terminal, in the text form."""
    limit: int = 65_536
    """Characters of a Markdown form; as many fit a comment on GitHub."""


def render(form: str, checked: Sequence[Loaded], look: Look) -> str:
    """The findings of the layouts, in a form by its name."""
    text = import_module(f"raidplan.render.{FORMS[form]}").render(checked, look)
    assert isinstance(text, str)
    return text
