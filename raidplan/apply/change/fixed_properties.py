"""Properties that are fixed when an object is made and stay so when that grows or shrinks: the plan then expects no more of it.

A file system keeps the size of its blocks and the inodes of each group, a physical volume and an encryption the bytes in
front of their data, which a new one would have by the stripe of the grown array; an encryption its sectors too, where the
layout states none and a new one would have them by the disks that are there now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from raidplan.apply.note import Note, note
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.filesystems.type import Resized
from raidplan.base.identity import Identity
from raidplan.base.size import SECTORS
from raidplan.facts import Machine
from raidplan.plan.changes import contents
from raidplan.plan.step import Plan, Proof, Step, Value

OWN_SIZE = ("filesystem", "volume")
"""Kinds of objects that have the same size whatever becomes of what is below them."""
SIZED = ("array", "encryption", "physical_volume", "swap", *OWN_SIZE)
"""Kinds of objects that are made in the size of what they stand on, or of a share of it."""


def as_made(plan: Plan, machine: Machine, begun: frozenset[str] = frozenset()) -> Plan:
    """The plan whose proofs have the values that existing objects keep from when they were made; what interrupted steps left
    is none. `begun`: those steps."""
    steps = tuple(step for step in plan.complete.steps if step.id not in begun)
    due = _due(plan.complete.steps, machine, begun)
    kept = dict(_fronts(steps, machine))
    for counted_on in _counted_on(plan, kept, due):
        del kept[counted_on]
    kept |= dict(_sectors(_put(kept, plan.complete.steps), machine, begun, due))
    kept |= dict(_filesystems(steps, _put(kept, steps), machine))
    if not kept:
        return plan
    return replace(plan, steps=_put(kept, plan.steps), whole=_put(kept, plan.whole))


def fewer_inodes(plan: Plan, kept: Plan) -> Iterator[Note]:
    """Facts about file systems that keep fewer inodes than a new one of this layout would have; `kept`: the plan `as_made`."""
    now = {step.id: step.proof for step in kept.complete.steps}
    for step in plan.complete.steps:
        proof = now.get(step.id)
        if step.proof and proof and proof.kind == "filesystem" and proof != step.proof:
            has, planned = (int(str(each.expect.get("inodes", 0))) for each in (proof, step.proof))
            if has < planned:
                yield note("inodes-stay", place=step.because, line=step.line, count=has, planned=planned)


def _fronts(steps: tuple[Step, ...], machine: Machine) -> Iterator[tuple[str, Proof]]:
    """The physical volumes and encryptions that were made for another number of members, each with the id of its step."""
    chunks: dict[str, frozenset[int]] = {}
    """The chunks of all arrays that the object of a step stands on, by step."""
    for step in steps:  # each behind what it needs
        proof = step.proof
        chunk = proof.expect.get("chunk") if proof and proof.kind == "array" else None
        own = frozenset((chunk,) if isinstance(chunk, int) and chunk else ())
        chunks[step.id] = own.union(*(chunks.get(need, ()) for need in step.needs))
        key = contents.FRONTS.get(proof.kind, ("", 0))[0] if proof else ""
        found = standing(proof, machine) if proof and key in proof.expect else None
        if proof and found and contents.front_stays(proof.kind, found.get(key), chunks[step.id]):
            yield step.id, _with(proof, {key: found[key]})


def _due(steps: tuple[Step, ...], machine: Machine, begun: frozenset[str]) -> frozenset[str]:
    """The steps that are still to make something as large as what it stands on, or of a share of it."""
    return frozenset(
        step.id
        for step in steps
        if step.proof
        and step.proof.kind in SIZED
        and (step.id in begun or machine.observe(step.proof.kind, step.proof.key) is None)
    )


def _counted_on(plan: Plan, kept: Mapping[str, Proof], due: frozenset[str]) -> frozenset[str]:
    """The steps, of those that keep other bytes in front, on which something is planned that is still to be made.

    Its command has the size that is planned; a volume is made of extents, and fits where there is more room than that.
    """
    found: set[str] = set()
    below: dict[str, frozenset[str]] = {}
    """By step, those whose bytes in front leave less or more room for its object."""
    less: set[str] = set()
    for step in plan.complete.steps:  # each behind what it needs
        on = frozenset[str]().union(*(below.get(need, ()) for need in step.needs))
        kind = step.proof.kind if step.proof else ""
        if step.id in due:
            found |= on & less if kind == "volume" else on
        elif kind in OWN_SIZE:
            on = frozenset()
        if step.proof and step.id in kept:
            key = contents.FRONTS[kind][0]
            on |= {step.id}
            if int(str(kept[step.id].expect[key])) > int(str(step.proof.expect[key])):
                less.add(step.id)
        below[step.id] = on
    return frozenset(found)


def _sectors(
    steps: tuple[Step, ...], machine: Machine, begun: frozenset[str], due: frozenset[str]
) -> Iterator[tuple[str, Proof]]:
    """The encryptions that stand with sectors of another size than the disks below would have made them, where the layout
    states none. Larger ones than planned stay only if nothing is to be made on them, which would not fit their sectors."""
    below: dict[str, frozenset[str]] = {}
    """All steps that a step needs, and itself."""
    for step in steps:  # each behind what it needs
        below[step.id] = frozenset((step.id,)).union(*(below.get(need, ()) for need in step.needs))
    counted_on = frozenset[str]().union(*(below[step] - {step} for step in due))
    for step in steps:
        proof, key = step.proof, "sector_size"
        if step.id in begun or not proof or proof.kind != "encryption" or key in proof.stated:
            continue
        match (standing(proof, machine) or {}).get(key), proof.expect.get(key):
            case int(size), int(planned) if size in SECTORS and size != planned:
                if size < planned or step.id not in counted_on:
                    yield step.id, _with(proof, {key: size})


def _filesystems(
    planned: tuple[Step, ...], steps: tuple[Step, ...], machine: Machine
) -> Iterator[tuple[str, Proof]]:
    """By step, file systems with the blocks and inodes of another size, or on an encryption that begins elsewhere than planned."""
    sizes, now = device_sizes(planned), device_sizes(steps)
    sector = max((disk.logical_block for disk in machine.disks), default=0)
    for step in steps:
        proof = step.proof
        found = standing(proof, machine) if proof and proof.kind == "filesystem" else None
        if not proof or not found or not _is_or_becomes(found.get("type"), proof.expect["type"]):
            continue
        device = str(proof.expect["device"])
        more = now[device] - sizes[device] if device in now else 0
        made = FILESYSTEMS[str(proof.expect["type"])]
        kept = made.kept(found, proof.expect, Resized(now.get(device, 0), more, sector))
        if kept:
            yield step.id, _with(proof, kept)


def _is_or_becomes(found: Value, planned: Value) -> bool:
    """Whether a file system of the type `found` is one of the planned type, or is converted to one and stays as it was made."""
    known = FILESYSTEMS.get(str(found))
    return known is not None and (found == planned or known.becomes(str(planned)).possible)


def device_sizes(steps: tuple[Step, ...]) -> dict[str, int]:
    """The bytes of devices once the layout is made, by their identities."""
    sizes: dict[str, int] = {}
    for step in steps:  # each behind what it needs
        for proof in [step.proof] if step.proof else ():
            sizes |= {row.identity: row.size for row in proof.partitions}
            size, below = proof.expect.get("size"), sizes.get(str(proof.expect.get("device")))
            if proof.kind in ("array", "volume") and isinstance(size, int):
                sizes[str(proof.identity)] = size
            offset = proof.expect.get("data_offset")
            if proof.kind == "encryption" and below and isinstance(offset, int):
                sizes[str(Identity("mapping", proof.key))] = below - offset
    return sizes


def standing(proof: Proof, machine: Machine) -> Mapping[str, Value] | None:
    """The object, if it is there and on the planned device."""
    found = machine.observe(proof.kind, proof.key)
    return found if found and found.get("device") == proof.expect.get("device") else None


def _put(proofs: Mapping[str, Proof], steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(replace(step, proof=proofs[step.id]) if step.id in proofs else step for step in steps)


def _with(proof: Proof, values: Mapping[str, Value]) -> Proof:
    return proof._replace(expect={**proof.expect, **values})
