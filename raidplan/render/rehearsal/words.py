"""The report in words, as the forms for people share them: nothing is escaped yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.base.words import counted, duration, listed
from raidplan.estimate.survival import Outcome
from raidplan.twin.rehearsal.cases import Case, Fault
from raidplan.twin.rehearsal.observed import Observation, name_of
from raidplan.twin.rehearsal.report import Claim, Report, Tried

OUTCOMES = {
    Outcome.INTACT: "goes on",
    Outcome.DEGRADED: "goes on, degraded",
    Outcome.READ_ONLY: "takes no writes",
    Outcome.LOST: "stops",
}
CASES = {
    Fault.PULLED: "{kind} {name}",
    Fault.REPLACED: "{kind} {name}, replaced by a blank one",
    Fault.ABSENT: "boot without {kind} {name}",
    Fault.BLANK: "boot with {kind} {name} blank",
    Fault.STALE: "boot with {kind} {name} stale",
    Fault.MOVED: "boot with all disks in other places",
    Fault.POWER: "power cut while everything writes",
    Fault.CHANGED: "{name}: other {kind} on a member, without an error",
    Fault.UNREADABLE: "{name}: unreadable sector under {kind}",
    Fault.SLOW: "{kind} {name}, slow",
    Fault.RATES: "rates of the {kind} {name}",
    Fault.NONE: "{name}",
    Fault.KILLED: "{kind} killed in {name}",
    Fault.CUT: "power cut during {kind}, in {name}",
}
CLAIMS = {
    "mismatches": "mismatches that a scrub counts",
    "mismatches after repair": "mismatches after a repair",
    "sector after the scrub": "after the scrub the sector is",
    "corrected": "sectors that a scrub corrects",
    "members out": "members that the array gives up",
    "reader": "a reader gets data that are",
    "reader after repair": "after a repair a reader gets data that are",
    "limps": "half of its reads take",
    "moved": "disks in other places than before",
    "went on without it": "arrays that were written to without it",
    "unflushed writes lost": "writes lost that were not flushed",
    "place": "the place of a file on the members",
    "apply": "the next apply",
    "interrupted": "the apply is interrupted",
    "written": "records that were written meanwhile",
    "records": "records that read back",
    "read alone": "read alone",
    "write alone": "written alone",
    "read together": "read with all others",
    "rebuild": "a member rebuilt",
    "at half the limits": "read at half the limits",
    "damage": "a record that was written over",
}
NOT_TRIED = (
    "The firmware of real controllers and multipliers, and seek times of disks, are not in the twin. Its kernel is Debian's for virtual "
    "machines, and its initramfs has the modules for this one."
)
NOT_TOGETHER = (
    "Arrays were written and rebuilt each alone: what they can do together was measured of reading."
)
NOT_MEASURED = "Nothing was measured: --measure does that, on a machine of its own."


@dataclass(frozen=True, slots=True)
class Row:
    """One case: what was pulled, the things that it touched, predicted and observed."""

    case: str
    predicted: str
    observed: str
    returned: str
    seconds: str
    good: bool
    began: str
    """The time since the start of the rehearsal."""


def headline(report: Report) -> str:
    """The verdict in one sentence."""
    if report.stopped:
        failed = next(stage for stage in report.stages if not stage.passed)
        return f"{report.host}: the rehearsal stopped at the stage {failed.name}"
    if report.void:
        why = (
            "the control did not fail"
            if report.control
            else "there is nothing that a loss would stop, so no control"
        )
        return f"{report.host}: void: {why}, so nothing shows that a failure would have been seen"
    if not report.played:
        return f"{report.host}: applied and booted; no fault was tried, so nothing was predicted"
    whole, true = report.predictions
    held = (
        f"{true} of {whole} predictions were observed, in {counted(len(report.tried), 'case')} and a control"
    )
    otherwise = [tried for tried in report.played if not tried.as_predicted]
    if not otherwise:
        return f"{report.host}: {held}"
    mounts = [*dict.fromkeys(mount for tried in otherwise for mount in tried.lost)]
    lost = f", acknowledged data was lost on {listed(mounts, most=8)}" if mounts else ""
    return f"{report.host}: {counted(len(otherwise), 'case')} went otherwise than predicted{lost}; {held}"


def case_words(case: Case) -> str:
    """The fault of a case, and of what."""
    return CASES[case.fault].format(kind=case.kind, name=case.name)


def measured(tried: Tried) -> str:
    """The times that a case took, where it took some: `longest request 0.02 s`."""
    shown = ", ".join(f"{what} {seconds:.2f} s" for what, seconds in tried.measured.items())
    return f"a read of 4 KiB: {shown}" if shown and tried.case.fault is Fault.RATES else shown


def way_back(tried: Tried) -> str:
    """How the disks came back, or what failed and what was said of it."""
    return "; ".join(filter(None, (tried.returned, tried.explanation)))


def rows(report: Report) -> list[Row]:
    """A row for each case, and for the control."""
    return [row(tried) for tried in report.played]


def row(tried: Tried) -> Row:
    """One case."""
    touched = [one for one in tried.observed if one.predicted is not Outcome.INTACT or not one.as_predicted]
    predicted = [f"{name_of(one.thing)} {OUTCOMES[one.predicted]}" for one in touched]
    predicted += [f"{name_of(thing)} not predicted" for thing in tried.case.unpredicted]
    predicted += [f"{CLAIMS[one.what]}: {one.predicted}" for one in tried.claims]
    seen = [_seen(one) for one in tried.claims if one.as_predicted]
    return Row(
        case_words(tried.case),
        "; ".join(predicted) or "nothing changes",
        "; ".join([*observed_words(tried), *seen, *filter(None, [measured(tried)])]) or "as predicted",
        way_back(tried),
        duration(tried.seconds),
        tried.as_predicted,
        duration(tried.began),
    )


def _seen(claim: Claim) -> str:
    return f"{CLAIMS[claim.what]}: {claim.observed}{'' if claim.counts else ' (not counted)'}"


def observed_words(tried: Tried) -> Iterator[str]:
    """Each thing of a case that went otherwise than predicted, with the kernel's words."""
    for one in tried.observed:
        if not one.as_predicted:
            yield f"{name_of(one.thing)} {'goes on' if one.survived else 'stops'}: {_detail(one)}"
    for claim in tried.claims:
        if not claim.as_predicted:
            yield f"{name_of(claim.thing)}: {CLAIMS[claim.what]}: {claim.observed}"
    for mount in tried.lost:
        yield f"acknowledged data was lost on {mount}"


def _detail(one: Observation) -> str:
    known = [_fact(key, value) for key, value in one.detail.items() if value not in ("", [], {})]
    return listed(known, most=8)


def _fact(key: str, value: object) -> str:
    """One thing that the witness says: `not mounted`, `degraded 1`, `records 3, 7 of 64 do not read back`."""
    match value:
        case bool():
            return key if value else f"not {key}"
        case {"acknowledged": count, "damaged": []}:
            return f"{count} records read back"
        case {"acknowledged": count, "damaged": [*numbers]}:
            return f"records {listed([*map(str, numbers)], most=8)} of {count} do not read back"
        case {**known}:
            return f"{key} {', '.join(f'{name} {each}' for name, each in known.items())}"
    return f"{key} {value}"


def acknowledged(report: Report) -> int:
    """The acknowledged records that were read back in all cases."""
    return sum(tried.acknowledged for tried in report.tried)


def limits(report: Report) -> list[str]:
    """The differences between the twin and the server, and what was not tried."""
    return [*map(_as_sentence, report.differences), *report.untried, NOT_TRIED, *_of_rates(report)]


def _as_sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _of_rates(report: Report) -> Iterator[str]:
    """The rates that were not measured; of a rehearsal that stopped before it tried anything that goes without saying."""
    if any(tried.case.fault is Fault.RATES for tried in report.tried):
        yield NOT_TOGETHER
    elif report.tried or not report.stopped:
        yield NOT_MEASURED


def versions(report: Report) -> str:
    """`kernel 6.1.0, mdadm - v4.2, Debian 12.5`."""
    return ", ".join(f"{name} {value}" for name, value in report.versions.items())


def digests(report: Report) -> str:
    """`layout sha256:…`, of a change with that of the old one."""
    old = f", from {report.old_layout_digest}" if report.old_layout_digest else ""
    return f"layout {report.layout_digest}{old}"
