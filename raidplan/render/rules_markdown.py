"""The page that holds all rules: a table, then each with its reason, its examples and its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.findings import Severity
from raidplan.rules import CATALOGUE, RULES, Rule

HEAD = """\
# The rules

Made from their docstrings by `raidplan explain --format markdown`; a test keeps it fresh. The
examples are tests: the bad one is caught once, at the marked line, and the good one is not. `raidplan explain RULE`
prints one page.

An **error** is what tools refuse, or what puts data at risk by construction; it stops `plan` and `apply`. A **warning**
would be changed by an expert, a **note** informs. How a finding is accepted: [review.md]({review}#accepting-a-finding).
"""
STATED = """\
Stated before the rules run, about them, or of several layouts: a layout cannot be read, understood or built, an acceptance
does not do what it says, or two layouts that are checked together share a disk or a host.
"""


def rules_markdown(chosen: Sequence[Rule] | None = None) -> str:
    """The page of all rules, or of those that are chosen."""
    rules = [CATALOGUE[name] for name in sorted(CATALOGUE)] if chosen is None else chosen
    own, stated = ([r for r in rules if (r.name in RULES) is wanted] for wanted in (True, False))
    return (
        HEAD.format(review="../review.md")
        + "\n"
        + _table(own)
        + "\n"
        + STATED
        + "\n"
        + _table(stated)
        + "".join(map(_section, rules))
    )


def _table(rules: list[Rule]) -> str:
    return "| rule | severity | |\n| --- | --- | --- |\n" + "".join(_rows(rules))


def _rows(rules: list[Rule]) -> Iterator[str]:
    for severity in Severity:
        for rule in rules:
            if rule.severity is severity:
                summary = rule.summary.replace("|", "\\|")
                yield f"| [{rule.name}](#{rule.name}) | {severity.value} | {summary} |\n"


def _section(rule: Rule) -> str:
    unless = "; it can be accepted" if rule.acceptable and rule.severity is Severity.ERROR else ""
    return f"\n## {rule.name}\n\n*{rule.severity.value}{unless}*: {rule.page}\n"
