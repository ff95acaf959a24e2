"""Mounts and swap that an administrator wrote as units of systemd."""

from __future__ import annotations

import re
from pathlib import Path

from raidplan.facts.block import text_of
from raidplan.facts.machine import Properties

BEFORE_FSTAB = (
    "etc/systemd/system.control",
    "run/systemd/system.control",
    "run/systemd/transient",
    "run/systemd/generator.early",
    "etc/systemd/system",
    "etc/systemd/system.attached",
    "run/systemd/system",
    "run/systemd/system.attached",
)
"""Folders whose units go before those of the same name that systemd makes of fstab, in /run/systemd/generator; units of
packages come after it (systemd.unit(5), unit file load path)."""
KINDS = (".mount", ".automount", ".swap")
WHAT = re.compile(r"^[ \t]*What[ \t]*=(.*)$", re.MULTILINE)


def read_unit_files(root: Path) -> dict[str, Properties]:
    """The units by path; `what` is the device or file that is mounted or swapped on, empty for automounts and masks."""
    files = (
        file for folder in BEFORE_FSTAB for file in sorted((root / folder).glob("*")) if file.suffix in KINDS
    )
    return {f"/{file.relative_to(root)}": {"what": _what(file)} for file in files}


def _what(file: Path) -> str:
    """The last value counts; a mask, which is a link to /dev/null, has none."""
    text = text_of(file) if file.is_file() else ""
    *_, last = [None, *WHAT.finditer(text)]
    return last[1].strip() if last else ""
