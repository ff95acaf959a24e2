"""Findings as JUnit's XML: a suite for each layout, a test for each finding, failed if it is grave enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from raidplan.base.findings import dotted
from raidplan.base.words import counted
from raidplan.render.files import relative
from raidplan.render.forms import Look
from raidplan.render.groups import details
from raidplan.render.visible import visible
from raidplan.review.located import Located
from raidplan.review.pipeline import Loaded


def render(checked: Sequence[Loaded], look: Look) -> str:
    """The document; a layout with nothing to report has one test, which passes."""
    suites = [list(_suite(loaded)) for loaded in checked]
    tests = sum(max(1, len(loaded.findings)) for loaded in checked)
    head = (
        f'<testsuites name="raidplan" tests="{tests}" failures="{sum(map(_failures, checked))}" errors="0">'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', head, *(line for suite in suites for line in suite)]
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _failures(loaded: Loaded) -> int:
    return sum(_fails(item, loaded) for item in loaded.findings)


def _fails(item: Located, loaded: Loaded) -> bool:
    return item.finding.severity.rank <= loaded.settings.fail_on.rank


def _suite(loaded: Loaded) -> Iterator[str]:
    tests = max(1, len(loaded.findings))
    yield f'<testsuite name={_value(relative(loaded.file))} tests="{tests}" failures="{_failures(loaded)}" errors="0" skipped="0">'
    for item in loaded.findings:
        yield from _case(item, failed=_fails(item, loaded))
    if not loaded.findings:
        yield f'  <testcase classname={_value(relative(loaded.file))} name="{_nothing(loaded)}"/>'
    yield "</testsuite>"


def _nothing(loaded: Loaded) -> str:
    accepted = f" ({counted(len(loaded.accepted), 'finding')} accepted)" if loaded.accepted else ""
    return f"nothing to report{accepted}"


def _case(item: Located, *, failed: bool) -> Iterator[str]:
    finding, span = item.finding, item.span
    place = f"{relative(span.file)}:{span.line}:{span.column}"
    name = f"{finding.rule} {dotted(finding.path) or place}"
    text = "\n".join(
        visible(line)
        for line in (f"{finding.severity.value}: {finding.message}", f"at {place}", *details([item]))
    )
    yield f'  <testcase classname={_value(relative(span.file))} name={_value(name)} file={_value(relative(span.file))} line="{span.line}">'
    if failed:
        yield f"    <failure type={_value(finding.severity.value)} message={_value(finding.message)}>{escape(text)}</failure>"
    else:
        yield f"    <system-out>{escape(text)}</system-out>"
    yield "  </testcase>"


def _value(text: str) -> str:
    return quoteattr(visible(text))
