"""The comparison of a step's proof with the actual state of the machine, property by property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from raidplan.facts.machine import Machine
from raidplan.plan.step import Proof, Value


@dataclass(frozen=True, slots=True)
class Deviation:
    """A property of an object that is not as planned; its words are in `render/deviations.py`.

    `number` is that of the item that differs in two lists of one length, else -1.
    """

    name: str
    found: Value
    planned: Value
    number: int = -1
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The layout's names of the devices in it, by their identities, where these are known."""


def differences(proof: Proof, machine: Machine) -> list[Deviation] | None:
    """The differences. Empty if proven, None if there is no such object."""
    by_name = differing(proof, machine)
    return None if by_name is None else [each for several in by_name.values() for each in several]


def differing(proof: Proof, machine: Machine) -> dict[str, list[Deviation]] | None:
    """The differences by property; only properties that differ."""
    found = machine.observe(proof.kind, proof.key)
    if found is None:
        return None
    by_name = {name: [*_differing(name, found.get(name), planned)] for name, planned in proof.expect.items()}
    return {name: several for name, several in by_name.items() if several}


def _differing(name: str, found: Value, planned: Value) -> Iterator[Deviation]:
    if isinstance(found, list | tuple) and isinstance(planned, list | tuple) and len(found) == len(planned):
        for number, (is_there, wanted) in enumerate(zip(found, planned, strict=True)):
            if is_there != wanted:
                yield Deviation(name, is_there, wanted, number)
    elif isinstance(found, list | tuple) and isinstance(planned, list | tuple):
        yield Deviation(name, [*found], [*planned])
    elif type(found) is not type(planned) or found != planned:
        # The type counts, because for Python 1 equals True.
        yield Deviation(name, found, planned)
