"""What our own lines in fstab(5) mount."""

from __future__ import annotations

from raidplan.apply.configuration.files import BrokenBlock, file_text, inside_block
from raidplan.apply.configuration.lines import numbered, rows
from raidplan.facts import Machine
from raidplan.facts.mounts import unescaped
from raidplan.plan.places import FSTAB


def mounts(text: str) -> dict[str, list[str]]:
    """The fields of every line that has options, by the first of them: what is mounted."""
    fields = ([unescaped(word) for word in words] for _, words in rows(numbered(text)))
    return {row[0]: row for row in fields if len(row) >= 4}


def mounts_before(machine: Machine, mark: str) -> dict[str, list[str]]:
    """The same of our block as it stands; nothing where its marks make none."""
    try:
        return mounts(inside_block(file_text(machine, FSTAB) or "", mark))
    except BrokenBlock:
        return {}  # `against` has said so
