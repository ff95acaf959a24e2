"""The records of a journal, summed up one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from raidplan.apply.journal.past import Past, seconds
from raidplan.plan.loss import Loss, loss_from_row
from raidplan.plan.origin import Kind, Origin, origin_of_id


def past_of(records: Iterable[Mapping[str, Any]]) -> Past:
    """The records summed up."""
    total = _Sum()
    for record in records:
        total.add(record)
    return total.past()


def _texts(record: Mapping[str, Any], name: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in dict(record.get(name, {})).items()}


def _origin(record: Mapping[str, Any]) -> Origin:
    """The origin in a record; for an earlier record, or a step of a layout, the one that its id tells."""
    kind, step = str(record.get("origin", "")), str(record.get("for", ""))
    return (
        Origin(cast(Kind, kind), step)
        if kind in get_args(Kind)
        else origin_of_id(str(record.get("step", "")))
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """The last run, as an undo needs to know it."""

    begun: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)
    final: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    undoing: bool = False
    restored: frozenset[str] = frozenset()

    def after(self, record: Mapping[str, Any], *, begins: bool) -> _Run:
        """The run with one more record; `begins`: no run was open before it."""
        step, made = str(record.get("step", "")), str(record.get("made", ""))
        match record.get("kind"):
            case "open" if begins:
                return _Run()
            case "intent" if step not in self.begun:
                return replace(self, begun=(*self.begun, step))
            case "ended" if made:
                return replace(self, made=self.made | {made})
            case "copied":
                copies = {**self.copies, **_texts(record, "copies")}
                return replace(
                    self, copies=copies, final=self.final | {str(s) for s in record.get("final", [])}
                )
            case "undoing":
                return replace(self, undoing=True)
            case "restored":
                return replace(self, restored=self.restored | {str(record.get("disk", ""))})
        return self


@dataclass(slots=True)
class _Sum:
    """The sum of the records so far; what a field has no word for here, `Past` has."""

    made: set[str] = field(default_factory=set)
    made_at: dict[str, str] = field(default_factory=dict)
    made_in: dict[str, int] = field(default_factory=dict)
    changed_in: dict[str, int] = field(default_factory=dict)
    standing: dict[str, tuple[str, Mapping[str, str], Mapping[str, str]]] = field(default_factory=dict)
    """The object that each step made, the fingerprints of the step, and those of the disks below; by step."""
    finished: dict[str, int] = field(default_factory=dict)
    finished_before: Mapping[str, int] = field(default_factory=dict)
    """The steps that were finished when the last run began."""
    origins: dict[str, Origin] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict)
    """The digest of the plan by which each step was begun; by step, in the order of their beginning."""
    clocks: dict[str, int] = field(default_factory=dict)
    ended: dict[str, None] = field(default_factory=dict)
    """The steps that ended, in that order; the values mean nothing."""
    marks: dict[str, Mapping[str, str]] = field(default_factory=dict)
    disk_marks: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The fingerprints of the disks below each device of a step, by step."""
    listed: dict[str, tuple[Loss, ...]] = field(default_factory=dict)
    sectors: dict[str, str] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    opened: Mapping[str, Any] | None = None
    """The first record of the run that is not closed."""
    plan: str = ""
    boot: str = ""
    clock: int = 0
    """The start of the last run, or of its continuation, in seconds since 1970."""
    last: _Run = field(default_factory=_Run)

    def add(self, record: Mapping[str, Any]) -> None:
        """One more record."""
        kind, step, made = record.get("kind"), str(record.get("step", "")), record.get("made")
        number = int(record.get("number", 0))
        self.last = self.last.after(record, begins=self.opened is None)
        if kind in ("intent", "adopted"):
            self.marks[step], self.disk_marks[step] = _texts(record, "on"), _texts(record, "disks")
        if made:
            self.made.add(str(made))
            self.made_at[str(made)] = str(record.get("time", ""))
            self.made_in[str(made)] = self.changed_in[str(made)] = number
            self.standing[step] = str(made), self.marks.get(step, {}), self.disk_marks.get(step, {})
        match kind:
            case "open":
                self._open(record)
            case "intent":
                self._begin(step, record)
            case "ended" | "adopted":
                self._end(step, number)
            case "forgotten":
                self._forget(step)
            case "close":
                for each in self.begun:  # cut off behind its effect: all was read back and is as planned
                    self._change(each, number)
                self._close()
            case "undone":
                self._close()
                self._take_back()

    def _open(self, record: Mapping[str, Any]) -> None:
        """A run begins, or goes on."""
        if self.opened is None:
            self.finished_before, self.opened = dict(self.finished), record
        self.plan, self.boot = str(record.get("plan", "")), str(record.get("boot", ""))
        self.clock = seconds(str(record.get("time", "")))

    def _begin(self, step: str, record: Mapping[str, Any]) -> None:
        self.begun.pop(step, None)  # the one that was begun last stands last
        self.begun[step], self.clocks[step] = self.plan, self.clock
        self.origins[step] = _origin(record)
        # One that is begun again finds only what the first time left.
        losses = map(loss_from_row, record.get("clears", ()))
        self.listed[step] = tuple(dict.fromkeys((*self.listed.get(step, ()), *losses)))
        self.sectors[step] = str(record.get("sectors", ""))
        self.erased |= {step} if record.get("erased") is True else set()
        self.ended.pop(step, None)

    def _end(self, step: str, number: int) -> None:
        self.begun.pop(step, None)
        self.ended[step] = None
        origin = self.origins.get(step) or origin_of_id(step)
        self._change(step, number)
        if origin.kind == "layout":
            self.finished[step] = number
        elif origin.kind == "taken_back":
            self.finished.pop(origin.step, None)

    def _change(self, step: str, number: int) -> None:
        """A step that changed an object in place has ended; a device that it added is one of the object's from now on."""
        origin = self.origins.get(step) or origin_of_id(step)
        if origin.kind == "change" and origin.step in self.standing:
            made, on, below = self.standing[origin.step]
            self.changed_in[made] = number
            self.standing[origin.step] = made, on, {**below, **self.disk_marks.get(step, {})}

    def _forget(self, step: str) -> None:
        """A step that no longer counts, nor does its object, unless the step was begun again since."""
        made, _, _ = self.standing.pop(step, ("", {}, {}))
        if self.begun.pop(step, None) is None:
            self.made.discard(made)
        self.ended.pop(step, None)
        self.finished.pop(step, None)

    def _close(self) -> None:
        self.opened = None
        for each in (
            self.begun,
            self.ended,
            self.marks,
            self.disk_marks,
            self.listed,
            self.sectors,
            self.erased,
        ):
            each.clear()

    def _take_back(self) -> None:
        """The last run was undone."""
        self.made -= self.last.made
        self.standing = {step: found for step, found in self.standing.items() if found[0] in self.made}
        self.finished = dict(self.finished_before)
        self.last = _Run()

    def past(self) -> Past:
        """The sum as a value."""
        known = Past(
            made=frozenset(self.made),
            made_at=self.made_at,
            made_in=self.made_in,
            changed_in=self.changed_in,
            standing={step: on for step, (_, on, _) in self.standing.items()},
            below={step: below for step, (_, _, below) in self.standing.items()},
            plan_digest=self.plan,
            run=self.last.begun,
            copies=self.last.copies,
            final=self.last.final,
            undoing=self.last.undoing,
            restored=self.last.restored,
            marks=self.marks,
            finished=self.finished,
            origins=self.origins,
        )
        if self.opened is None:
            return known
        return replace(
            known,
            is_open=True,
            boot=self.boot,
            began=str(self.opened.get("time", "")),
            begun=frozenset(self.begun),
            plans=self.begun,
            clocks={step: self.clocks[step] for step in self.begun},
            ended=frozenset(self.ended),
            listed=self.listed,
            sectors=self.sectors,
            erased=frozenset(self.erased),
            order=tuple(self.ended),
        )
