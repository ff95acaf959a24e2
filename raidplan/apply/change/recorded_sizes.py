"""Sizes that existing file systems, swap areas and physical volumes have recorded as their own, beside the planned size of their device.

Plans promise no such size: one that cannot be read differs from nothing, and one that differs is a reason to refuse and never one
to make the object again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from raidplan.apply.change.change import follows_policy
from raidplan.apply.change.difference import Difference
from raidplan.apply.change.fixed_properties import device_sizes, standing
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import Identity, disk_word
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.facts.prove import Deviation, differing
from raidplan.plan.identities import device_names
from raidplan.plan.step import Plan, Proof, Step

MOST_PAGES = 2**32
"""Pages of a swap area, whose last one has a number of 32 bits."""


def sizes_differ(plan: Plan, steps: Sequence[Step], machine: Machine, past: Past) -> Iterator[Refusal]:
    """The reasons to refuse, of the objects that these steps have made."""
    sizes = _planned_sizes(plan, machine)
    for step in steps:
        there = standing(step.proof, machine) if step.proof and step.creates else None
        if not step.proof or not there:
            continue
        found = _with_extent(there, machine)
        if not (differs := _differs(step.proof, found, sizes)):
            continue
        size = Difference(step, differs.name, differs.planned, differs.found, found, machine, plan, past)
        yield replace(
            size.by_hand.refusal,
            place=step.because,
            line=step.line,
            deviations=(replace(differs, names=device_names(plan)),),
        )


def _planned_sizes(plan: Plan, machine: Machine) -> dict[str, int]:
    """The bytes of devices by their identities; of a disk the fewest that it may have.

    An array whose consistency policy is changed in place keeps its size meanwhile.
    """
    steps = plan.complete.steps
    arrays = {step.id: step.proof for step in steps if step.proof and step.proof.kind == "array"}
    for id, proof in arrays.items():
        found = machine.observe("array", proof.key) or {}
        if "size" in found and follows_policy(differing(proof, machine) or ()):
            arrays[id] = proof._replace(expect={**proof.expect, "size": found["size"]})
    sizes = {disk_word(disk.name): disk.size for disk in plan.disks}
    return sizes | device_sizes(tuple(replace(step, proof=arrays.get(step.id, step.proof)) for step in steps))


def _differs(proof: Proof, found: Properties, sizes: Mapping[str, int]) -> Deviation | None:
    """The difference between the recorded size and the one that the same object has on its device when that is as planned."""
    device = str(proof.expect.get("device"))
    name, planned = _wanted(proof, found, sizes.get(device, 0))
    now = found.get(name)
    # A disk may have more than it has to have, and then what is on it has more too.
    is_more = isinstance(now, int) and now > planned and bool(Identity.read(device).disk)
    if not isinstance(now, int) or planned <= 0 or now == planned or is_more:
        return None
    return Deviation(name, now, planned)


def _wanted(proof: Proof, found: Properties, size: int) -> tuple[str, int]:
    """The property that has the recorded size, and its value on a device of `size` bytes; 0 where that is not known."""
    match proof.kind:
        case "filesystem" if "blocks" not in proof.expect and found.get("type") == proof.expect.get("type"):
            return "blocks", size // _number(found, "block")
        case "swap" if "page" in found and proof.key != found.get("device"):  # else each boot makes it again
            page = _number(found, "page")
            return "size", min(size // page, MOST_PAGES) * page
        case "physical_volume" if "extent" in found:
            return "extents", (size - _number(found, "data_start")) // _number(found, "extent")
    return "", 0


def _with_extent(found: Properties, machine: Machine) -> Properties:
    """A physical volume with the size of the extents of its group; anything else as it is."""
    group = machine.observe("volume_group", str(found.get("group") or ""))
    return {**found, "extent": group["extent"]} if group and group.get("extent") else found


def _number(found: Properties, name: str) -> int:
    """A size in bytes; of what was not read one that nothing is a whole number of."""
    value = found.get(name)
    return value if isinstance(value, int) and value > 0 else 2**64
