"""Existing arrays that differ: spares and the consistency policy, which mdadm changes while the array runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.apply.change.array_by_hand import policy_by_apply
from raidplan.apply.change.difference import Difference, NotInPlace, runs_as
from raidplan.apply.journal.past import Past
from raidplan.base.identity import Identity, disk_word
from raidplan.base.magic import member_of
from raidplan.facts import Machine
from raidplan.facts.arrays import BROKEN, NOT_STARTED
from raidplan.facts.carriers import carriers_of
from raidplan.facts.machine import BlockFact, texts
from raidplan.facts.members import SIZE, positions
from raidplan.facts.ranges import BACK, FRONT, behind_all, ends_of
from raidplan.plan.changes import FAILED_REMOVED, SPARE_ADDED, SPARE_REMOVED, argv, fill
from raidplan.plan.identities import identity_of, made_nodes, node_of
from raidplan.plan.loss import Loss, everything_on
from raidplan.plan.origin import Origin
from raidplan.plan.step import Plan, Step, Zero


def consistency(difference: Difference) -> Iterator[Step]:
    """Between resync and bitmap. PPL and a write journal change the size that an array is made with."""
    runs(difference)
    planned, node = str(difference.planned), difference.node
    assert difference.step.proof is not None
    answer = policy_by_apply(difference.found, difference.step.proof.expect)
    if answer is None:
        raise difference.by_hand
    action = str(difference.found.get("sync_action", "idle"))
    if action != "idle":
        raise difference.after_sync("syncing")
    say = f"keep {difference.step.targets[0]} consistent by {planned} instead of {difference.now}"
    yield difference.then("consistency", say, argv(answer, node=node))


def redundancy(difference: Difference) -> Iterator[Step]:
    """Raises NotInPlace while a member is still rebuilding: only waiting helps. Empty slots are for `members`."""
    if "missing" not in texts(difference.found.get("members")):
        raise difference.after_sync("rebuilt")
    yield from ()


def runs(difference: Difference) -> None:
    """Raises NotInPlace if the array takes no changes in its present state."""
    state = str(difference.found.get("state"))
    if state in (*NOT_STARTED, BROKEN, "readonly", "suspended"):
        raise NotInPlace("state", state=state, node=difference.called)


def spares(difference: Difference) -> Iterator[Step]:
    """Devices that are proven blank are added; those that are not wanted are taken out, and forget the array."""
    runs(difference)
    made = made_nodes(difference.plan)
    now, planned = texts(difference.now), texts(difference.planned)
    by_identity = {identity_of(node, made): node for node in difference.step.guard}
    failed = [by_identity[each] for each in planned if each in texts(difference.found.get("faulty"))]
    if failed:  # it belongs to the array until it is removed, with a superblock that nobody may write over
        removed = fill(FAILED_REMOVED, {"node": difference.called})
        raise NotInPlace("commands", commands=(removed, *_by_hand(difference, failed)), conditions=())
    for identity in (each for each in planned if each not in now):
        yield from _added(difference, identity, by_identity[identity])
    members = texts(difference.step.proof.expect.get("members")) if difference.step.proof else []
    for identity in (each for each in now if each not in (*planned, *members)):
        node = _safe_node(difference.called, identity, difference.plan)
        say = f"take the spare {node} out of {difference.step.targets[0]}"
        remove = difference.then(
            _removal(identity),
            say,
            argv(SPARE_REMOVED, node=difference.node, old=node),
            targets=(node,),
        )
        yield remove
        yield forget_member(difference.step, identity, node, difference.machine, (remove.id,))


def _added(difference: Difference, identity: str, node: str) -> Iterator[Step]:
    uuid = difference.step.proof.key if difference.step.proof else ""
    verb = f"spare.{_short(identity)}"
    before: tuple[str, ...] = ()
    added, past = difference.step.added(verb), difference.past
    # On this very disk, as far as the journal tells: that of 43491e2 has no disks of such steps.
    ours = added in past.begun and (not past.marks.get(added) or node in past.ours.get(added, ()))
    if ours and {*difference.machine.carried(identity)} == {member_of(uuid)}:
        # It was killed before the array took it; mdadm writes the superblock first. Without one, the guard decides.
        clear = forget_member(difference.step, identity, node, difference.machine)
        yield clear
        before = (clear.id,)
    elif _is_own_spare(uuid, identity, difference.machine):
        # Somebody took it out; it has no data, but nobody but a person knows why.
        raise NotInPlace("commands", commands=_by_hand(difference, [node]), conditions=())
    yield difference.then(
        verb,
        f"add {node} to {difference.step.targets[0]} as a spare",
        argv(SPARE_ADDED, node=difference.node, new=node),
        after=before,
        targets=(node,),
        guard=(node,),
        destroys=(everything_on(node),),
    )


def _by_hand(difference: Difference, devices: Sequence[str]) -> tuple[str, ...]:
    """The commands with which a person adds the spares."""
    return tuple(
        fill(command, {"node": difference.called, "new": device})
        for device in devices
        for command in SPARE_ADDED.commands
    )


def _is_own_spare(uuid: str, identity: str, machine: Machine) -> bool:
    """Nothing is on the device but the superblock of a spare of this array."""
    roles = {each.role for each in carriers_of(uuid, machine) if each.device == identity}
    return roles == {"spare"} and {*machine.carried(identity)} == {member_of(uuid)}


def left_behind(step: Step, machine: Machine, plan: Plan, past: Past) -> Iterator[Step]:
    """The superblock that a removed spare still carries if a run was interrupted before it was cleared; on the disk that was
    removed then, and no other one of its name. Raises NotInPlace."""
    if step.proof is None or step.proof.kind != "array" or not past.is_open:
        return
    found = machine.observe("array", step.proof.key)
    if found is None:
        return
    inside = {each for name in ("members", "spares", "faulty") for each in texts(found.get(name))}
    for identity in sorted(machine.objects.get("content", {})):
        removed, forgotten = step.added(_removal(identity)), step.added(_forgetting(identity))
        ours = member_of(step.proof.key) in machine.carried(identity)
        if ours and identity not in inside and removed in past.begun | past.ended | past.moved:
            node = _safe_node(runs_as(step.awaits[0], found), identity, plan, "left-spare")
            if any(node in past.ours.get(each, ()) for each in (removed, forgotten)):
                yield forget_member(step, identity, node, machine)


def taken_out(steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """The steps that take a spare out of an array before another one clears it: the id of each, and the spare as that names it."""
    cleared = [step for step in steps if step.origin.kind == "change" and isinstance(step.action, Zero)]
    return {
        step.id: (clear.action.device,)
        for clear in cleared
        for step in steps
        if isinstance(clear.action, Zero) and step.id in clear.needs and clear.action.device in step.targets
    }


def forget_member(
    step: Step, identity: str, node: str, machine: Machine, after: tuple[str, ...] = ()
) -> Step:
    """Takes the superblock of the array from a device that is not in it, and its bitmap, which mdadm would leave there.

    Else the device could not be proven blank when it is wanted again. Raises NotInPlace if something came onto it since that was begun.
    """
    later = (machine.observe("content", identity) or {}).get("later")
    if isinstance(later, int):
        raise NotInPlace("later", device=node, offset=later)
    name, uuid = step.targets[0], step.proof.key if step.proof else ""
    block = next((block for block in machine.blocks if block.identity == identity), None)
    found = tuple(one for one in block.found if one.content == member_of(uuid)) if block else ()
    return Step(
        id=step.added(_forgetting(identity)),
        phase=step.phase,
        say=f"let {node} forget that it belonged to {name}",
        action=Zero(node, _superblock_last(block, step), found),
        because=step.because,
        line=step.line,
        needs=(*step.needs, *after),
        targets=(*step.targets, node),
        destroys=(Loss("ends", node, uuid),),
        clears=(node,),
        origin=Origin("change", step.id),
    )


def _superblock_last(block: BlockFact | None, step: Step) -> tuple[tuple[int, int], ...]:
    """Both ends of a device, and the superblock of the array behind all else: an apply that goes on knows the rest by it."""
    ends = ((0, FRONT), (-BACK, BACK))
    version = str(step.proof.expect.get("metadata")) if step.proof else ""
    at = positions(block.size).get(version) if block else None
    return (
        ends
        if block is None or at is None
        else behind_all(ends_of(block.size, [(0, block.size)], ()), at, SIZE)
    )


def _safe_node(array: str, identity: str, plan: Plan, case: str = "spare-of-others") -> str:
    """A stable name of the device. Raises NotInPlace if the device is not in this layout."""
    if identity in _of_layout(plan):
        return node_of(identity)
    for node, made in made_nodes(plan).items():
        if made == identity:
            return node
    raise NotInPlace(case, device=node_of(identity), array=array)


def _of_layout(plan: Plan) -> set[str]:
    """The disks of a plan and the partitions of their tables, as proofs call them."""
    parts = {row.identity for step in plan.steps if step.proof for row in step.proof.partitions}
    return parts | {disk_word(disk.name) for disk in plan.disks}


def _removal(identity: str) -> str:
    """The verb of the step that takes a spare out."""
    return f"remove.{_short(identity)}"


def _forgetting(identity: str) -> str:
    """The verb of the step that clears the superblock of a device."""
    return f"forget.{_short(identity)}"


def _short(identity: str) -> str:
    return Identity.read(identity).key
