"""`raidplan explain [RULE]`: what a rule catches, why, and what to do; or all rules in a line each."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from raidplan.base.findings import did_you_mean
from raidplan.cli import OK
from raidplan.cli.output import Unable, emit
from raidplan.layout.keys import Key, keys, models
from raidplan.layout.kinds.model import Model
from raidplan.layout.model import Layout
from raidplan.render.findings_json import json_text
from raidplan.render.rules_markdown import rules_markdown
from raidplan.rules import CATALOGUE, Rule


def run(arguments: argparse.Namespace) -> int:
    """Prints the page or the list."""
    if arguments.rule is None:
        chosen = [CATALOGUE[name] for name in sorted(CATALOGUE) if _matches(CATALOGUE[name], arguments)]
        emit(_list(chosen, arguments.format), arguments.output)
        return OK
    if arguments.severity or arguments.about:
        raise Unable("--severity and --about choose from the list; leave RULE out")
    if arguments.rule not in CATALOGUE:
        hint = _key(arguments.rule) or did_you_mean(arguments.rule, CATALOGUE)
        hint = hint or "`raidplan explain` lists the rules"
        raise Unable(f"there is no rule '{arguments.rule}'; {hint}")
    rule = CATALOGUE[arguments.rule]
    if arguments.format == "json":
        emit(json_text(_data(rule)), arguments.output)
        return OK
    can = "" if rule.acceptable else ", its errors cannot be accepted"
    emit(f"{rule.name} ({rule.severity}{can})\n\n{rule.page}\n", arguments.output)
    return OK


def _key(word: str) -> str:
    """Where the keys of a layout are explained, if it is one: `chunk`, `arrays.chunk`."""
    waiting: list[type[Model]] = [Layout]
    known: dict[type[Model], Mapping[str, Key]] = {}
    while waiting:
        model = waiting.pop()
        known[model] = keys(model)
        inner = (each for key in known[model].values() for each in models(key.field.hint))
        waiting += [each for each in inner if each not in known]
    is_key = any(word.rpartition(".")[2] in each for each in known.values())
    return "it is a key of a layout, and docs/layout.md has those" if is_key else ""


def _matches(rule: Rule, arguments: argparse.Namespace) -> bool:
    about = (arguments.about or "").lower()
    severity = arguments.severity in (None, rule.severity.value)
    return severity and about in f"{rule.name} {rule.summary}".lower()


def _list(rules: Sequence[Rule], form: str) -> str:
    if form == "markdown":
        return rules_markdown(rules)
    if form == "json":
        return json_text({"format_version": 1, "rules": [_data(rule) for rule in rules]})
    width = max((len(rule.name) for rule in rules), default=0)
    return "".join(f"{rule.name:{width}}  {rule.severity:7}  {rule.summary}\n" for rule in rules)


def _data(rule: Rule) -> dict[str, object]:
    """A rule as the JSON form tells of it; `page` is Markdown."""
    return {
        "rule": rule.name,
        "severity": str(rule.severity),
        "acceptable": rule.acceptable,
        "summary": rule.summary,
        "page": rule.page,
    }
