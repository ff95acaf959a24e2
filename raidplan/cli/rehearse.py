"""`raidplan rehearse LAYOUT`: the layout on a virtual twin of its machine, applied, booted, its parts pulled one by one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from secrets import randbelow

from raidplan.cli import FINDINGS, OK, UNABLE, VOID
from raidplan.cli.output import Unable, emit, talk, talk_findings
from raidplan.cli.stopping import stopped_by_signals
from raidplan.plan import Plan
from raidplan.render.rehearsal.json import rehearsal_json
from raidplan.render.rehearsal.text import rehearsal_markdown, rehearsal_text
from raidplan.review.pipeline import load, plan
from raidplan.twin.loops import TooSmall
from raidplan.twin.rehearsal.cases import NoSuchPart
from raidplan.twin.rehearsal.host import Lacking, accelerator, check_host, image_in
from raidplan.twin.rehearsal.report import Report
from raidplan.twin.rehearsal.run import Wish, rehearse
from raidplan.twin.rehearsal.subject import Subject, Unsuited, subject_of

FORMS = {"text": rehearsal_text, "json": rehearsal_json, "markdown": rehearsal_markdown}


def run(arguments: argparse.Namespace) -> int:
    """Rehearses and prints the report. Raises Unable where a program, memory or a suitable layout is missing."""
    loaded = load(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.topology is None:
        return UNABLE
    try:
        subject = subject_of(loaded.topology, arguments.scale)
    except (Unsuited, TooSmall) as error:
        raise Unable(str(error)) from None
    write = _writer(arguments.format)
    planned = _planned(subject)
    seed = arguments.seed if arguments.seed is not None else randbelow(10**6)
    folder = arguments.keep and Path(arguments.keep)
    elsewhere = arguments.image and Path(arguments.image)
    again = f"raidplan rehearse {arguments.layout} --faults {arguments.faults} --pairs {arguments.pairs} --scale {arguments.scale} --seed {seed} --suite {arguments.suite}"
    report = Report(subject.host, planned.layout_digest, seed, again, subject.differences)
    try:
        check_host(subject, elsewhere, folder)
        wish = Wish(
            arguments.faults, arguments.pairs, seed, arguments.suite, folder, accelerator(),
            image_in(elsewhere) if elsewhere else None, arguments.shell,
        )  # fmt: skip
        with stopped_by_signals():
            report = rehearse(subject, planned, report, wish, talk)
    except (NoSuchPart, Lacking) as error:
        raise Unable(str(error)) from None
    emit(write(report), arguments.output)
    if report.void:
        return VOID
    return OK if report.as_predicted else FINDINGS


def _writer(form: str) -> Callable[[Report], str]:
    """The function that writes a form; a library that it lacks is missed before anything is started."""
    if form == "html":
        from raidplan.render.rehearsal.page import rehearsal_page

        return rehearsal_page
    return FORMS[form]


def _planned(subject: Subject) -> Plan:
    """The plan of the twin's own layout."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "twin.yaml"
        file.write_text(subject.text)
        made, loaded = plan(load(str(file)))
    if made is None:
        raise Unable(f"the twin's layout has an error: {loaded.findings[0].finding.message}")
    return made
