"""Characters that nobody sees: they could move the cursor, reorder text, or make two names look alike."""

from __future__ import annotations

import re

INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control characters, spaces that are none to YAML, and what hides or reorders text (CVE-2021-42574; Unicode's Default_Ignorable)."""


def is_seen(text: str) -> bool:
    """Every character of the text shows, blanks between words included."""
    return text.isprintable() and not INVISIBLE.search(text)


def escaped(text: str) -> str:
    """Text from a disk for a sentence: unprintable characters are escaped, so that they cannot move the cursor."""
    return "".join(c if is_seen(c) else c.encode("unicode_escape").decode() for c in text)
