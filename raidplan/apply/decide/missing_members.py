"""The members that an array of the plan has lost: by its slots where it runs, else by the superblocks on its devices.

An array that does not run has the form that its superblocks tell: a layout may have grown since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from raidplan.apply.change.members import MISSING
from raidplan.base.identity import NODE, Identity
from raidplan.base.levels import LEVELS, losses_survived, survives
from raidplan.base.magic import member_of
from raidplan.facts import Machine
from raidplan.facts.arrays import NOT_STARTED
from raidplan.facts.carriers import Carrier, behind, carriers_of, newest_of, slots_of
from raidplan.facts.machine import Properties, texts
from raidplan.plan.step import Step

NOT_THERE: Properties = {}


@dataclass(frozen=True, slots=True)
class MissingMembers:
    """The slots that an array has lost, of so many; `behind`: its devices that are there, and older than the others."""

    level: str
    members: int
    layout: str | None
    lost: tuple[int, ...]
    behind: tuple[str, ...] = ()

    @property
    def survived(self) -> int:
        """The number of members that it can always lose."""
        return min(losses_survived(self.level, self.members, self.layout), self.members - 1)

    @property
    def is_survived(self) -> bool:
        """The others have all of the data."""
        return survives(self.level, self.members, self.layout, self.lost)


def loss_of(step: Step, found: Properties, machine: Machine) -> MissingMembers | None:
    """The loss of an array now; None where nothing is left of it, or its level is none that is known here."""
    if is_started(found):
        members = texts(found.get("members"))
        slots = tuple(slot for slot, one in enumerate(members) if is_lost(one, machine))
        return _loss(str(found.get("level")), len(members), str(found.get("layout") or ""), slots)
    there = carriers(step, found, machine)
    return _loss_without(step, there, behind(there)) if found or there else None


def loss_at_best(step: Step, found: Properties, machine: Machine) -> MissingMembers | None:
    """The loss once all is assembled that has data, also what is behind; of an array without a superblock all is lost."""
    return _loss_without(step, carriers(step, found, machine), ())


def _loss_without(step: Step, there: Sequence[Carrier], late: Sequence[Carrier]) -> MissingMembers | None:
    form = newest_of(there) or _planned(step, "", -1)
    have = slots_of(each for each in there if each not in late)
    lost = tuple(slot for slot in range(form.members) if slot not in have)
    return _loss(form.level, form.members, form.layout, lost, tuple(each.device for each in late))


def _loss(
    level: str, members: int, layout: str, lost: tuple[int, ...], late: tuple[str, ...] = ()
) -> MissingMembers | None:
    try:
        known = LEVELS[level].copies_of(members, layout or None) > 0 and members > 0
    except (KeyError, ValueError):
        return None
    return MissingMembers(level, members, layout or None, lost, late) if known else None


def is_started(found: Properties) -> bool:
    """The array is there, and md has started it."""
    return bool(found) and found.get("state") not in NOT_STARTED


def is_lost(member: str, machine: Machine) -> bool:
    """The slot is empty, or its device is gone: a level without redundancy keeps the name of one in its slot."""
    if member == MISSING or Identity.read(member).kind != NODE:
        return member == MISSING
    nodes = {block.identity for block in machine.blocks}
    return bool(nodes) and member not in nodes


def wanted(step: Step) -> tuple[str, ...]:
    """The members in the layout, by slot."""
    return tuple(texts(step.proof.expect.get("members")) if step.proof else ())


def carries(identity: str, step: Step, machine: Machine) -> bool:
    """The device has the superblock of the step's array."""
    return step.proof is not None and member_of(step.proof.key) in machine.carried(identity)


def carriers(step: Step, found: Properties, machine: Machine) -> list[Carrier]:
    """The devices with a superblock of the step's array: those of the layout, and those in the array.

    A planned member of which nothing more is known, as in a snapshot of an earlier version, counts as one in its place.
    """
    assert step.proof is not None
    expect, planned = step.proof.expect, wanted(step)
    inside = (
        each
        for key in ("members", "spares", "faulty", "journal")
        for each in (texts(found.get(key)) or [str(found.get(key, ""))])
    )
    possible = dict.fromkeys(
        (*planned, *texts(expect.get("spares")), str(expect.get("journal", "")), *inside)
    )
    told = [each for each in carriers_of(step.proof.key, machine) if each.device in possible and carries(each.device, step, machine)]  # fmt: skip
    known = {each.device for each in told}
    untold = (
        _planned(step, identity, slot)
        for slot, identity in enumerate(planned)
        if identity not in known and carries(identity, step, machine)
    )
    return [*told, *untold]


def _planned(step: Step, device: str, slot: int) -> Carrier:
    """A member in its slot, in the form that the layout has."""
    assert step.proof is not None
    expect = step.proof.expect
    level, layout = str(expect["level"]), str(expect.get("layout") or "")
    return Carrier(step.proof.key, device, level, len(wanted(step)), layout, "data", slot, -1)


def added_since(step: Step, loss: MissingMembers | None, machine: Machine) -> frozenset[str]:
    """The members in the layout that the array, of another number of members, does not know: nothing of it is on them."""
    planned = wanted(step)
    if loss is None or loss.members == len(planned):
        return frozenset()
    lacking = {planned[slot] for slot in loss.lost if slot < len(planned)}
    return frozenset(each for each in planned if each not in lacking and not carries(each, step, machine))


def best_of(there: Iterable[Carrier]) -> list[Carrier]:
    """The devices of which an array is assembled: for each slot the one that was updated last, then its write journal."""
    slots: dict[int, Carrier] = {}
    journals: list[Carrier] = []
    for each in there:
        if each.has_data and (each.slot not in slots or slots[each.slot].events < each.events):
            slots[each.slot] = each
        elif each.role == "journal":
            journals.append(each)
    return [*(slots[slot] for slot in sorted(slots)), *journals]
