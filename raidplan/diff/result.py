"""The differences of two layouts, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from raidplan.base.figures import Figures
from raidplan.base.findings import Path
from raidplan.diff.changes import Way
from raidplan.diff.statement import Statement
from raidplan.plan.step import Plan
from raidplan.review.located import Accepted, Located
from raidplan.topology import Topology


@dataclass(frozen=True)
class Side:
    """One of the two layouts: what can be built, and what was found in it."""

    topology: Topology
    findings: tuple[Located, ...] = ()
    accepted: tuple[Accepted, ...] = ()


class Fate(StrEnum):
    """The fate of a thing."""

    CREATED = "created"
    DESTROYED = "destroyed"
    RECREATED = "re-created"
    """The thing stays in the layout, and its data does not: no command changes a difference in place."""
    RESHAPED = "reshaped"
    """The data is moved to another shape while the thing stays."""
    CHANGED = "changed"
    RENAMED = "renamed"
    """A disk that is the same by its serial number, WWN or path."""
    EXCHANGED = "exchanged"
    """Another disk by the same name."""
    FORGOTTEN = "no longer described"
    """The file that described it is gone; it stands as it did."""
    KEPT = "kept"

    @property
    def loses(self) -> bool:
        """The content is lost."""
        return self in (Fate.DESTROYED, Fate.RECREATED, Fate.EXCHANGED)


Value = object
"""A value as a layout has it, None if it is not there; or a statement about it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One property that differs."""

    key: str
    old: Value
    new: Value
    how: Way | None
    """The way to change it in place; None if there is none."""
    of_member: bool = False
    """True for a property of one member of an array, not of the array itself."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing that is not what it was."""

    path: Path
    """The path of the thing in the new layout; in the old layout if the thing is destroyed."""
    fate: Fate
    changes: tuple[Change, ...] = ()
    figures: Figures = field(default_factory=dict, hash=False)
    """Level and number of members, type, devices and mount point, of what has those."""
    was: str = ""
    """The name in the old layout, if that was another one."""
    note: Statement | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """Why data does not stay, with the changes by which it does not, where those are the reason."""

    statements: tuple[Statement, ...]
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class LostData:
    """Data that would be destroyed."""

    path: Path
    capacity: int | None
    """Bytes of the device it was on; how many of them held data is not known."""
    device: str
    disks: tuple[str, ...]
    because: Cause
    hint: Statement | None
    mount: str = ""
    """The mount point of a file system, if it has one."""
    type: str = ""
    """The type of a file system; empty for a device that nothing takes."""


@dataclass(frozen=True, slots=True)
class Shrink:
    """A file system or a volume group that stays and gets smaller: what does not fit has to go before."""

    path: Path
    devices: tuple[str, ...]
    before: int | None
    """Bytes of its devices, before and after; None if not known."""
    after: int | None
    mount: str = ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The component losses that something survives now and did not, or the other way round. Components are (kind, name)."""

    path: Path
    """A thing; or `("running",)` for the running system, `("boot",)` for the next boot."""
    mount: str
    lost: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]
    always: tuple[int | None, int | None]
    """Disks that it always survives, whichever they are, before and after; 3 stands for three or more."""


Measure = Literal[
    "capacity", "read", "write", "read-together", "write-together", "rebuild", "stripe-cache", "stripe-caches",
    "inodes", "power",
]  # fmt: skip
"""`together`: while everything is at work."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure before and after; None where it is not known."""

    path: Path
    """A thing, or `("hardware",)` for the machine."""
    mount: str
    what: Measure
    unit: str
    """bytes, bytes/s, inodes, seconds or watts."""
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that differs."""

    hosts: tuple[str, str]
    losses: tuple[LostData, ...]
    things: tuple[Thing, ...]
    tolerance: tuple[Tolerance, ...]
    figures: tuple[Figure, ...]
    found: tuple[Located, ...]
    """Findings of the new layout that the old one did not have."""
    resolved: tuple[Located, ...]
    """Findings of the old layout that the new one does not have."""
    accepted: tuple[Accepted, ...] = ()
    """Findings that the new layout has and accepts, and the old one did not accept."""
    shrinks: tuple[Shrink, ...] = ()
    plan: Plan | None = None
    """The steps of the change, where they were asked for."""

    @property
    def loses(self) -> bool:
        """Data is destroyed, or room is lost."""
        return bool(self.losses or self.shrinks)

    @property
    def forgotten(self) -> bool:
        """There is no new layout: what the old one described stays, and nothing describes it."""
        return any(thing.fate is Fate.FORGOTTEN for thing in self.things)

    @property
    def empty(self) -> bool:
        """The layouts do not differ in meaning."""
        parts = (
            self.losses,
            self.things,
            self.tolerance,
            self.figures,
            self.found,
            self.resolved,
            self.accepted,
        )
        return not any(parts) and self.hosts[0] == self.hosts[1]
