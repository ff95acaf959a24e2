"""`raidplan rehearse LAYOUT`: the layout on a virtual twin of its machine, applied, booted, its parts pulled one by one."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from secrets import randbelow

from raidplan.cli import FINDINGS, OK, UNABLE, VOID
from raidplan.cli.output import Unable, emit, talk, talk_findings
from raidplan.plan import Plan
from raidplan.render.rehearsal.json import rehearsal_json
from raidplan.render.rehearsal.text import rehearsal_markdown, rehearsal_text
from raidplan.review.pipeline import load, plan
from raidplan.twin.loops import TooSmall
from raidplan.twin.rehearsal.cases import NoSuchPart
from raidplan.twin.rehearsal.report import Report
from raidplan.twin.rehearsal.run import Wish, rehearse
from raidplan.twin.rehearsal.subject import Subject, Unsuited, subject_of

NEEDS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh": "openssh-client",
}
"""Programs that a rehearsal runs, and Debian's packages of them."""
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
    _present(subject)
    seed = arguments.seed if arguments.seed is not None else randbelow(10**6)
    wish = Wish(
        arguments.faults, arguments.pairs, seed, arguments.suite, arguments.keep and Path(arguments.keep)
    )
    again = f"raidplan rehearse {arguments.layout} --faults {wish.faults} --pairs {wish.pairs} --scale {arguments.scale} --seed {seed} --suite {wish.suite}"
    report = Report(subject.host, planned.layout_digest, seed, again, subject.differences)
    try:
        report = rehearse(subject, planned, report, wish, talk)
    except NoSuchPart as error:
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


def _present(subject: Subject) -> None:
    """Raises Unable with the packages to install, or the memory that is missing."""
    missing = [
        package
        for program, package in NEEDS.items()
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin")
    ]
    if missing:
        raise Unable(
            f"a rehearsal needs programs that are not installed: apt-get install {' '.join(missing)}"
        )
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable"))
    if free < subject.memory_mib:
        raise Unable(
            f"the twin needs {subject.memory_mib} MiB of memory (its stripe caches are the layout's), and {free} MiB are free here: "
            "rehearse on another machine, or with a smaller stripe_cache_size"
        )
