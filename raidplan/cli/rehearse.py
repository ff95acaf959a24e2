"""`raidplan rehearse LAYOUT`: the layout on a virtual twin of its machine, applied, booted, its parts pulled one by one."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path
from secrets import randbelow

from raidplan.cli import FINDINGS, OK, UNABLE, VOID
from raidplan.cli.output import Unable, emit, talk, talk_findings, try_place
from raidplan.cli.stopping import stop_on_signals
from raidplan.plan.digest import digest
from raidplan.render.rehearsal.json import rehearsal_json
from raidplan.render.rehearsal.text import rehearsal_markdown, rehearsal_text, unsuited_markdown
from raidplan.review.pipeline import Loaded, load
from raidplan.twin.loops import TooSmall
from raidplan.twin.rehearsal.change import rehearse_change
from raidplan.twin.rehearsal.choices import NoSuchPart
from raidplan.twin.rehearsal.host import Lacking, accelerator, check_host, image_in
from raidplan.twin.rehearsal.kept import subjects_of
from raidplan.twin.rehearsal.measure import rehearse_rates
from raidplan.twin.rehearsal.report import Report
from raidplan.twin.rehearsal.run import rehearse
from raidplan.twin.rehearsal.stages import Wish
from raidplan.twin.rehearsal.subject import Subject, Unsuited, plan_of, subject_of

PAIRS = 6
FORMS = {"text": rehearsal_text, "json": rehearsal_json, "markdown": rehearsal_markdown}


def run(arguments: argparse.Namespace) -> int:
    """Rehearses and prints the report. Raises Unable where a program, memory or a valid layout is missing."""
    with stop_on_signals():
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    _refuse_unused(arguments)
    files = [*([arguments.before] if arguments.before else []), arguments.layout]
    try_place(arguments.output)
    loaded = [load(file) for file in files]
    for each in loaded:
        talk_findings(each, arguments)
    topologies = [each.topology for each in loaded if each.topology is not None]
    if len(topologies) < len(files):
        return UNABLE
    try:
        subjects = (
            [*subjects_of(topologies[0], topologies[1], arguments.scale)]
            if arguments.before
            else [subject_of(topologies[0], arguments.scale)]
        )
        write = _writer(arguments.format)
        report = _rehearse(subjects, [_digest(each) for each in loaded], arguments)
    except TooSmall as error:
        raise Unable(str(error)) from None
    except Unsuited as error:
        return _report_unsuited(topologies[-1].host, str(error), arguments)
    try:
        emit(write(report), arguments.output)
    except Unable:
        talk(rehearsal_text(report))  # it took hours
        raise
    if report.void:
        return VOID
    return FINDINGS if report.as_predicted is False else OK


def _refuse_unused(arguments: argparse.Namespace) -> None:
    """Raises Unable for options that exclude each other, since an option without effect would mislead."""
    if arguments.before and arguments.measure:
        raise Unable("--from rehearses a change, and --measure measures rates: one of them at a time")
    if kind := "--from" if arguments.before else "--measure" if arguments.measure else "":
        for option, given in (("--faults", arguments.faults), ("--pairs", arguments.pairs), ("--shell", arguments.shell or None)):  # fmt: skip
            if given is not None:
                raise Unable(f"{option} has no effect beside {kind}: leave it out")


def _digest(loaded: Loaded) -> str:
    """The digest of a layout, as in its plan; also if the rules allow no plan of it."""
    assert loaded.document is not None
    return digest(loaded.document.root.plain())


def _rehearse(subjects: list[Subject], digests: list[str], arguments: argparse.Namespace) -> Report:
    subject, seed = subjects[-1], randbelow(10**6) if arguments.seed is None else arguments.seed
    old = () if len(subjects) == 1 else subjects[0].differences
    differences = *subject.differences, *(f"of the old layout: {each}" for each in old if each not in subject.differences)  # fmt: skip
    report = Report(
        subject.host, digests[-1], seed, _again(arguments, seed), differences,
        old_layout_digest=digests[0] if arguments.before else "",
    )  # fmt: skip
    folder, elsewhere, logs = (Path(each) if each else None for each in (arguments.keep, arguments.image, arguments.logs))  # fmt: skip
    try:
        plans = [plan_of(each) for each in subjects]
        for each in subjects:
            check_host(each, elsewhere, folder, logs)
        wish = Wish(
            _faults(arguments), _pairs(arguments), seed, arguments.suite, folder, accelerator(),
            image_in(elsewhere) if elsewhere else None, logs, arguments.shell,
        )  # fmt: skip
        if arguments.before:
            return rehearse_change((subjects[0], subject), (plans[0], plans[1]), report, wish, talk)
        work = rehearse_rates if arguments.measure else rehearse
        return work(subject, plans[0], report, wish, talk)
    except (NoSuchPart, Lacking) as error:
        raise Unable(str(error)) from None


def _report_unsuited(host: str, why: str, arguments: argparse.Namespace) -> int:
    """Says why a layout is not rehearsed; in a comment that stands in the place of the report, by which ci/review knows this case."""
    talk(f"raidplan: {why}")
    if arguments.format == "markdown":
        emit(unsuited_markdown(host, why), arguments.output)
    return UNABLE


def _again(arguments: argparse.Namespace, seed: int) -> str:
    """The command that repeats it."""
    words = [*(["--from", arguments.before] if arguments.before else []), arguments.layout]
    if arguments.measure:
        words += ["--measure"]
    elif not arguments.before:
        words += ["--faults", _faults(arguments), "--pairs", str(_pairs(arguments))]
    words += ["--scale", str(arguments.scale), "--seed", str(seed)]
    words += ["--image", arguments.image] if arguments.image else ["--suite", arguments.suite]
    return shlex.join(["raidplan", "rehearse", *words])


def _faults(arguments: argparse.Namespace) -> str:
    return "all" if arguments.faults is None else str(arguments.faults)


def _pairs(arguments: argparse.Namespace) -> int:
    return PAIRS if arguments.pairs is None else int(arguments.pairs)


def _writer(form: str) -> Callable[[Report], str]:
    """The function that writes a form; a library that it lacks is missed before anything is started."""
    if form == "html":
        from raidplan.render.rehearsal.page import rehearsal_page

        return rehearsal_page
    return FORMS[form]
