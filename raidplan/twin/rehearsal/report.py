"""The report of a rehearsal as records; how it is written stands in render/rehearsal/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from raidplan.base.findings import Path
from raidplan.estimate.survival import MACHINE
from raidplan.twin.rehearsal.cases import Case
from raidplan.twin.rehearsal.observed import Observation, name_of


@dataclass(frozen=True)
class Stage:
    """One stage: build, boot, install, preflight, apply, apply again, reboot, read back, faults, control."""

    name: str
    seconds: float
    passed: bool
    detail: str = ""
    """The end of what a program said, where the stage failed."""
    began: float = 0.0
    """Seconds after the start of the rehearsal."""


@dataclass(frozen=True)
class Claim:
    """One more thing that is predicted in a case, which is no outcome of a loss."""

    thing: Path
    what: str
    """The code of it: `mismatches`, `reader`, `mended`, …, which render/rehearsal/words.py has words for."""
    predicted: str
    observed: str
    as_predicted: bool
    rates: tuple[float, float] | None = None
    """Bytes per second, predicted and observed, where it is a rate."""
    counts: bool = True
    """It is a prediction, which could fail; else it is shown alone."""


@dataclass(frozen=True)
class Tried:
    """A case that was played through."""

    case: Case
    seconds: float
    observed: tuple[Observation, ...]
    lost: tuple[str, ...] = ()
    """Mount points on which acknowledged data was lost though it was to survive."""
    acknowledged: int = 0
    """Acknowledged records that were read back."""
    returned: str = ""
    """The way back: `re-added`, `rebuilt`, `whole by itself`, or what failed; empty where there was none to go."""
    whole_again: bool = True
    """Every array that lived on has all its members again, and every acknowledged record reads back."""

    claims: tuple[Claim, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    """Times in seconds, by the code of what took them; nothing is predicted of them."""
    began: float = 0.0
    """Seconds after the start of the rehearsal."""
    explanation: str = ""
    """The end of what was said where the way back failed."""

    @property
    def as_predicted(self) -> bool:
        """Everything was observed as predicted, nothing acknowledged was lost, and the way back ended well."""
        return all(self.judged) and not self.lost and self.whole_again

    @property
    def otherwise(self) -> list[str]:
        """The things that went otherwise than predicted, by name."""
        observed = [name_of(one.thing) for one in self.observed if not one.as_predicted]
        claims = [
            f"{name_of(one.thing)}: {one.what}" for one in self.claims if one.counts and not one.as_predicted
        ]
        return [
            *observed,
            *claims,
            *self.lost,
            *([] if self.whole_again else [self.returned]),
        ]

    @property
    def judged(self) -> list[bool]:
        """Whether each prediction was observed."""
        return [
            *(one.as_predicted for one in self.observed),
            *(one.as_predicted for one in self.claims if one.counts),
        ]


@dataclass(frozen=True)
class Report:
    """Everything that a rehearsal observed."""

    host: str
    layout_digest: str
    """The layout's own, as `plan` has it, and not the twin's."""
    seed: int
    command: str
    """The command that repeats it."""
    differences: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    tried: tuple[Tried, ...] = ()
    control: Tried | None = None
    untried: tuple[str, ...] = ()
    """Everything that was left out, in sentences."""
    old_layout_digest: str = ""
    """The one of the layout that a change begins with."""

    @property
    def stopped(self) -> bool:
        """A stage failed, and the later ones were not begun."""
        return any(not stage.passed for stage in self.stages)

    @property
    def control_failed(self) -> bool:
        """The control stopped something, as it must, or what it damaged was seen."""
        if self.control is None:
            return False
        if self.control.claims:
            return all(claim.as_predicted for claim in self.control.claims)
        # Of a machine that is to live on silence shows nothing; one that is to die was looked at before.
        failed = (one for one in self.control.observed if not one.predicted.survives and not one.survived)
        return any(one.thing == MACHINE or not one.silent for one in failed)

    @property
    def void(self) -> bool:
        """Cases were tried to the end, and nothing shows that the rig sees a failure."""
        return bool(self.tried) and not self.stopped and not self.control_failed

    @property
    def predictions(self) -> tuple[int, int]:
        """How many predictions were held against an observation, and how many of them were true."""
        judged = [one for tried in self.played for one in tried.judged]
        return len(judged), sum(judged)

    @property
    def as_predicted(self) -> bool | None:
        """Every stage passed, every case and the control went as predicted, and the control shows that it would have been seen.

        None where every stage passed, and there was no case: nothing was predicted, so there is nothing to conclude.
        """
        if self.stopped or self.void:
            return False
        return all(tried.as_predicted for tried in self.played) if self.played else None

    @property
    def played(self) -> tuple[Tried, ...]:
        """The cases and the control, of which what it leaves untouched is predicted too."""
        return (*self.tried, *((self.control,) if self.control else ()))
