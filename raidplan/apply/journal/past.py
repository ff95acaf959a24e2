"""The sum of a journal: steps begun, steps finished, objects made. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from raidplan.plan.loss import Loss
from raidplan.plan.origin import Origin, origin_of_id

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
    """The time of the last record of each object in `made` (UTC, ISO 8601)."""
    made_in: Mapping[str, int] = field(default_factory=dict)
    """For each of those, the number of that record: what was made after what, whatever the clock said."""
    changed_in: Mapping[str, int] = field(default_factory=dict)
    """The same; of an object that was changed in place since, the number of the last record of that."""
    standing: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each step that made an object in any run, its fingerprints at that time; after the comparison with a plan and its
    disks, only the steps that are the same, on the same disks."""
    below: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The fingerprint of the disks below each device that a step wrote over then, or that came to an array since, by step as in
    `standing`. Earlier journals have none."""
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
    """The digest of the plan by which each step in `begun` was begun; by step, in the order of their beginning."""
    clocks: Mapping[str, int] = field(default_factory=dict)
    """The start of the run of each step in `begun`, in seconds since 1970: `World.clock` of that run."""
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
    """The devices that this very step worked on, by step as in `marks`; after the comparison with a plan and its disks."""
    given_up: frozenset[str] = frozenset()
    """After the comparison with a plan and its disks: the devices, as steps name them, whose content of before nobody is to miss: this
    run clears them by consent, or they may be new disks (decide/gone.py)."""
    listed: Mapping[str, tuple[Loss, ...]] = field(default_factory=dict)
    """For each step of this run that clears a device: what was listed of it before that was begun."""
    sectors: Mapping[str, str] = field(default_factory=dict)
    """For each such step, the digest of the file with the sectors that it found (`journal/sectors.py`)."""
    erased: frozenset[str] = frozenset()
    """The steps of this run whose device read as erased flash (0xFF) right before: what they did not write may still do so."""
    folder: str = field(default="", compare=False)
    """The folder of the journal; empty for one that was not read from a folder."""
    headers: frozenset[str] = field(default=frozenset(), compare=False)
    """The UUIDs of the encryptions of whose header a copy is kept beside the journal."""
    finished: Mapping[str, int] = field(default_factory=dict)
    """The steps of layouts that finished in any run and were not reversed since, and the number of the last record of that."""
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
