"""A layout through all stages of `check`, with what they state at its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from raidplan.base.findings import Severity
from raidplan.review.between import between
from raidplan.review.pipeline import Loaded, check, read


@dataclass(frozen=True, slots=True)
class Stated:
    """A finding at its place."""

    line: int
    column: int
    severity: Severity
    rule: str
    message: str
    hint: str
    file: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}:{self.severity}:{self.rule}"


def stated_in(file: Path | str) -> list[Stated]:
    """What is said about a file, in its order."""
    return all_stated(check(str(file)))


def all_stated(loaded: Loaded) -> list[Stated]:
    """What is said about a layout, in its order."""
    return [
        Stated(span.line, span.column, f.severity, f.rule, f.message, f.hint, span.file)
        for f, span in ((located.finding, located.span) for located in loaded.findings)
    ]


HEAD = "version: 1\nhost: example\n"
"""What stands before every layout of a test."""


def found(rule: str, text: str, folder: Path) -> list[str]:
    """`line:severity` of each finding of one rule in a layout without its head; its first line is line 3."""
    return [f"{f.line}:{f.severity}" for f in _stated_in_a_layout(text, folder) if f.rule == rule]


def said(rule: str, text: str, folder: Path) -> list[tuple[str, str]]:
    """Message and hint of each finding of one rule in a layout without its head."""
    return [(f.message, f.hint) for f in _stated_in_a_layout(text, folder) if f.rule == rule]


BESIDE = "version: 1\nhost: storage1\nhardware: {disks: {d0: {serial: WD-WCAV51234567, size: 3TB}}}\n"
"""The layout that an example stands beside where its rule is about several."""


def of_a_page(rule: str, example: str, folder: Path) -> Loaded:
    """An example of a rule's page as `check` sees it: alone, or beside another layout."""
    file = folder / "layout.yaml"
    file.write_text(whole(example))
    loaded = check(str(file), today="2026-01-01")
    if not rule.endswith("-in-two-layouts"):
        return loaded
    (folder / "storage1.yaml").write_text(BESIDE)
    return between([loaded, check(str(folder / "storage1.yaml"))])[0]


def whole(example: str) -> str:
    """An example of a page with what stands before it."""
    return (HEAD.partition("host")[0] if example.startswith("host:") else HEAD) + example


UNITS = {"MB/s", "GB/s", "TB", "GB", "TiB", "GiB", "h", "A", "W"}
"""Words that tell what the number before them counts."""


def figures(message: str, *names: str) -> str:
    """What a message has of one layout: numbers with their units, names with a number in them, and the `names`.

    The words between them stand once for each rule, in tests/rules/said.
    """
    words = re.findall(r"\d+(?:,\d{3})+|[\w./%-]+(?<!\.)", message)
    told = (word for word in words if word in UNITS or word in names or any(map(str.isdigit, word)))
    return " ".join(told)


def _stated_in_a_layout(text: str, folder: Path) -> list[Stated]:
    """On a text that is no layout no rule runs, and silence would prove nothing."""
    findings = stated(HEAD + text, folder)
    loaded = read(str(folder / "layout.yaml"))
    assert loaded.layout is not None, loaded.findings
    return findings


def stated(text: str, folder: Path) -> list[Stated]:
    """What is said about a text, which is written to a file in the folder."""
    file = folder / "layout.yaml"
    file.write_text(text)
    return stated_in(file)
