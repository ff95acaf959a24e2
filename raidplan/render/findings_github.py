"""Findings as annotations of a GitHub workflow: commands that its runner reads from the log.

The graver come first, since GitHub shows only ten of each severity for a step. Escapes: command.ts of
actions/toolkit, undone by ActionCommand.cs of actions/runner.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.base.findings import Severity
from raidplan.render.files import relative
from raidplan.render.forms import Look
from raidplan.render.groups import details, grouped
from raidplan.render.visible import visible
from raidplan.review.located import Located
from raidplan.review.pipeline import Loaded

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(checked: Sequence[Loaded], look: Look) -> str:
    """A command for each place; nothing if nothing was found."""
    groups = [group for loaded in checked for group in grouped(loaded.findings)]
    groups.sort(key=lambda group: group[0].finding.severity.rank)
    return "".join(f"{_command(group)}\n" for group in groups)


def _command(group: Sequence[Located]) -> str:
    finding, span = group[0].finding, group[0].span
    properties = {"file": visible(relative(span.file)), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:  # otherwise the runner wants no columns
        properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = f"raidplan: {visible(finding.rule)}"
    written = ",".join(f"{name}={str(value).translate(PROPERTY)}" for name, value in properties.items())
    lines = [visible(line) for line in (finding.message, *details(group))]
    return f"::{COMMANDS[finding.severity]} {written}::" + "\n".join(lines).translate(DATA)
