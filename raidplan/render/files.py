"""Names of files as other programs want them: relative to where they run, or as a URI."""

from __future__ import annotations

import os
from urllib.parse import quote


def relative(file: str) -> str:
    """The file's path from the working folder if it lies below, without `./`."""
    path = os.path.normpath(file)
    if os.path.isabs(path) and path.startswith(os.path.join(os.getcwd(), "")):
        return os.path.relpath(path)
    return path


def uri(file: str) -> str:
    """The file as a reference to a URI (RFC 3986): relative to the working folder, or `file:///...`."""
    path = relative(file)
    return ("file://" if os.path.isabs(path) else "") + quote(os.fsencode(path))
