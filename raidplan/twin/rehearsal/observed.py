"""The outcomes observed in the guest, as records, beside those that were predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from raidplan.base.findings import Path, dotted
from raidplan.estimate.survival import BOOT, MACHINE, Outcome, Survival
from raidplan.layout.model import Layout
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS
from raidplan.twin.rehearsal.cases import Case, Fault, things_of
from raidplan.twin.rehearsal.witness import FILL

SHOWN, SAID_LINES = 20, 8
"""Numbers of damaged records, and lines of a console log, that a report shows."""


@dataclass(frozen=True)
class Observation:
    """One thing after a loss."""

    thing: Path
    predicted: Outcome
    survived: bool
    """It was observed to read and write."""
    detail: Mapping[str, Any]
    """The kernel's words: of an array its state, of a file system the errors of reading and writing."""
    away: range = range(1)
    """How many members of its own an array that goes on may lack."""

    @property
    def degraded(self) -> int:
        """How many members an array lacks."""
        return int(self.detail.get("degraded", "0"))

    @property
    def is_read(self) -> bool:
        """The thing is to be read at least, as an array that takes no more writes is."""
        return self.predicted.survives or (self.thing[0] == "arrays" and self.predicted is Outcome.READ_ONLY)

    @property
    def is_late(self) -> bool:
        """An array goes on with members that are gone: nobody has told md yet."""
        return self.survived and self.is_read and self.degraded < self.away.start

    @property
    def silent(self) -> bool:
        """Nobody answered, so the thing was not seen itself."""
        return "guest" in self.detail

    @property
    def as_predicted(self) -> bool:
        """The thing survived if, and only if, that was predicted; an array that takes no more writes is one that is read.

        An array that is to be read lacks those members that are gone, and no others.
        """
        return self.survived == self.is_read and (not self.is_read or self.degraded in self.away)


def observations(
    case: Case, survival: Survival, topology: Topology, found: Mapping[str, Any] | None, said: str = ""
) -> list[Observation]:
    """Each thing of the layout after a loss; `found` is what the witness says, None where the guest does not answer, but `said`
    something on its console."""
    made: list[Observation] = []
    stops = not case.outcome(BOOT if case.at_boot else MACHINE).survives
    for thing in things_of(survival):
        if (thing == MACHINE and case.at_boot) or thing in case.unpredicted:
            continue
        if found is None and stops and thing != MACHINE:
            continue  # as predicted nobody answers, so nothing else can be seen
        if found is None:
            detail = _silence(said if thing == MACHINE else "")
            made.append(Observation(thing, case.outcome(thing), False, detail))
        elif (one := _one(thing, case, topology, found)) is not None:
            made.append(one)
    return made


def booted(case: Case, found: Mapping[str, Any] | None, *, up: bool, said: str = "") -> Observation:
    """The boot itself; where the guest cannot be reached and spoken to, with the end of what was `said`."""
    return Observation(BOOT, case.outcome(BOOT), up, _silence(said) if found is None else {})


def lost_bytes(found: Mapping[str, Any] | None, made: list[Observation], topology: Topology) -> Iterator[str]:
    """The mount points on which an acknowledged record does not read back though the file system was to survive.

    Of one that takes no more writes, which nobody may be able to read, those on which one reads back otherwise.
    """
    predicted = {one.thing: one.predicted for one in made}
    for name, entry in topology.layout.filesystems.items():
        outcome = predicted.get(("filesystems", name), Outcome.LOST)
        if found is None or not entry.mount or outcome is Outcome.LOST:
            continue
        state = found["mounts"][entry.mount]
        if not reads_back(state) and (outcome.survives or isinstance(state["read"], dict)):
            yield entry.mount


def acknowledged(found: Mapping[str, Any] | None) -> int:
    """The number of acknowledged records that were read back."""
    reads = [mount["read"] for mount in found["mounts"].values()] if found else []
    return sum(read["acknowledged"] - len(read["damaged"]) for read in reads if isinstance(read, dict))


def reads_back(state: Mapping[str, Any]) -> bool:
    """Every record of a file system reads back, and those of the fill are among them."""
    read = state["read"]
    return isinstance(read, dict) and not read["damaged"] and read["acknowledged"] >= FILL


def name_of(thing: Path) -> str:
    """`arrays.s0`, or the running system."""
    return "the running system" if thing == MACHINE else dotted(thing)


def _silence(said: str) -> dict[str, str]:
    end = [line.strip() for line in said.splitlines() if line.strip()][-SAID_LINES:]
    return {"guest": "does not answer", **({"console": " / ".join(end)} if end else {})}


def _one(thing: Path, case: Case, topology: Topology, found: Mapping[str, Any]) -> Observation | None:
    """The observation of a thing; None for a file system without a mount point, which cannot be seen."""
    predicted = case.outcome(thing)
    if thing[0] == "swap" and case.at_boot:
        active = found["swaps"][thing[1]]
        return Observation(thing, predicted, active, {"active": active})
    if thing == MACHINE or thing[0] == "swap":
        swap = found["swap"]
        if thing != MACHINE and (not swap or len(topology.layout.swap) > 1):
            return (
                None  # no process is in it, or one in all areas: which of them was lost cannot be told apart
            )
        works = not swap or (swap["alive"] and swap["reads"] and not swap["error"])
        works = works and (thing != MACHINE or _stands(found["mounts"].get("/")))
        return Observation(thing, predicted, works, swap)
    if thing[0] == "arrays":
        array = found["arrays"][thing[1]]
        reads = array.get("read") == "" and array.get("array_state") not in ("inactive", "broken", "clear")
        return Observation(thing, predicted, reads, array, _away(str(thing[1]), case, topology))
    mount = topology.layout.filesystems[str(thing[1])].mount
    if not mount:
        return None
    state = found["mounts"][mount]
    return Observation(thing, predicted, _stands(state), _shown(state))


def _away(name: str, case: Case, topology: Topology) -> range:
    """How many members an array may lack: no others than those that are gone, and all that are certain to be where no spare takes their place.

    Of a disk udev tells md at once. Of another device that stopped while the system runs, md learns when it is written to.
    """
    array = topology.layout.arrays[name]
    if case.outcome(("arrays", name)) is Outcome.INTACT:
        return range(1)
    things = [topology.provider[member].path for member in array.named_members]
    disks = sum(thing[:-1] == DISKS and thing[-1] in case.disks for thing in things)
    others = [thing for thing in things if not case.outcome(thing).survives]
    least = disks
    if case.at_boot or name in _written(topology.layout):
        lost = (thing for thing in others if case.outcome(thing) is Outcome.LOST)
        least += sum(thing not in case.unpredicted for thing in lost)
    return range(0 if array.spares or case.fault is Fault.STALE else least, disks + len(others) + 1)


def _written(layout: Layout) -> set[str | None]:
    """The devices that a writer or the swapped process writes to."""
    filesystems = {entry.device for entry in layout.filesystems.values() if entry.mount}
    return filesystems | {entry.device for entry in layout.swap.values()}


def _stands(state: Mapping[str, Any] | None) -> bool:
    """A mount reads and writes, and has all the time; one that the layout does not have does."""
    if state is None:
        return True
    return bool(state["mounted"] and not state["writer"] and state["write"] == "" and reads_back(state))


def _shown(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Not every number of a file system of which nothing reads back."""
    read = state["read"]
    return (
        {**state, "read": {**read, "damaged": read["damaged"][:SHOWN]}} if isinstance(read, dict) else state
    )
