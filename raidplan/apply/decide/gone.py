"""Objects that an apply made and that have disappeared from the very disks on which it made them.

A few samples of a device cannot tell a blank one from one whose first MiB was overwritten, and where the rest can be brought
back (a backup superblock, a copy of a LUKS header, LVM's own backups), a new object in its place would be the end of that.
So a person says whether anybody needs it. On another disk, and where what it stood on is made anew as well, nothing of it is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidplan.apply.decide.lost_superblocks import is_known_on, was_made_before
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.base.identity import Identity, disk_word
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import has_number
from raidplan.facts.prove import differences
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.origin import id_of_stop
from raidplan.plan.step import Plan, Step

WITH_DATA = ("filesystem", "encryption", "physical_volume")
"""The kinds of objects that hold what a person cannot make again. Arrays and their tables have reasons of their own
(lost_superblocks.py, lost_tables.py), and swap holds nothing."""


def is_gone(step: Step, machine: Machine, plan: Plan, past: Past) -> bool:
    """Whether an object that the open run made has disappeared, or one with data of any run; one that was lost with a replaced
    disk does not count, nor one whose device is cleared by consent."""
    if not is_missing(step, machine):
        return False
    made = made_nodes(plan)
    below = [Identity.read(identity_of(node, made)) for node in step.guard]
    stands = any(kind == "array" and machine.observe(kind, key) for kind, key in below)
    if step.id in past.ended or (step.id in past.moved and stands):
        return True
    return _has_stood(step, machine, plan, past) and not _is_given_up(step, machine, plan, past)


def is_missing(step: Step, machine: Machine) -> bool:
    """The step writes over a device, and its object is nowhere."""
    return step.creates and step.proof is not None and differences(step.proof, machine) is None


def is_removed(step: Step, machine: Machine, plan: Plan, past: Past) -> bool:
    """Whether a volume with nothing of the layout on it, which somebody may have filled, is missing from physical volumes that are
    those of then. LVM can bring it back as long as no other one begins at its place. One of the open run can be lost with
    the power, before the disks had written LVM's metadata, and nobody has filled it yet."""
    if step.proof is None or step.proof.kind != "volume" or differences(step.proof, machine) is not None:
        return False
    if past.is_open and step.id in past.run:
        return False
    since = past.finished.get(step.id)
    if since is None or any(set(each.guard) & set(step.awaits) for each in plan.steps):
        return False
    return any(
        not is_missing(each, machine) and was_made_before(since, each, past) for each in beneath(step, plan)
    )


def beneath(step: Step, plan: Plan) -> Iterator[Step]:
    """The steps that wrote what the devices of a step are made of: the array, the header, the physical volumes, the table; for a
    volume, its physical volumes."""
    steps = {each.id: each for each in plan.steps}
    volume = [*step.needs] if step.proof and step.proof.kind == "volume" else []
    ids = [
        each.id for each in plan.steps if set(each.awaits) & set(step.guard) and each.id != step.id
    ] or volume
    seen: set[str] = set()
    while ids:
        each = steps[ids.pop()]
        if each.creates and each.id not in seen:
            yield each
        elif each.id not in seen:
            ids += [need for need in each.needs if need in steps]
        seen.add(each.id)


def without_number(plan: Plan, disks: Mapping[str, DiskFact]) -> frozenset[str]:
    """The partitioned disks, as steps name them, with neither a serial number nor a WWN; `disks` by layout name. One that has lost its
    table cannot be told from a new one."""
    tables = (step.guard for step in plan.steps if step.proof and step.proof.kind == "table")
    nodes = {node for guard in tables for node in guard}
    known = {disk_word(name) for name, disk in disks.items() if has_number(disk)}
    return frozenset(nodes - known)


def devices_of_gone(plan: Plan, machine: Machine, past: Past) -> frozenset[str]:
    """The devices (as steps name them) on which, by the journal, an object of the layout stood that is missing now: bytes there that
    nothing recognises are what is left of it."""
    lost = [step for step in plan.steps if is_missing(step, machine) and made_by(step) in past.made]
    return frozenset(
        node
        for step in lost
        for node in step.guard
        if is_known_on(node, step, plan, past) or _has_stood(step, machine, plan, past)
    )


def _has_stood(step: Step, machine: Machine, plan: Plan, past: Past) -> bool:
    """Whether by the journal the step made an object with data on these disks, or on what still stands, on whatever disks."""
    if step.proof is None or step.proof.kind not in WITH_DATA or made_by(step) not in past.made:
        return False
    if step.proof.expect.get("type") == "plain":  # with another key at each boot: nothing comes back
        return False
    stands = any(
        each.proof and each.proof.kind != "table" and not is_missing(each, machine)
        for each in beneath(step, plan)
    )
    return stands or any(is_known_on(node, step, plan, past) for node in step.guard)


def _is_given_up(step: Step, machine: Machine, plan: Plan, past: Past) -> bool:
    """The device of the step is cleared in this run, or all that it stood on is made anew, or may be on a new disk."""
    if step.proof and id_of_stop(step.proof.key) in past.begun | past.ended:
        return True
    if not past.given_up.isdisjoint(step.guard):
        return True

    def is_anew(each: Step) -> bool:
        begun = past.is_open and each.id in past.run
        return begun or (is_missing(each, machine) and _is_given_up(each, machine, plan, past))

    below = [*beneath(step, plan)]
    return bool(below) and all(map(is_anew, below))
