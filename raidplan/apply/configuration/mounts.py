"""The mounts of our own lines in fstab(5)."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.apply.configuration.blocks import BrokenBlock, file_text, sections
from raidplan.apply.configuration.lines import Line, rows
from raidplan.facts import Machine
from raidplan.facts.mounts import unescaped
from raidplan.plan.places import FSTAB


def mounts(lines: Iterable[Line]) -> dict[str, list[str]]:
    """The fields of every line that has options, by the first of them: what is mounted."""
    fields = ([unescaped(word) for word in words] for _, words in rows(lines))
    return {row[0]: row for row in fields if len(row) >= 4}


def mounts_before(machine: Machine, mark: str) -> dict[str, list[str]]:
    """The mounts of our present block; none where its marks are damaged."""
    try:
        return mounts(sections(file_text(machine, FSTAB) or "", mark).inside)
    except BrokenBlock:
        return {}  # `compare` has said so
