"""Arrays that an earlier apply made, and of whose members too many carry no superblock any more: the data can be whole.

The journal knows on which disks, in which order and with which geometry, so the command that writes the superblocks again
is known as well. Nothing else is written over such an array, whatever the layout allows to be wiped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.apply.decide.missing_members import NOT_THERE, carriers, carries, loss_at_best, wanted
from raidplan.apply.decide.redo_steps import half_done
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.hidden import escaped
from raidplan.base.levels import survives
from raidplan.base.size import KIB
from raidplan.facts import Machine
from raidplan.facts.arrays import NOT_STARTED
from raidplan.facts.carriers import behind
from raidplan.facts.machine import BlockFact, texts
from raidplan.geometry.md_member import default_data_offset
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.origin import id_of_stop
from raidplan.plan.step import Plan, Run, Step

KEPT = ("--metadata=", "--homehost=", "--name=", "--uuid=", "--level=", "--raid-devices=", "--spare-devices=", "--chunk=",
        "--layout=", "--bitmap=", "--consistency-policy=")  # fmt: skip
"""The options of `mdadm --create` that decide where the data lies and what the array is called."""


def superblocks_lost(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """A refusal for each such array, with the command that brings it back; not those that a run has given up. A member that is
    not there, because its disk is a new one, can be rebuilt from the others: one that the array needs is lost with its data."""
    made = made_nodes(plan)
    for step in plan.steps:
        if not (has_stood(step, machine, past) and too_few(step, machine) and _is_as_planned(step, machine)):
            continue
        members = [_block(identity_of(node, made), machine) for node in step.guard]
        bare = _without_superblock(step, members, machine)
        if not bare or not _can_lose(step, members):
            continue
        as_made = step.id in past.standing
        known = as_made or any(
            is_known_on(node, step, plan, past) for node in (step.guard if all(members) else bare)
        )
        if known or any(block.content for block in members if block):
            spares = _spares(step, members)
            yield refusal(
                "superblocks-lost",
                "with-spares" if spares else "" if as_made else "changed",
                place=step.because,
                line=step.line,
                began=past.made_at.get(made_by(step), ""),
                devices=len(members),
                command=_stopped(step, machine) + " ".join(create_again(step, members)),
                node=step.awaits[0],
                **{"spares": spares} if spares else {},
            )


def _without_superblock(step: Step, members: Sequence[BlockFact | None], machine: Machine) -> list[str]:
    """The devices that are there and carry no superblock of the array, as the step names them."""
    pairs = zip(step.guard, members, strict=True)
    return [node for node, block in pairs if block and not carries(block.identity, step, machine)]


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
        _in_command(node, block)
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
    """By the journal the step worked on the disk that has this device now, or that disk has the partition table of then."""
    tables = (
        each.id for each in plan.steps if node in each.awaits and each.proof and each.proof.kind == "table"
    )
    return node in past.same_disks.get(step.id, ()) or any(table in past.standing for table in tables)


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


def _is_as_planned(step: Step, machine: Machine) -> bool:
    """No superblock that is left tells another form than the layout has, or another place of its device.

    Written anew, it would be the end of all that is known of how the data lies.
    """
    assert step.proof is not None
    expect, planned = step.proof.expect, wanted(step)
    there = carriers(step, machine.observe("array", step.proof.key) or NOT_THERE, machine)
    form = {(each.level, each.members) for each in there}
    places = {each.slot: each.device for each in there if each.slot >= 0}
    return (
        form <= {(expect["level"], len(planned))}
        and not behind(there)
        and all(each.has_data for each in there if each.device in planned)
        and all(slot < len(planned) and planned[slot] == device for slot, device in places.items())
    )


def create_again(step: Step, members: Sequence[BlockFact | None]) -> tuple[str, ...]:
    """The command that writes the superblocks of the step's array again, in the same order, and starts it read-only.

    `members` in the order of the guard, None for one that is not there; the data offset is that of `mdadm --create`
    (geometry/md_member.py). A write journal is left out: what it held is lost, and mdadm adds another one afterwards. So is
    each spare where one is not there.
    """
    assert step.proof is not None and isinstance(step.action, Run)
    expect, journal = step.proof.expect, step.proof.expect.get("journal")
    out = {journal}
    kept = [word for word in step.action.argv if word.startswith(KEPT)]
    if journal:
        kept = [word for word in kept if not word.startswith("--consistency-policy=")]
    there = [block for block in members if block]
    if not {*texts(expect.get("spares"))} <= {block.identity for block in there}:
        kept = [word for word in kept if not word.startswith("--spare-devices=")]
        out |= {*texts(expect.get("spares"))}
    metadata, chunk = str(expect["metadata"]), expect.get("chunk")
    if metadata in ("1.1", "1.2"):
        offset = default_data_offset(
            there[0].size,
            level=str(expect["level"]),
            chunk=chunk if isinstance(chunk, int) else None,
            metadata=metadata,
            ppl=expect.get("consistency") == "ppl",
        )
        kept.append(f"--data-offset={offset // KIB}K")
    devices = [
        _in_command(node, block) if block else "missing"
        for place, (node, block) in enumerate(zip(step.guard, members, strict=True))
        if (block.identity not in out if block else place < len(wanted(step)))
    ]
    return ("mdadm", "--create", step.awaits[0], "--readonly", "--assume-clean", *kept, *devices)


def _in_command(node: str, block: BlockFact) -> str:
    """The name in the command of a device, by its name in steps."""
    return escaped(node if node.startswith("/") else f"/dev/{block.name}")
