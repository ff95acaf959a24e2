"""The outcome predicted for each thing when disks go while the system runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.estimate.survival import Outcome, Structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.estimate.survival.structure import Stand


@dataclass(frozen=True)
class Running:
    """A system that runs: what only its next start needs is no matter to it.

    So an encryption outlives its key file, and a volume group that lacks some of its devices goes on with the others. Which
    volumes lie on these no layout says.
    """

    with_group: Structure
    """Every volume stops with any device of its group."""
    apart: Structure
    """No volume stops before all devices of its group are gone."""

    def after(self, disks: Iterable[str]) -> tuple[dict[Path, Outcome], tuple[Path, ...]]:
        """The outcome for everything when these disks are gone, and the things whose outcome hangs on where volumes lie."""
        disks = tuple(disks)
        found, best = outcomes(self.with_group, disks), outcomes(self.apart, disks)
        return found, tuple(
            thing for thing, outcome in found.items() if not outcome.survives and best[thing] is not outcome
        )


def running(whole: Structure) -> Running:
    """The running system of a layout, by the structure that `survive` has."""
    opened = _changed(whole, lambda _, stands: tuple(stand for stand in stands if not stand.key))
    return Running(opened, _changed(opened, _apart))


def _apart(thing: Path, stands: tuple[Stand, ...]) -> tuple[Stand, ...]:
    if thing[0] != "volume_groups":
        return stands
    return tuple(stand._replace(may_lose=len(stand.parts) - 1) for stand in stands)


def _changed(whole: Structure, change: Callable[[Path, tuple[Stand, ...]], tuple[Stand, ...]]) -> Structure:
    return Structure({thing: change(thing, stands) for thing, stands in whole.stands.items()})
