"""`raidplan explain [RULE]`: what a rule catches, why, and what to do; or all rules in a line each."""

from __future__ import annotations

import argparse

from raidplan.base.findings import did_you_mean
from raidplan.cli import OK
from raidplan.cli.output import Unable, emit
from raidplan.render.rules_markdown import rules_markdown
from raidplan.rules import CATALOGUE


def run(arguments: argparse.Namespace) -> int:
    """Prints the page or the list."""
    if arguments.rule is None:
        emit(_list(arguments.format), arguments.output)
        return OK
    if arguments.rule not in CATALOGUE:
        hint = did_you_mean(arguments.rule, CATALOGUE) or "`raidplan explain` lists the rules"
        raise Unable(f"there is no rule '{arguments.rule}'; {hint}")
    rule = CATALOGUE[arguments.rule]
    can = "" if rule.acceptable else ", its errors cannot be accepted"
    emit(f"{rule.name} ({rule.severity}{can})\n\n{rule.page}\n", arguments.output)
    return OK


def _list(form: str) -> str:
    if form == "markdown":
        return rules_markdown()
    width = max(map(len, CATALOGUE), default=0)
    rules = [CATALOGUE[name] for name in sorted(CATALOGUE)]
    return "".join(f"{rule.name:{width}}  {rule.severity:7}  {rule.summary}\n" for rule in rules)
