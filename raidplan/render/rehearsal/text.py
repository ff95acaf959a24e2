"""The report as text for a terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.words import duration
from raidplan.render.markdown import cell, prose
from raidplan.render.rehearsal.words import acknowledged, digests, headline, limits, rows, versions
from raidplan.render.visible import visible
from raidplan.twin.rehearsal.report import Report

DETAIL = 12
"""Lines of what was said where a stage failed, in a comment."""


def rehearsal_text(report: Report) -> str:
    """Verdict, stages, the cases that went otherwise, then all cases, limits, how to repeat it."""
    return "".join(f"{visible(line)}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield headline(report)
    yield ""
    for stage in report.stages:
        yield f"  {duration(stage.began):>10}  {'passed' if stage.passed else 'FAILED':7} {stage.name:16} {duration(stage.seconds)}"
        yield from (f"              {line}" for line in stage.detail.splitlines())
    if report.tried:
        yield ""
        for row in rows(report):
            yield f"  {row.began:>10}  {'=' if row.good else '!'} {row.case} ({row.seconds}): {row.predicted}"
            if row.observed != "as predicted":
                yield f"                observed: {row.observed}"
            if row.returned:
                yield f"                put back: {row.returned}"
        yield f"  {acknowledged(report):,} acknowledged records were read back"
    yield ""
    yield from (f"  {limit}" for limit in limits(report))
    yield ""
    yield f"  {versions(report)}; {digests(report)}; seed {report.seed}"
    yield f"  again: {report.command}"


def unsuited_markdown(host: str, why: str) -> str:
    """A line for a comment in the place of the report of a layout that cannot be rehearsed."""
    return f"**{cell(host)}: not rehearsed**: {cell(why)}\n"


def rehearsal_markdown(report: Report) -> str:
    """The report for a comment: a table of cases."""
    lines = [f"**{cell(headline(report))}**", ""]
    if report.tried:
        lines += ["| | case | predicted | observed | put back |", "| --- | --- | --- | --- | --- |"]
        lines += [
            f"| {'✓' if row.good else '✗'} | {cell(row.case)} | {cell(row.predicted)} | {cell(row.observed)} | {cell(row.returned)} |"
            for row in rows(report)
        ]
        lines.append("")
    for stage in report.stages:
        verdict = "passed" if stage.passed else "**failed**"
        lines.append(f"- {duration(stage.began)}: {stage.name}: {verdict}, {duration(stage.seconds)}")
        if said := stage.detail.splitlines()[-DETAIL:]:
            lines.append(f"  > {'<br>'.join(map(cell, said))}")
    lines += [
        "",
        *(f"> {cell(limit)}" for limit in limits(report)),
        "",
        f"{cell(versions(report))}; {digests(report)}; seed {report.seed}; again: {prose(report.command)}",
    ]
    return "\n".join(lines) + "\n"
