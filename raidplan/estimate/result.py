"""The values of an estimate: upper bounds of rates with their bottlenecks, capacities, times, and missing facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raidplan.estimate.links import Missing
from raidplan.estimate.machine import Resource
from raidplan.estimate.rebuild import NO_REBUILD, Rebuild
from raidplan.estimate.survival import Sets


@dataclass(frozen=True, slots=True)
class Rate:
    """An upper bound, and what sets it."""

    bytes_per_second: float | None = None
    """The upper bound; None if no rate on the way is known."""
    bottlenecks: tuple[Resource, ...] = ()
    """All are equally full; the first names them."""
    relieved: float | None = None
    """Bytes per second if none of them were in the way; None if nothing else is known."""
    iops: float | None = None
    """Small operations per second by many at once; None unless every disk states its own."""


NOTHING = Rate()
NO_SETS = Sets(None)


@dataclass(frozen=True, slots=True)
class Figures:
    """The rates of a thing."""

    read: Rate = NOTHING
    write: Rate = NOTHING


@dataclass(frozen=True, slots=True)
class Loss:
    """The effect of the loss of one component on a thing that stands on it."""

    component: str
    kind: str
    """bus, controller, multiplier, expander, enclosure, power or disk."""
    survived: bool


@dataclass(frozen=True, slots=True)
class Fate:
    """The survival of a thing."""

    losses: tuple[Loss, ...]
    """The loss of every component that it stands on."""
    losses_always_survived: int | None
    """Disks, whichever they are; 3 stands for three or more. None if it stands on nothing that is known."""
    sets: Sets = NO_SETS
    """The smallest sets of components of any kind that stop it."""
    disk_sets: Sets = NO_SETS
    """The smallest sets of disks that stop it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One array, file system or swap area."""

    name: str
    what: str
    """`raid6 of 8`, `xfs`, `swap`."""
    capacity: int | None
    """Bytes; of a file system, what is left for files."""
    alone: Figures
    together: Figures
    """The figures while all arrays are at work."""
    fate: Fate
    missing: tuple[Missing, ...]
    on: str = ""
    """The device or file of a file system or swap area."""
    rebuild: Rebuild = NO_REBUILD
    stripe_cache_bytes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gain:
    """The rates of all arrays together without the bottlenecks of one kind. Bytes per second."""

    bottlenecks: tuple[Resource, ...]
    disks: tuple[str, ...]
    """The disks behind these bottlenecks that are members of an array."""
    now: tuple[float | None, float | None]
    """Read and written; None if nothing limits one of the arrays as far as is known."""
    then: tuple[float | None, float | None]

    @property
    def size(self) -> float:
        """Bytes per second won, reading and writing; 0 where that is not known."""
        pairs = zip(self.now, self.then, strict=True)
        return sum(then - now for now, then in pairs if now is not None and then is not None)


@dataclass(frozen=True, slots=True)
class MachineEstimate:
    """The machine as a whole."""

    watts: float
    spinup_amps_12v: float
    base_watts_known: bool
    """False: the watts are those of the disks and their boards alone."""
    fates: Mapping[str, Fate]
    """`machine`, the running system, and `boot`, if the layout has one."""
    boot_loader_installed: bool | None = None
    """Whether the plan of the layout installs a boot loader; None if it makes no root file system."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Everything in a layout."""

    host: str
    arrays: tuple[Estimate, ...]
    filesystems: tuple[Estimate, ...]
    swap: tuple[Estimate, ...]
    machine: MachineEstimate
    gains: tuple[Gain, ...]
    """The largest first."""
    at_work: tuple[str, ...]
    """The arrays that share the links at full load: those inside others are at work through them, and swap is idle."""

    @property
    def missing(self) -> tuple[Missing, ...]:
        """All facts that are not stated."""
        things = (*self.arrays, *self.filesystems, *self.swap)
        return tuple(dict.fromkeys(fact for thing in things for fact in thing.missing))
