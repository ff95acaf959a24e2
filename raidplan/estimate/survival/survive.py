"""The survival of a whole layout: every component against everything that may stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from raidplan.base.findings import Path
from raidplan.estimate.survival.components import (
    Component,
    boards_supplies,
    components,
    dark_without,
    sets_of_supplies,
)
from raidplan.estimate.survival.loss import Outcome, outcomes
from raidplan.estimate.survival.sets import Sets, SmallestSets
from raidplan.estimate.survival.smallest import Smallest, smallest
from raidplan.estimate.survival.structure import MACHINE, Structure, structure
from raidplan.topology import Topology


@dataclass(frozen=True)
class Survival:
    """The survival of everything. Things go by their path: `("arrays", "s0")`, `("swap", "w")`, MACHINE, BOOT."""

    components: tuple[Component, ...]
    structure: Structure
    fates: Mapping[Path, Mapping[Path, Outcome]]
    """The outcomes by thing, then by the component whose loss has it; both by path."""
    dark: Mapping[frozenset[str], tuple[str, ...]]
    """The disks that are gone once all power supplies of a set are gone, by set."""
    boards: frozenset[str]
    """The supplies of the machine itself."""

    def outcome(self, thing: Path, component: Component) -> Outcome:
        """The outcome for a thing when a component is lost; intact if it does not stand on it."""
        return self.fates.get(thing, {}).get(component.path, Outcome.INTACT)

    def killers(self, thing: Path) -> tuple[Component, ...]:
        """The components that a thing does not survive."""
        fates = self.fates.get(thing, {})
        return tuple(self._by_path[path] for path, outcome in fates.items() if not outcome.survives)

    def below(self, thing: Path) -> tuple[Component, ...]:
        """The components that a thing stands on."""
        return tuple(self._by_path[path] for path in self.fates.get(thing, {}))

    @cached_property
    def _by_path(self) -> dict[Path, Component]:
        return {component.path: component for component in self.components}

    def survives(self, thing: Path) -> dict[str, bool]:
        """Whether it survives each component that it stands on, by name; of two with one name, both."""
        found: dict[str, bool] = {}
        for path, outcome in self.fates.get(thing, {}).items():
            name = str(path[-1])
            found[name] = found.get(name, True) and outcome.survives
        return found

    def after(self, disks: Iterable[str]) -> dict[Path, Outcome]:
        """The outcome for everything when these disks are gone at once; a thing that is not named is intact."""
        return outcomes(self.structure, disks)

    def survives_supplies(self, thing: Path, supplies: Iterable[str]) -> bool:
        """Whether it survives the loss of all supplies of a set at once."""
        return self._without[frozenset(supplies)].get(thing, Outcome.INTACT).survives

    def smallest(self, thing: Path) -> Smallest:
        """The smallest sets of disks that stop a thing."""
        return smallest(self.structure, thing)

    def sets(self, thing: Path) -> Sets:
        """The smallest sets of components of any kind that stop a thing."""
        return self._sets.of(thing, self.killers(thing))

    def sets_of_disks(self, thing: Path) -> Sets:
        """The smallest sets of disks that stop a thing, as those of components are described."""
        return self._sets.of_disks(thing)

    @cached_property
    def _without(self) -> dict[frozenset[str], dict[Path, Outcome]]:
        """The outcome for everything without each set of supplies."""
        return {supplies: self.after(disks) for supplies, disks in sets_of_supplies(self.dark).items()}

    @cached_property
    def _sets(self) -> SmallestSets:
        return SmallestSets(self.structure, self.components, self.smallest, self.dark, self.boards)


def survive(topology: Topology) -> Survival:
    """The survival of everything in the layout that may stop, for every component.

    Works on an incomplete topology too: a name that nothing bears holds nothing up.
    """
    all_components, whole = components(topology), structure(topology)
    fates: dict[Path, dict[Path, Outcome]] = {path: {} for path in whole.stands}
    for component in all_components:
        found = outcomes(whole, component.disks)
        if component.board:
            found[MACHINE] = Outcome.LOST
        if component.one_of_boards:
            found.setdefault(MACHINE, Outcome.INTACT)
        for path in outcomes(whole, component.shared):
            found.setdefault(path, Outcome.INTACT)
        for path, outcome in found.items():
            fates[path][component.path] = outcome
    boards = boards_supplies(topology.layout.hardware)
    return Survival(all_components, whole, fates, dark_without(topology), boards)
