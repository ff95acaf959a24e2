"""Arrays that an earlier apply made, and of whose members too many carry no superblock any more: the data can be whole.

The journal knows on which disks, in which order and with which geometry, so the command that writes the superblocks again
is known as well. Nothing else is written over such an array, whatever the layout allows to be wiped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from raidplan.apply.decide.create_again import create_again, data_offset, in_command
from raidplan.apply.decide.missing_members import NOT_THERE, carriers, carries, loss_at_best, wanted
from raidplan.apply.decide.redo_steps import half_done
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import disks_below
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figure
from raidplan.base.levels import survives
from raidplan.facts import Machine
from raidplan.facts.arrays import NOT_STARTED
from raidplan.facts.carriers import Carrier, behind
from raidplan.facts.machine import BlockFact, texts
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.origin import id_of_stop
from raidplan.plan.step import Plan, Step


def superblocks_lost(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """A refusal for each such array, with the command that brings it back; not those that a run has given up.

    A member that is not there, because its disk is a new one, can be rebuilt from the others: one that the array needs is lost with
    its data. If such a one looks new and may not be, nothing is written either, and no command would be right.
    """
    made = made_nodes(plan)
    for step in plan.steps:
        if not (has_stood(step, machine, past) and too_few(step, machine) and _is_as_planned(step, machine)):
            continue
        there = {node: _block(identity_of(node, made), machine) for node in step.guard}
        new = {
            node: in_command(node, block)
            for node, block in there.items()
            if block and _looks_new(node, block, step, plan, machine, past)
        }
        this_run = [node for node in new if _is_of_this_run(node, plan, past)]
        members = [None if node in new else block for node, block in there.items()]
        if all(block is None or carries(block.identity, step, machine) for block in members):
            continue
        began = past.made_at.get(made_by(step), "")
        figures: dict[str, Figure] = {"began": began, "devices": len(members), "node": step.awaits[0]}
        if _can_lose(step, members):
            spares = _spares(step, members)
            offset = data_offset(step, members, carriers_on(step, machine))
            if offset is None:
                figures |= {
                    "away": tuple(node for node, block in zip(step.guard, members, strict=True) if not block)
                }
                yield Refusal("superblocks-lost", "unplaced", step.because, step.line, figures)
                continue
            case = "with-spares" if spares else "" if step.id in past.standing else "changed"
            command = _stopped(step, machine) + " ".join(create_again(step, members, offset))
            figures |= {"command": command, **({"spares": spares} if spares else {})}
            yield Refusal("superblocks-lost", case, step.because, step.line, figures)
        # What this run itself made blank is no lost member: with any other one, an array could still be there.
        elif _can_lose(step, [None if node in this_run else block for node, block in there.items()]):
            figures |= {"blank": tuple(new.values())}
            yield Refusal("superblocks-lost", "blank", step.because, step.line, figures)


def _looks_new(node: str, block: BlockFact, step: Step, plan: Plan, machine: Machine, past: Past) -> bool:
    """The device looks blank, and by the journal the array never was on it: as a member that is called clean it would give zeroes
    for data."""
    if block.content or carries(block.identity, step, machine) or is_known_on(node, step, plan, past):
        return False
    # An array below this one is the same whatever its disks are now.
    arrays = (each for each in _makers(node, plan) if each.proof and each.proof.kind == "array")
    return not any(_is_older(each, step, past) for each in arrays)


def _is_of_this_run(node: str, plan: Plan, past: Past) -> bool:
    """The open run itself made the device: there was none before."""
    return past.is_open and any(each.id in past.run for each in _makers(node, plan))


def _can_lose(step: Step, members: Sequence[BlockFact | None]) -> bool:
    """The array has all of its data without the members that are not there."""
    assert step.proof is not None
    expect, there = step.proof.expect, {block.identity for block in members if block}
    absent = [slot for slot, identity in enumerate(wanted(step)) if identity not in there]
    layout = str(expect.get("layout") or "") or None
    return not absent or survives(str(expect["level"]), len(wanted(step)), layout, absent)


def _spares(step: Step, members: Sequence[BlockFact | None]) -> tuple[str, ...]:
    """The spares of the layout, by their names in the command; md may have rebuilt any slot onto one since."""
    assert step.proof is not None
    spares = texts(step.proof.expect.get("spares"))
    return tuple(
        in_command(node, block)
        for node, block in zip(step.guard, members, strict=True)
        if block and block.identity in spares
    )


def has_stood(step: Step, machine: Machine, past: Past) -> bool:
    """The step made an array, which does not run now; no run has given it up, or is about to make it.

    Of members that are left, udev assembles one that is not started.
    """
    if step.proof is None or step.proof.kind != "array":
        return False
    found = machine.observe("array", step.proof.key)
    if found and found.get("state") not in NOT_STARTED:
        return False
    return made_by(step) in past.made and not half_done(step, machine, past) and not is_given_up(step, past)


def is_known_on(node: str, step: Step, plan: Plan, past: Past) -> bool:
    """By the journal the object of the step was made on the disk that has this device now, or was given it since; or that disk
    has the partition table of then. A table that was made after the object is that of a new disk."""
    if node in past.same_disks.get(step.id, ()):
        return True
    tables = (each for each in _makers(node, plan) if each.proof and each.proof.kind == "table")
    return any(table.id in past.standing and _is_older(table, step, past) for table in tables)


def _makers(node: str, plan: Plan) -> list[Step]:
    """The steps that make what a device is: the table that has it, or the array that it is."""
    return [step for step in plan.steps if node in step.awaits and step.creates]


def _is_older(below: Step, step: Step, past: Past) -> bool:
    """By the journal the object of the one was made before that of the other one was made, or last changed."""
    return was_made_before(past.changed_in.get(made_by(step), 0), below, past)


def was_made_before(record: int, step: Step, past: Past) -> bool:
    """The object of a step was made when that record was written, and no open run has begun to make it anew."""
    made = made_by(step)
    return made in past.made and step.id not in past.begun and past.made_in.get(made, 0) <= record


def is_given_up(step: Step, past: Past) -> bool:
    """The open run stopped the array, which a person gave up, and has not made it since."""
    assert step.proof is not None
    return id_of_stop(step.proof.key) in past.begun | past.ended and step.id not in past.ended


def _stopped(step: Step, machine: Machine) -> str:
    """The command before that which makes an array again, where members of it are held by one that is not started."""
    assert step.proof is not None
    found = machine.observe("array", step.proof.key)
    return f"mdadm --stop {found['node']} && " if found else ""


def _block(identity: str, machine: Machine) -> BlockFact | None:
    return next((block for block in machine.blocks if block.identity == identity), None)


def too_few(step: Step, machine: Machine) -> bool:
    """Fewer members carry the superblock than the array needs to start, by the form that it has there."""
    assert step.proof is not None
    loss = loss_at_best(step, machine.observe("array", step.proof.key) or NOT_THERE, machine)
    return loss is not None and not loss.is_survived


def carriers_on(step: Step, machine: Machine) -> list[Carrier]:
    """The devices with a superblock of the step's array."""
    assert step.proof is not None
    return carriers(step, machine.observe("array", step.proof.key) or NOT_THERE, machine)


def with_all_disks(refusals: Iterable[Refusal], plan: Plan, present: Collection[str]) -> Iterator[Refusal]:
    """The refusals; of an array of which a disk is not there now, without a command: it may have the superblock that the others lost."""
    below = disks_below(plan)
    arrays = {
        step.because: below[step.id]
        for step in plan.steps
        if step.creates and step.proof and step.proof.kind == "array"
    }
    for each in refusals:
        away = arrays.get(each.place, frozenset()) - {*present} if each.code == "superblocks-lost" else ()
        if away:
            figures = {
                key: value for key, value in each.figures.items() if key in ("began", "devices", "node")
            }
            each = replace(each, case="disks-away", figures=figures | {"away": tuple(sorted(away))})
        yield each


def _is_as_planned(step: Step, machine: Machine) -> bool:
    """No superblock that is left tells another form than the layout has, or another place of its device.

    Written anew, it would be the end of all that is known of how the data lies.
    """
    assert step.proof is not None
    expect, planned = step.proof.expect, wanted(step)
    there = carriers_on(step, machine)
    form = {(each.level, each.members) for each in there}
    chunks = {each.chunk for each in there if each.chunk >= 0 and "chunk" in expect}
    layouts = {each.layout for each in there if each.layout and "layout" in expect}
    places = {each.slot: each.device for each in there if each.slot >= 0}
    return (
        form <= {(expect["level"], len(planned))}
        and chunks <= {expect.get("chunk")}
        and layouts <= {expect.get("layout")}
        and not behind(there)
        and all(each.has_data for each in there if each.device in planned)
        and all(slot < len(planned) and planned[slot] == device for slot, device in places.items())
    )
