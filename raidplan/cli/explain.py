"""`raidplan explain [RULE]`: what a rule catches, why, and what to do; or all rules in a line each."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "explain", description="Explains a rule with a bad and a good example, or lists all rules."
    )
    parser.add_argument("rule", nargs="?", metavar="RULE", help="the rule's name, as in error[NAME]")
    add_output(parser, "text", "markdown")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the page or the list."""
    from raidplan.base.findings import did_you_mean
    from raidplan.cli import OK
    from raidplan.cli.output import Unable, emit
    from raidplan.rules import CATALOGUE

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
        from raidplan.render.rules_markdown import rules_markdown

        return rules_markdown()
    from raidplan.rules import CATALOGUE

    width = max(map(len, CATALOGUE), default=0)
    rules = [CATALOGUE[name] for name in sorted(CATALOGUE)]
    return "".join(f"{rule.name:{width}}  {rule.severity:7}  {rule.summary}\n" for rule in rules)
