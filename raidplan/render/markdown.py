"""Text in GitHub Flavored Markdown: nothing that a user wrote is markup, and all of it fits a comment."""

from __future__ import annotations

import re
from collections.abc import Sequence

from raidplan.render.visible import visible

LIMIT = 65_536
"""Characters in a comment on GitHub."""
LONGEST = 300
"""Characters of a sentence in a table."""
_PUNCTUATION = re.compile(
    r"""[!"#$&'*<>?@\[\\\]^`{|}~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//|[\w+-]*[A-Za-z_+-][\w+-]*:|1234:|100:)"""
)
"""Between letters or digits an underscore is no markup in GitHub's Markdown; of numbers, 100 and 1234 name an emoji."""
_LINKED = re.compile(r"(?<![A-Za-z0-9])&#64;|&#35;|&#58;|\bwww(?=\.)|\bGH(?=-\d)", re.IGNORECASE)


def prose(text: str) -> str:
    """Text as text: nothing in it is markup, a link, a mention or a reference (GitHub Flavored Markdown).

    Punctuation stands as character references, which never are syntax. Mentions, references and links
    are found in what comes out, so a zero-width space parts what would make one.
    """
    safe = _PUNCTUATION.sub(lambda match: f"&#{ord(match[0])};", visible(text))
    return _LINKED.sub(lambda match: f"{match[0]}&#8203;", safe)


def cell(text: str) -> str:
    """A text for a cell of a table, cut if it is long."""
    return prose(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def heading(host: str, file: str) -> str:
    """Host and file of a layout, as every heading of a review has them."""
    return f"<b>{cell(host)}</b>, {cell(file)}" if host else f"<b>{cell(file)}</b>"


def fitting(texts: Sequence[str], room: int) -> list[str]:
    """The first ones that fit, each with its line break."""
    kept = []
    for text in texts:
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(text)
    return kept
