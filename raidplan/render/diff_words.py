"""A diff in words, as the forms for people share them: sections of rows, nothing escaped yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidplan.base.findings import dotted
from raidplan.base.groups import by_key, groups_by
from raidplan.base.size import drive_size, human, human_beside, parse_size
from raidplan.base.words import counted, duration, listed
from raidplan.diff import Change, Diff, Fate, Figure, LostData, Shrink, Thing, Tolerance
from raidplan.plan.step import Plan
from raidplan.render.diff_names import (
    MEASURES,
    NOUNS,
    called,
    described,
    kind_of,
    lost_kind,
    lost_name,
    name_of,
    noun_of,
)
from raidplan.render.estimate_words import mb
from raidplan.render.folded import groups
from raidplan.render.plan_text import action_lines
from raidplan.render.statements import cause_text, statement_text, statement_texts, values
from raidplan.review.located import Accepted, Located

NAMES = 8
"""The most names that are written out."""
NOT_KNOWN = "not known"
MARKS = {
    "created": "+", "destroyed": "-", "re-created": "-/+", "reshaped": "~", "changed": "~", "renamed": "~", "exchanged": "-/+",
    "no longer described": "-",
}  # fmt: skip
STYLES = {"+": "good", "-": "destroy", "-/+": "destroy", "~": "change", ">": "faint", "=": "faint"}
"""The style of each mark."""
SHRUNK = {
    "filesystems": "what does not fit has to be moved away before; the file system is made smaller first, then its device",
    "volume_groups": "there is less in it for volumes, for snapshots and for growth",
}
LEGEND = "+ create   ~ change   - destroy   -/+ replace   > run a program   = a figure"
MACHINE_WORDS = {"created": "added", "destroyed": "removed"}
"""The words for hardware, which is plugged in, not made."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One statement, with what there is to say beside it."""

    mark: str
    text: str
    details: tuple[str, ...] = ()
    worse: bool | None = None
    """Whether the statement is bad news or good, where the mark alone does not tell."""

    @property
    def style(self) -> str:
        """The style of the mark."""
        return STYLES[self.mark] if self.worse is None else STYLES["-" if self.worse else "+"]


@dataclass(frozen=True, slots=True)
class Section:
    """Statements of one kind."""

    title: str
    rows: tuple[DiffLine, ...]


def sections(diff: Diff) -> Iterator[Section]:
    """Everything, the gravest first; sections that say nothing are left out."""
    parts = {
        f"destroyed: {counted(len(diff.losses), 'thing')} with data": _losses(diff.losses),
        f"smaller: {_counted(diff.shrinks)}": _shrinks(diff.shrinks),
        "storage": _things([t for t in diff.things if t.path[0] != "hardware"]),
        "machine": _things([t for t in diff.things if t.path[0] == "hardware"]),
        "fault tolerance": _tolerances(diff.tolerance),
        "before and after": _figures(diff.figures),
        "plan of the change": plan_rows(diff.plan) if diff.plan and diff.things else (),
        "findings": (
            *_findings("new", diff.found),
            *_accepted(diff.accepted),
            *_findings("gone", diff.resolved),
        ),
    }
    for title, rows in parts.items():
        found = tuple(rows)
        if found:
            yield Section(title, found)


def title(diff: Diff) -> str:
    """The host of the diff."""
    old, new = diff.hosts
    if diff.forgotten:
        return f"the layout of {old} is gone"
    return f"changes of {new}" if old == new else f"changes from {old} to {new}"


def summary(diff: Diff, *, allowed: bool = False) -> str:
    """The last line."""
    if diff.loses:
        end = "allowed by --allow-destroy" if allowed else "--allow-destroy says that this is meant"
        return f"{'; '.join(_headline(diff))}: {end}"
    if diff.forgotten:
        return "nothing is destroyed by that: what the layout provisioned stays on the machine, and is no longer described"
    return "nothing differs" if diff.empty else "no data would be destroyed"


def _headline(diff: Diff) -> Iterator[str]:
    if diff.losses:
        known = [loss.capacity for loss in diff.losses if loss.capacity is not None]
        room = f", {drive_size(sum(known))}" if known else ""
        yield f"{counted(len(diff.losses), 'thing')} with data would be destroyed{room}"
    if diff.shrinks:
        smaller = [f"{name_of(each)} {_sizes(each)}" for each in diff.shrinks]
        none = "" if diff.losses else "no data would be destroyed, but "
        yield f"{none}capacity would be lost on {_counted(diff.shrinks)}, {names(smaller)}"


def _counted(shrinks: Sequence[Shrink]) -> str:
    """`2 file systems and 1 volume group`."""
    kinds = Counter(NOUNS[str(each.path[0])] for each in shrinks)
    return listed([counted(count, kind) for kind, count in kinds.items()], last=" and ")


def _sizes(shrink: Shrink) -> str:
    """`500 GB -> 300 GB`."""
    before, after = (
        NOT_KNOWN if size is None else drive_size(size) for size in (shrink.before, shrink.after)
    )
    return f"{before} -> {after}"


def _shrinks(shrinks: Sequence[Shrink]) -> Iterator[DiffLine]:
    for each in shrinks:
        yield DiffLine(
            "-",
            f"{name_of(each)} gets smaller: {_sizes(each)} on {', '.join(each.devices)}",
            (SHRUNK[str(each.path[0])],),
        )


def plan_rows(plan: Plan) -> Iterator[DiffLine]:
    """The steps of a change; those that are alike as one."""
    if not plan.steps:
        yield DiffLine(
            "=",
            "no step: what stands needs none, and what is changed in place has its command beside the change",
        )
    for group in groups(plan):
        first, *_ = action_lines(group.steps[0])
        such = "such as " if len(group.steps) > 1 else ""
        yield DiffLine(group.symbol, f"{group.count}{group.says}", (f"{such}{first}",))


def _losses(losses: Sequence[LostData]) -> Iterator[DiffLine]:
    for loss in losses:
        room = drive_size(loss.capacity) if loss.capacity is not None else "a size that is not stated"
        where = loss.device if loss.disks == (loss.device,) else f"{loss.device} ({_on(loss.disks)})"
        hint = (f"hint: {statement_text(loss.hint)}",) if loss.hint else ()
        details = (f"{lost_kind(loss)}; {cause_text(loss.because)}", *hint)
        yield DiffLine("-", f"{lost_name(loss)} is destroyed: {room} on {where}", details)


def _on(disks: Sequence[str]) -> str:
    return f"{counted(len(disks), 'disk')}: {names(disks)}" if disks else "no known disk"


def _things(things: Sequence[Thing]) -> Iterator[DiffLine]:
    for group in groups_by(
        things, lambda t: (t.path[:-1], t.fate, kind_of(t), _written(t.changes), bool(t.was), t.note)
    ):
        first = group[0]
        fate = first.fate.value
        if first.path[0] == "hardware" and len(first.path) > 1:
            fate = MACHINE_WORDS.get(fate, fate)
        what = kind_of(first) if len(group) > 1 else described(first)
        noun, whose = noun_of(first), names([called(t) for t in group])
        beside = f", {what}" if what and what not in (noun, "supply") else ""
        whole = f"{noun} {whose}" if noun else whose
        yield DiffLine(MARKS[first.fate.value], f"{fate}: {whole}{beside}", _details(first))


def _written(changes: Sequence[Change]) -> tuple[object, ...]:
    """Changes as they are told, by which things are alike."""
    return tuple((each.key, *values(each), each.how) for each in changes)


def _details(thing: Thing) -> tuple[str, ...]:
    """The changes of which the values differ as they are written (`rest` of another disk has rows of its own), and the note."""
    changes = (_change(each, thing.fate) for each in thing.changes)
    note = (statement_text(thing.note),) if thing.note else ()
    return (*filter(None, changes), *note)


_COUNT = re.compile(r"\d{5,}[KMG]?i?B")


def _change(change: Change, fate: Fate) -> str:
    written = values(change)
    if written[0] == written[1]:
        return ""
    old, new = (human(parse_size(v)) if _COUNT.fullmatch(v) else v for v in written)
    if old == new:
        old, new = written
    text = f"{change.key}: {old or 'not set'} -> {new or 'not set'}"
    if change.how is None:
        return f"{text} (cannot be changed in place)"
    if fate is Fate.RECREATED:
        return text  # it is made anew, whatever could change this property alone
    done = "" if change.how.command == "none" else f"by {change.how.command}"
    note = ", ".join(part for part in (done, statement_texts(change.how.notes)) if part)
    return f"{text} ({note})" if note else text


def _tolerances(all_: Sequence[Tolerance]) -> Iterator[DiffLine]:
    for group in groups_by(all_, lambda t: (t.lost, t.gained, t.always)):
        whose, first = names([name_of(t) for t in group]), group[0]
        many = len(group) > 1
        if first.lost:
            yield DiffLine(
                "-", f"{whose} no longer survive{'' if many else 's'} the loss of {_components(first.lost)}"
            )
        if first.gained:
            yield DiffLine(
                "+", f"{whose} now survive{'' if many else 's'} the loss of {_components(first.gained)}"
            )
        before, after = first.always
        if before != after:
            better = after is not None and (before is None or after > before)
            yield DiffLine("+" if better else "-", f"{whose}: {_always(before)} -> {_always(after)}")


def _components(components: Sequence[tuple[str, str]]) -> str:
    """`multiplier pm0, pm1; disk d00`."""
    kinds = by_key(components)
    return "; ".join(f"{kind} {listed(which, most=NAMES, last=' or ')}" for kind, which in kinds.items())


def _always(losses: int | None) -> str:
    match losses:
        case None:
            return "not known what it survives"
        case 0:
            return "does not survive the loss of a disk"
        case 3:
            return "survives the loss of any 3 disks or more"
        case _:
            return f"survives the loss of any {counted(losses, 'disk')}"


def _figures(figures: Sequence[Figure]) -> Iterator[DiffLine]:
    for group in groups_by(figures, lambda f: (f.what, f.unit, f.before, f.after)):
        first = group[0]
        before, after = amount(first.before, first.unit), amount(first.after, first.unit)
        if first.unit == "bytes" and first.before is not None and first.after is not None:
            after = human_beside(int(first.after), int(first.before))
        if before != after:
            yield DiffLine(
                "=", f"{names([name_of(each) for each in group])}: {MEASURES[first.what]} {before} -> {after}"
            )


def amount(value: float | None, unit: str) -> str:
    """A figure with its unit."""
    if value is None:
        return NOT_KNOWN
    match unit:
        case "bytes":
            return human(int(value))
        case "bytes/s":
            return f"{mb(value)} MB/s"
        case "seconds":
            return duration(value)
        case "watts":
            return f"{value:.0f} W"
        case _:
            return f"{value:,.0f}"


def _findings(word: str, findings: Sequence[Located]) -> Iterator[DiffLine]:
    """One row for each rule: what it says of the first thing, and which other things it says the like of."""
    for group in groups_by(findings, lambda item: (item.finding.severity, item.finding.rule)):
        finding = group[0].finding
        others = [dotted(item.finding.path) for item in group[1:]]
        at = f" at {dotted(finding.path)}" if finding.path else ""
        details = [f"also at {names(others)}"] if others else []
        details += [f"hint: {finding.hint}"] if word == "new" and finding.hint else []
        head = f"{word}: {finding.severity.value}[{finding.rule}]"
        new = word == "new"
        yield DiffLine("+" if new else "-", f"{head}{at}: {finding.message}", tuple(details), worse=new)


def _accepted(all_: Sequence[Accepted]) -> Iterator[DiffLine]:
    """One row for each rule and reason: the reason is what there is to review."""
    for group in groups_by(all_, lambda each: (each.located.finding.rule, each.reason, each.until)):
        finding, others = group[0].located.finding, [dotted(each.located.finding.path) for each in group[1:]]
        until = f" until {group[0].until}" if group[0].until else ""
        details = [f"also at {names(others)}"] if others else []
        yield DiffLine(
            "~",
            f"accepted: {finding.severity.value}[{finding.rule}] at {dotted(finding.path)}: {finding.message}",
            (*details, f"accepted{until}: {group[0].reason}"),
        )


def names(words: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return listed(words, most=NAMES)
