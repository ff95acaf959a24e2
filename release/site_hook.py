"""A hook of mkdocs: a link to a file of the repository that is no page stands as its text alone."""

from __future__ import annotations

import posixpath
import re
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\((\.\.?/[^)#\s]*)[^)]*\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page before it is rendered."""
    folder = posixpath.dirname(page.file.src_uri)

    def kept(match: re.Match[str]) -> str:
        outside = posixpath.normpath(posixpath.join(folder, match[2])).startswith("..")
        return match[1] if outside else match[0]

    return LINK.sub(kept, markdown)
