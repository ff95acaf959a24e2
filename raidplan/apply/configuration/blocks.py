"""The text of configuration files: a file of our own, or a marked block in a file that others write too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from raidplan.apply.refusal import Refused, refusal
from raidplan.facts import Machine
from raidplan.plan.places import CLOSE, OPEN
from raidplan.plan.step import Plan, WriteBlock, WriteFile

LINES = re.compile(r"[^\n]*\n|[^\n]+")
"""Lines as the programs that read these files see them; Python would also end one at a form feed, for example."""


class BrokenBlock(Refused):
    """The marks in a file do not make one block."""


def wanted_text(action: WriteFile | WriteBlock, text: str | None) -> str | None:
    """The desired text of the file, given its present text (None: the file does not exist, or should not).

    Raises BrokenBlock if the marks of the block are not one pair in order.
    """
    if isinstance(action, WriteFile):
        return action.content or None
    if text is None and not action.content:
        return None
    text = text or ""
    opening, closing = OPEN.format(mark=action.mark), CLOSE.format(mark=action.mark)
    block = f"{opening}\n{action.content}{closing}\n" if action.content else ""
    lines = LINES.findall(text)
    found = _block(lines, opening, closing, action.file)
    if found:
        first, last = found
        return "".join([*lines[:first], block, *lines[last + 1 :]])
    if action.at_top or not block:
        return block + text
    gap = "" if not text or text.endswith("\n") else "\n"
    return text + gap + block


def _block(lines: list[str], opening: str, closing: str, file: str) -> tuple[int, int] | None:
    """The first and last line of the block, both marks included."""
    opens = [number for number, line in enumerate(lines) if line.strip() == opening]
    closes = [number for number, line in enumerate(lines) if line.strip() == closing]
    if not opens and not closes:
        return None
    if len(opens) != 1 or len(closes) != 1 or opens[0] > closes[0]:
        where = tuple(str(number + 1) for number in sorted([*opens, *closes]))
        raise BrokenBlock(refusal("block-damaged", place=file, opening=opening, closing=closing, lines=where))
    return opens[0], closes[0]


class Sections(NamedTuple):
    """The numbered lines of a file, by where they stand to our block, or will stand to one that is yet to come."""

    before: list[tuple[int, str]]
    inside: list[tuple[int, str]]
    behind: list[tuple[int, str]]

    @property
    def others(self) -> list[tuple[int, str]]:
        """The lines that are not ours."""
        return [*self.before, *self.behind]


def sections(text: str, mark: str, *, at_top: bool = False) -> Sections:
    """A file cut at the marks of our block. Raises BrokenBlock."""
    lines = LINES.findall(text)
    found = _block(lines, OPEN.format(mark=mark), CLOSE.format(mark=mark), "the file")
    numbered = [(number, line.removesuffix("\n")) for number, line in enumerate(lines, 1)]
    if found is None:
        return Sections([], [], numbered) if at_top else Sections(numbered, [], [])
    first, last = found
    return Sections(numbered[:first], numbered[first + 1 : last], numbered[last + 1 :])


def our_blocks(left: Plan, machine: Machine) -> Iterator[tuple[WriteBlock, Sections]]:
    """The blocks that steps of the plan write, and the present text of their files; a file with damaged marks is left out."""
    for step in left.steps:
        if isinstance(step.action, WriteBlock):
            try:
                text = file_text(machine, step.action.file) or ""
                yield step.action, sections(text, step.action.mark, at_top=step.action.at_top)
            except BrokenBlock:
                continue  # `compare` has said so


def file_text(machine: Machine, file: str) -> str | None:
    """The text of a file; None if there is none. Raises BrokenBlock for one too large to be a configuration."""
    found = machine.observe("file", file)
    if found is None:
        return None
    if "content" not in found:
        raise BrokenBlock(refusal("block-damaged", "large", place=file))
    return str(found["content"])


def as_text(data: bytes) -> str:
    """The bytes as `read_text` decodes them."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """A text as `read_text` gives it, as it lies in the file."""
    return text.encode("utf-8", "surrogateescape")
