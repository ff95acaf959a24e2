"""The cases of a rehearsal: what is done to which disks, and what the model of survival predicts then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.estimate.survival import BOOT, MACHINE, Outcome, Survival, survive
from raidplan.topology import Topology
from raidplan.twin.rehearsal.running_outcomes import Running, running


class Fault(Enum):
    """The way in which something fails; the values are the codes of the report."""

    PULLED = "pulled"
    """Disks go while everything works, and come back with what is on them."""
    REPLACED = "replaced"
    """A disk goes while everything works, and a blank one comes in its place."""
    ABSENT = "absent"
    """Disks are not there at boot."""
    BLANK = "blank"
    """A disk is blank at boot."""
    STALE = "stale"
    """A disk was away while the others were written to, and is there again at boot."""
    MOVED = "moved"
    """All disks have other places, and so other names, at boot."""
    POWER = "power"
    """The power goes while everything writes."""
    CHANGED = "changed"
    """A block on one member has other content, and no error shows it."""
    UNREADABLE = "unreadable"
    """A sector on one member cannot be read."""
    SLOW = "slow"
    """A disk answers late."""
    RATES = "rates"
    """Nothing fails: rates are measured."""
    NONE = "none"
    """Nothing fails."""
    KILLED = "killed"
    """An apply is killed in the middle."""
    CUT = "cut"
    """The power goes in the middle of an apply."""


AT_BOOT = frozenset((Fault.ABSENT, Fault.BLANK, Fault.STALE, Fault.MOVED, Fault.POWER))
"""The faults after which the machine starts anew."""


@dataclass(frozen=True)
class Case:
    """One fault: of which parts, their disks, and the outcome predicted for each thing that it touches."""

    name: str
    """The component, disks, or for faults of media the array."""
    kind: str
    """disk, or the kind of the component; `pair`, `control`, `machine`; for faults of media `data` or `parity`."""
    disks: tuple[str, ...]
    predicted: Mapping[Path, Outcome]
    fault: Fault = Fault.PULLED
    unpredicted: tuple[Path, ...] = ()
    """Things that `predicted` has at their worst, and that may go on: it hangs on where volumes lie."""

    @property
    def at_boot(self) -> bool:
        """The machine starts anew with the fault: what ran before is no matter, and whether it starts is one."""
        return self.fault in AT_BOOT

    def outcome(self, thing: Path) -> Outcome:
        """The outcome predicted for a thing; intact where the loss does not touch it."""
        return self.predicted.get(thing, Outcome.INTACT)


@dataclass(frozen=True)
class Source:
    """The layout that cases are made of, and how many of those that are drawn."""

    topology: Topology
    pairs: int = 0
    seed: int = 0

    @cached_property
    def survival(self) -> Survival:
        """The survival that is predicted of the layout."""
        return survive(self.topology)

    @cached_property
    def singles(self) -> list[Case]:
        """Each disk and each component pulled, disks first."""
        parts = sorted(self.survival.components, key=lambda part: part.kind != "disk")
        return [
            self.pulled(part.name, part.kind, part.disks) for part in parts if part.disks and not part.board
        ]

    def pulled(self, name: str, kind: str, disks: tuple[str, ...]) -> Case:
        """Disks that go while everything works."""
        return _pulled(self._running, name, kind, disks)

    @cached_property
    def _running(self) -> Running:
        return running(self.survival.structure)

    @cached_property
    def member_disks(self) -> dict[str, list[str]]:
        """The disk of each member of each array with redundancy, in slot order; an empty word for a member that is no disk."""
        layout = self.topology.layout
        return {
            name: [
                disk if (disk := member.partition(".")[0]) in layout.hardware.disks else ""
                for member in array.named_members
            ]
            for name, array in layout.arrays.items()
            if LEVELS[array.level].redundant
        }

    @cached_property
    def first_disks(self) -> list[str]:
        """The disk of the first member of each array with redundancy."""
        return list(dict.fromkeys(disks[0] for disks in self.member_disks.values() if disks[0]))

    def stale(self, disks: Sequence[str]) -> Case | None:
        """The first of the disks of an array without which everything goes on: it is away while the others are written to, and comes back."""
        cases = (
            replace(self.pulled(disk, "disk", (disk,)), fault=Fault.STALE)
            for disk in dict.fromkeys(disks)
            if disk
        )
        return next(filter(goes_on, cases), None)


def goes_on(case: Case) -> bool:
    """Whether everything is predicted to go on; of a machine that runs, whatever its next start will be."""
    things = case.predicted.items()
    return all(outcome.survives for thing, outcome in things if case.at_boot or thing != BOOT)


def goes_back(case: Case, survival: Survival) -> bool:
    """Whether the disks that were away are put back into their arrays, and what comes of it is looked at."""
    if case.at_boot:
        alone = case.fault is Fault.ABSENT and case.kind == "disk"
        return alone and goes_on(replace(case, predicted=survival.after(case.disks)))
    return case.kind != "control" and goes_on(case)


def control(survival: Survival) -> Case | None:
    """A loss that must stop something: the smallest one of an array, or of a file system where there is no array."""
    system = running(survival.structure)
    kinds = ("arrays", "filesystems", "swap")
    things = sorted(
        (thing for thing in survival.structure.stands if thing[0] in kinds), key=lambda t: kinds.index(t[0])
    )
    for thing in things:
        disks = sorted(survival.structure.disks[thing])
        for count in range(1, len(disks) + 1):
            lost = tuple(disks[:count])
            case = _pulled(system, " and ".join(lost), "control", lost)
            if case.outcome(thing) is Outcome.LOST and thing not in case.unpredicted:
                return case
    return None


def _pulled(system: Running, name: str, kind: str, disks: tuple[str, ...]) -> Case:
    found, unpredicted = system.after(disks)
    return Case(name, kind, disks, found, unpredicted=unpredicted)


def things_of(survival: Survival) -> Sequence[Path]:
    """The things whose outcome is observed: arrays, file systems, swap areas, the running system."""
    return [
        path
        for path in survival.structure.stands
        if path[0] in ("arrays", "filesystems", "swap") or path == MACHINE
    ]
