"""The sum of a journal: steps begun, steps finished, objects made. Values only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast, get_args

from raidplan.plan.loss import Loss, loss_from_row
from raidplan.plan.origin import Kind, Origin, origin_of_id

HEADERS, COPIES = "headers", "copies"
"""The folders beside a journal: of LUKS headers, and of what `undo` puts back."""
PLAN = "plan.json"
"""The file beside the journal with the plan of its last run."""


def kept_as(plan_digest: str) -> str:
    """The file with the plan of an earlier run, as long as only that can finish a step."""
    return f"plan-{plan_digest.removeprefix('sha256:')[:12]}.json"


def sectors_as(digest: str) -> str:
    """The file with the sectors of a device as they were before it was cleared."""
    return f"sectors-{digest[:12]}"


def header_as(uuid: str) -> str:
    """The file with the copy of a LUKS header as it was made."""
    return f"{uuid}.luks"


@dataclass(frozen=True, slots=True)
class Past:
    """The journal's knowledge of a host.

    `made` are the objects (`array:<uuid>`) that were made or adopted in all runs. The rest is about the run
    that is not closed, if there is one.
    """

    made: frozenset[str] = frozenset()
    made_at: Mapping[str, str] = field(default_factory=dict)
    """For each of those, the time of its last record (UTC, ISO 8601)."""
    standing: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each step that made an object in any run, its fingerprints at that time; after the comparison with a plan and its
    disks, only the steps that are the same, on the same disks."""
    below: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each of those, by device that it wrote over, the fingerprint of the disks below it at that time. Earlier journals have none."""
    same_disks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each of those, after the comparison with a plan and its disks: the devices whose disks are still the same, in whatever form
    the step is now."""
    is_open: bool = False
    plan_digest: str = ""
    """The digest of the whole plan of the last run, open or closed."""
    boot: str = ""
    began: str = ""
    """The start of that run (UTC, ISO 8601)."""
    begun: frozenset[str] = frozenset()
    """Steps that were begun and, as far as is known, not finished."""
    plans: Mapping[str, str] = field(default_factory=dict)
    """For each of those, in their order, the digest of the plan by which it was begun."""
    clocks: Mapping[str, int] = field(default_factory=dict)
    """For each of those, the start of its run in seconds since 1970: `World.clock` of that run."""
    ended: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    """After the comparison with a plan and its disks: the steps that finished on devices of the same names, but another of
    their disks, or in another form."""
    order: tuple[str, ...] = ()
    """The steps that finished in this run, in that order."""
    run: tuple[str, ...] = ()
    """The steps begun in the last run, open or closed, in order; none that came before an undo."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """The safety copies of that run: file to digest."""
    final: frozenset[str] = frozenset()
    """The steps of that run after which there is no way back."""
    undoing: bool = False
    """An undo was begun and never finished."""
    restored: frozenset[str] = frozenset()
    """The disks that the undo has restored."""
    marks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each step that was begun or finished: its fingerprint for each device, as `step_fingerprints.py` writes it."""
    ours: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each of those, after the comparison with a plan and its disks: the devices that this very step worked on."""
    cleared: Mapping[str, tuple[Loss, ...]] = field(default_factory=dict)
    """For each step of this run that clears a device: what was listed of it before that was begun."""
    sectors: Mapping[str, str] = field(default_factory=dict)
    """For each such step, the digest of the file with the sectors that it found (`journal/sectors.py`)."""
    folder: str = field(default="", compare=False)
    """The folder of the journal; empty for one that was not read from a folder."""
    headers: frozenset[str] = field(default=frozenset(), compare=False)
    """The UUIDs of the encryptions of whose header a copy is kept beside the journal."""
    finished: frozenset[str] = frozenset()
    """The steps of layouts that finished in any run and were not reversed since."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """The reason for which each step that was begun was in its plan."""

    def origin(self, step: str) -> Origin:
        """The reason for which the step with this id was in its plan."""
        return self.origins.get(step) or origin_of_id(step)

    def planned_for(self, step: str) -> str:
        """The id of the layout's step that another one was added for; any other id as it is."""
        origin = self.origin(step)
        return origin.step if origin.kind in ("change", "clear") else step

    def header(self, uuid: str) -> str:
        """The file with the copy of the header of an encryption; empty where none is kept."""
        return f"{self.folder}/{HEADERS}/{header_as(uuid)}" if uuid in self.headers else ""

    def plan_file(self, step: str) -> str:
        """The file beside the journal with the plan by which a step was begun."""
        digest = self.plans.get(step, self.plan_digest)
        return PLAN if digest == self.plan_digest else kept_as(digest)


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest that an interrupted clearing has left in its ranges (start and size in bytes)."""

    ranges: tuple[tuple[int, int], ...]
    foreign: int | None = None
    """The place of the first sector that was not there when the clearing began; None if there is none."""


def seconds(time: str) -> int:
    """A time of a record in seconds since 1970; 0 for what is none."""
    try:
        return int(datetime.fromisoformat(time).timestamp())
    except ValueError:
        return 0


def past_of(records: Iterable[Mapping[str, Any]]) -> Past:
    """The records summed up."""
    made: set[str] = set()
    made_at: dict[str, str] = {}
    standing: dict[str, tuple[str, Mapping[str, str], Mapping[str, str]]] = {}
    """By step: the object that it made, its fingerprints, and those of the disks below."""
    finished: set[str] = set()
    origins: dict[str, Origin] = {}
    before: frozenset[str] = frozenset()  # what was finished, when the last run began
    begun: dict[str, str] = {}  # to the plan that says so
    ended: dict[str, None] = {}  # in order
    marks: dict[str, Mapping[str, str]] = {}
    disks: dict[str, Mapping[str, str]] = {}
    cleared: dict[str, tuple[Loss, ...]] = {}
    sectors: dict[str, str] = {}
    opened: Mapping[str, Any] | None = None
    plan = boot = ""
    clock, clocks = 0, dict[str, int]()
    last = _Run()
    for record in records:
        step = str(record.get("step", ""))
        last = last.after(record, begins=opened is None)
        if record.get("made"):
            made.add(str(record["made"]))
            made_at[str(record["made"])] = str(record.get("time", ""))
        if record.get("kind") in ("intent", "adopted"):
            marks[step], disks[step] = _texts(record, "on"), _texts(record, "disks")
        if record.get("made"):
            standing[step] = str(record["made"]), marks.get(step, {}), disks.get(step, {})
        match record.get("kind"):
            case "open":
                before = before if opened else frozenset(finished)
                opened = opened or record
                plan, boot = str(record.get("plan", "")), str(record.get("boot", ""))
                clock = seconds(str(record.get("time", "")))
            case "intent":
                begun.pop(step, None)  # the one that was begun last stands last
                begun[step], clocks[step] = plan, clock
                origins[step] = _origin(record)
                # One that is begun again finds only what the first time left.
                losses = map(loss_from_row, record.get("clears", ()))
                cleared[step] = tuple(dict.fromkeys((*cleared.get(step, ()), *losses)))
                sectors[step] = str(record.get("sectors", ""))
                ended.pop(step, None)
            case "ended" | "adopted":
                begun.pop(step, None)
                ended[step] = None
                origin = origins.get(step) or origin_of_id(step)
                finished |= {step} if origin.kind == "layout" else set()
                finished -= {origin.step} if origin.kind == "taken_back" else set()
            case "forgotten":
                made_before = standing.pop(step, ("", {}, {}))[0]
                if begun.pop(step, None) is None:
                    made.discard(made_before)
                ended.pop(step, None)
            case "close" | "undone" as kind:
                opened = None
                begun.clear()
                ended.clear()
                marks.clear()
                disks.clear()
                cleared.clear()
                sectors.clear()
                if kind == "undone":
                    made -= last.made
                    standing = {each: of for each, of in standing.items() if of[0] in made}
                    finished = set(before)
                    last = _Run()
    known = Past(
        made=frozenset(made),
        made_at=made_at,
        standing={each: on for each, (_, on, _) in standing.items()},
        below={each: below for each, (_, _, below) in standing.items()},
        plan_digest=plan,
        run=last.begun,
        copies=last.copies,
        final=last.final,
        undoing=last.undoing,
        restored=last.restored,
        marks=marks,
        finished=frozenset(finished),
        origins=origins,
    )
    if opened is None:
        return known
    since = str(opened.get("time", ""))
    return replace(
        known,
        is_open=True,
        boot=boot,
        began=since,
        begun=frozenset(begun),
        plans=begun,
        clocks={step: clocks[step] for step in begun},
        ended=frozenset(ended),
        cleared=cleared,
        sectors=sectors,
        order=tuple(ended),
    )


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
