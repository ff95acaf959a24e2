"""`raidplan rehearse LAYOUT`: the layout on a virtual twin of its machine, applied, booted, its parts pulled one by one."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path
from secrets import randbelow

from raidplan.cli import FINDINGS, OK, UNABLE, VOID
from raidplan.cli.output import Unable, emit, talk, talk_findings
from raidplan.cli.stopping import stopped_by_signals
from raidplan.plan.step import Plan
from raidplan.render.rehearsal.json import rehearsal_json
from raidplan.render.rehearsal.text import rehearsal_markdown, rehearsal_text
from raidplan.review.pipeline import load, plan
from raidplan.twin.loops import TooSmall
from raidplan.twin.rehearsal.cases import NoSuchPart
from raidplan.twin.rehearsal.change import rehearse_change
from raidplan.twin.rehearsal.host import Lacking, accelerator, check_host, image_in
from raidplan.twin.rehearsal.measure import rehearse_rates
from raidplan.twin.rehearsal.report import Report
from raidplan.twin.rehearsal.run import rehearse
from raidplan.twin.rehearsal.stages import Wish
from raidplan.twin.rehearsal.subject import Subject, Unsuited, subject_of

FORMS = {"text": rehearsal_text, "json": rehearsal_json, "markdown": rehearsal_markdown}


def run(arguments: argparse.Namespace) -> int:
    """Rehearses and prints the report. Raises Unable where a program, memory or a suitable layout is missing."""
    files = [*([arguments.before] if arguments.before else []), arguments.layout]
    loaded = [load(file) for file in files]
    for each in loaded:
        talk_findings(each, arguments)
    topologies = [each.topology for each in loaded if each.topology is not None]
    if len(topologies) < len(files):
        return UNABLE
    try:
        subjects = [subject_of(topology, arguments.scale) for topology in topologies]
    except (Unsuited, TooSmall) as error:
        raise Unable(str(error)) from None
    write = _writer(arguments.format)
    report = _rehearsed(subjects, arguments)
    emit(write(report), arguments.output)
    if report.void:
        return VOID
    return OK if report.as_predicted else FINDINGS


def _rehearsed(subjects: list[Subject], arguments: argparse.Namespace) -> Report:
    plans = [_planned(subject) for subject in subjects]
    subject, seed = subjects[-1], randbelow(10**6) if arguments.seed is None else arguments.seed
    report = Report(subject.host, plans[-1].layout_digest, seed, _again(arguments, seed), subject.differences)
    folder = arguments.keep and Path(arguments.keep)
    elsewhere = arguments.image and Path(arguments.image)
    try:
        for each in subjects:
            check_host(each, elsewhere, folder)
        wish = Wish(
            arguments.faults, arguments.pairs, seed, arguments.suite, folder, accelerator(),
            image_in(elsewhere) if elsewhere else None, arguments.shell,
        )  # fmt: skip
        with stopped_by_signals():
            if arguments.before:
                return rehearse_change((subjects[0], subject), (plans[0], plans[1]), report, wish, talk)
            work = rehearse_rates if arguments.measure else rehearse
            return work(subject, plans[0], report, wish, talk)
    except (NoSuchPart, Lacking) as error:
        raise Unable(str(error)) from None


def _again(arguments: argparse.Namespace, seed: int) -> str:
    """The command that repeats it."""
    words = [*(["--from", arguments.before] if arguments.before else []), arguments.layout]
    if arguments.measure:
        words += ["--measure"]
    elif not arguments.before:
        words += ["--faults", arguments.faults, "--pairs", str(arguments.pairs)]
    words += ["--scale", str(arguments.scale), "--seed", str(seed), "--suite", arguments.suite]
    return shlex.join(["raidplan", "rehearse", *words])


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
