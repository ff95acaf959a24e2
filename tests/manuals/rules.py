"""The page with a few lines for each rule, made of their docstrings."""

from __future__ import annotations

import re

from raidplan.base.findings import Severity
from raidplan.rules import CATALOGUE, Rule

BRIEF = """\
# The rules

Made from their docstrings; a test keeps it fresh. `raidplan explain RULE` prints the reason, examples and sources of one,
and [this page](internals/rules.md) has those of all. How a finding is accepted: [review.md](review.md#accepting-a-finding).
"""
MEANINGS = {
    Severity.ERROR: "What tools refuse, or what puts data at risk by construction; it stops `plan` and `apply`.",
    Severity.WARNING: "What an expert would change.",
    Severity.NOTE: "What is worth knowing.",
}


def rules_in_brief() -> str:
    """A page with a few lines for each rule, by severity."""
    parts = [BRIEF]
    for severity, meaning in MEANINGS.items():
        parts.append(f"\n## {severity.value.capitalize()}s\n\n{meaning}\n")
        named = [CATALOGUE[name] for name in sorted(CATALOGUE) if CATALOGUE[name].severity is severity]
        parts += [f"\n### {rule.name}\n\n{rule.summary} {_reason(rule)}".rstrip() + "\n" for rule in named]
    return "".join(parts)


def _reason(rule: Rule) -> str:
    """The first sentence of the reason, and whether some cases are milder."""
    why = rule.page.partition("Why: ")[2].partition("\n\n")[0]
    first = re.split(r"(?<=[.!?]) (?=[A-Z`])", " ".join(why.split()), maxsplit=1)[0].removesuffix(":")
    milder = rule.severity is Severity.WARNING and re.search(r"\ba note\b", why)
    return first[:1].upper() + first[1:] + (" In milder cases a note." if milder else "")
