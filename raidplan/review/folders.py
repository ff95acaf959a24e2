"""The files of a folder that a project leaves out: what git ignores, and what the settings exclude or do not include."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from raidplan.layout.files import layout_files, yaml_files
from raidplan.review.settings import Settings


def files_within(folder: str, settings: Settings) -> Iterator[str]:
    """The files of a folder that the settings include, or that look like layouts; none that is left out."""
    ignored = _ignored(folder)

    def skipped(path: str) -> bool:
        return os.path.abspath(path) in ignored or settings.excludes(path)

    if settings.include:
        return (file for file in yaml_files(folder, skipped) if settings.includes(file))
    return layout_files(folder, skipped)


def _ignored(folder: str) -> frozenset[str]:
    """The absolute paths of files and folders that git ignores; none where git cannot say."""
    start = Path(os.path.abspath(folder))
    if not any((above / ".git").exists() for above in (start, *start.parents)):
        return frozenset()
    try:
        from raidplan.review.revision import (
            NoRevision,
            ignored,
        )  # starts processes; only where there is a repository
    except ImportError:
        return frozenset()
    try:
        return frozenset(str(start / name.rstrip("/")) for name in ignored(folder))
    except NoRevision:
        return frozenset()
