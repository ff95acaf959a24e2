"""Reasons to change nothing, said on standard error."""

from __future__ import annotations

from raidplan.apply.refusal import Refusal
from raidplan.cli import REFUSED
from raidplan.cli.output import talk
from raidplan.render.refusals import refusal_text


def refuse(*reasons: Refusal) -> int:
    """Says why; the exit code."""
    for each in reasons:
        talk(f"refused: {refusal_text(each)}")
    return REFUSED


def refuse_unwritten(*reasons: Refusal) -> int:
    """Says why, and that nothing was written; the exit code."""
    code = refuse(*reasons)
    talk("nothing was written")
    return code
