"""The cases of a rehearsal: which disks are pulled at once, and what the model of survival predicts then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from raidplan.base.findings import Path
from raidplan.estimate.survival import MACHINE, Outcome, Survival

FAULTS = ("all", "disks", "components", "pairs", "none")
"""The words of `--faults`; any other is the name of one disk or component."""


@dataclass(frozen=True)
class Case:
    """One loss: the parts that are pulled, their disks, and the outcome predicted for each thing that it touches."""

    name: str
    kind: str
    """disk, or the kind of the component; `pair`, or `control`."""
    disks: tuple[str, ...]
    predicted: Mapping[Path, Outcome]

    def outcome(self, thing: Path) -> Outcome:
        """The outcome predicted for a thing; intact where the loss does not touch it."""
        return self.predicted.get(thing, Outcome.INTACT)


class NoSuchPart(Exception):
    """`--faults` names no disk and no component of the layout."""


def cases_of(survival: Survival, faults: str, pairs: int, seed: int) -> list[Case]:
    """The cases of a choice, disks first; of pairs across components at most `pairs`, drawn by `seed`. Raises NoSuchPart."""
    singles = list(_singles(survival))
    if faults == "none":
        return []
    if faults not in FAULTS:
        named = [case for case in singles if case.name == faults]
        if not named:
            raise NoSuchPart(f"--faults {faults}: the layout has no such disk or component")
        return named
    found = [
        case
        for case in singles
        if faults == "all"
        or (faults == "disks" and case.kind == "disk")
        or (faults == "components" and case.kind != "disk")
    ]
    if faults in ("all", "pairs"):
        found += _pairs(survival, pairs, seed)
    return found


def untried(survival: Survival) -> list[str]:
    """The components that cannot be pulled: they have no disks, or the machine itself hangs on them."""
    return [each.name for each in survival.components if each.board or not each.disks]


def control(survival: Survival) -> Case | None:
    """A loss that must stop something: the smallest one of an array, or of a file system where there is no array."""
    kinds = ("arrays", "filesystems", "swap")
    things = sorted(
        (thing for thing in survival.structure.stands if thing[0] in kinds), key=lambda t: kinds.index(t[0])
    )
    for thing in things:
        for lost in _stopping(survival, thing):
            return Case(" and ".join(lost), "control", lost, survival.after(lost))
    return None


def _stopping(survival: Survival, thing: Path) -> Iterator[tuple[str, ...]]:
    disks = sorted(survival.structure.disks[thing])
    for count in range(1, len(disks) + 1):
        lost = tuple(disks[:count])
        if survival.after(lost).get(thing) is Outcome.LOST:
            yield lost


def _singles(survival: Survival) -> Iterator[Case]:
    parts = sorted(survival.components, key=lambda part: part.kind != "disk")
    for part in parts:
        if part.disks and not part.board:
            yield Case(part.name, part.kind, part.disks, survival.after(part.disks))


def _pairs(survival: Survival, most: int, seed: int) -> list[Case]:
    """Two disks behind unlike components, as far as the layout has such."""
    parts: dict[str, set[str]] = {}
    for part in survival.components:
        if part.kind != "disk":
            for disk in part.disks:
                parts.setdefault(disk, set()).add(part.name)
    disks = [part.name for part in survival.components if part.kind == "disk"]
    whole = max((len(each) for each in parts.values()), default=0)
    across = [
        pair for pair in combinations(disks, 2) if whole == 0 or parts.get(pair[0]) != parts.get(pair[1])
    ]
    drawn = across if len(across) <= most else sorted(Random(seed).sample(across, most))
    return [Case(" and ".join(pair), "pair", pair, survival.after(pair)) for pair in drawn]


def things_of(survival: Survival) -> Sequence[Path]:
    """The things whose outcome is observed: arrays, file systems, swap areas, the running system."""
    return [
        path
        for path in survival.structure.stands
        if path[0] in ("arrays", "filesystems", "swap") or path == MACHINE
    ]
