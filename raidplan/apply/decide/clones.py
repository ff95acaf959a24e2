"""Copies of a member (dd, a disk's clone) that an array took in place of the member itself.

md knows a member by its superblock alone, and takes whichever of the two it finds first. The disk of the layout is the member,
the other one the clone. The events of both can be the same although one missed writes, so neither is taken back as it is:
the array goes on without the clone, and the member is rebuilt; where it cannot, nothing is written before a person has looked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.apply.change.members import MISSING
from raidplan.apply.decide.member_names import identified
from raidplan.apply.decide.missing_members import best_of, is_started, wanted
from raidplan.apply.decide.too_many_lost import assembled
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.base.identity import Identity
from raidplan.base.levels import LEVELS, survives
from raidplan.base.magic import member_of
from raidplan.facts import DiskFact, Machine
from raidplan.facts.carriers import carriers_of, slots_of
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact, Properties, texts
from raidplan.plan.disk_identity import STRONG
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Step


@dataclass(frozen=True, slots=True)
class Clone:
    """A device in the slot of a member, and the member itself, which is not in the array."""

    slot: int
    device: BlockFact
    member: BlockFact
    name: str
    """The member in the layout."""


def clones_in_arrays(plan: Plan, machine: Machine) -> Iterator[Refusal]:
    """A refusal for each array of the plan that has a clone in it, which names both devices."""
    made, stack = made_nodes(plan), Stack(machine, {})
    for step in plan.steps:
        if not step.creates or step.proof is None or step.proof.kind != "array":
            continue
        found = machine.observe("array", step.proof.key)
        if found and (clones := [*_clones(step, found, machine, made, stack)]):
            yield from _refusal(step, found, clones, stack)


def _clones(
    step: Step, found: Properties, machine: Machine, made: dict[str, str], stack: Stack
) -> Iterator[Clone]:
    assert step.proof is not None
    uuid = step.proof.key
    inside = _inside(uuid, machine)
    foreign = [block for block in inside if not _is_of_layout(block, stack)]
    if not foreign:
        return
    now, planned = texts(found.get("members")), wanted(step)
    told = {each.name: each.slot for each in carriers_of(uuid, machine) if each.has_data}
    names = {identity_of(node, made): name for node, name in zip(step.guard, step.targets[1:], strict=False)}
    for slot, identity in enumerate(planned):
        seated = {identity, *now[slot : slot + 1]} - {MISSING, *(set(planned) - {identity})}
        same = (block for block in machine.blocks if block.identity == identity and _carries(block, uuid))
        member = next((block for block in same if _is_of_layout(block, stack)), None)
        if member is None or member in inside:
            continue
        # Of an array that is not started, the superblocks alone tell the slots.
        place = None if is_started(found) else told.get(member.name)
        beside = {name for name, each in told.items() if each == place}
        clones = (each for each in foreign if each.identity in seated or each.name in beside)
        if device := next(clones, None):
            yield Clone(slot, device, member, names.get(identity, identity))


def _inside(uuid: str, machine: Machine) -> list[BlockFact]:
    """The devices in the array, by kernel name: a copy of a whole disk has partitions with the same identities."""
    arrays = [block for block in machine.blocks if block.kind == "array" and block.key == uuid]
    names = {name for block in arrays for name in block.below}
    return [block for block in machine.blocks if block.name in names]


def _carries(block: BlockFact, uuid: str) -> bool:
    return any(one.partition == 0 and one.content == member_of(uuid) for one in block.found)


def _is_of_layout(block: BlockFact, stack: Stack) -> bool:
    """The disks below the device are disks of the layout, which are called by their names there."""
    below = [stack.blocks[name] for name in stack.base(block.name) if name in stack.blocks]
    return any(Identity.read(each.identity).disk for each in below)


def _refusal(step: Step, found: Properties, clones: list[Clone], stack: Stack) -> Iterator[Refusal]:
    """The one way: out with the only clone where the array goes on without it, once nothing is being rebuilt; else the array
    is stopped."""
    assert step.proof is not None
    level, layout = str(found.get("level")), found.get("layout")
    now, node = texts(found.get("members")), str(found.get("node"))
    lost = [slot for slot, one in enumerate(now) if one == MISSING]
    first = clones[0]
    goes_on = (
        len(clones) == 1
        and level in LEVELS
        and survives(level, len(now), str(layout) if layout else None, [*lost, first.slot])
    )
    # A member that is being rebuilt has its slot, and not its data yet.
    is_synced = found.get("degraded", len(lost)) == len(lost) and found.get("sync_action", "idle") == "idle"
    common: Figures = {
        "clones": tuple(_told(each.device, stack) for each in clones),
        "members": tuple(f"{each.name}: {_told(each.member, stack)}" for each in clones),
        "uuid": step.proof.key,
        "node": node,
    }
    if not is_started(found):
        figures = {**common, **_by_layout(step, found, stack)}
        yield Refusal("uuid-taken", "clone-not-started", step.because, step.line, figures)
    elif goes_on and not is_synced:
        yield Refusal("uuid-taken", "clone-syncing", step.because, step.line, common)
    elif goes_on:
        figures = {**common, **_out_and_back(first, node, str(step.proof.identity), stack)}
        yield Refusal("uuid-taken", "clone", step.because, step.line, figures)
    else:
        figures = {**common, **_without_way_back(step, found, clones, stack.machine)}
        yield Refusal("uuid-taken", "clone-without-way-back", step.because, step.line, figures)


def _out_and_back(clone: Clone, node: str, identity: str, stack: Stack) -> Figures:
    """The commands that take the clone out of the array (its `node` now, and its identity), and have the member rebuilt.

    Without hot-plug a restart lies between the two: the second ones have links that last.
    """
    array = next(stack.lasting_node(each) for each in stack.machine.blocks if each.identity == identity)
    out, back = f"/dev/{clone.device.name}", stack.lasting_node(clone.member)
    return {
        "node": array,
        "out": (f"mdadm {node} --fail {out}", f"mdadm {node} --remove {out}"),
        "back": (f"mdadm --zero-superblock {back}", f"mdadm {array} --add {back}"),
    }


def _without_way_back(step: Step, found: Properties, clones: list[Clone], machine: Machine) -> Figures:
    """The commands that stop the array, and assemble it with the members in the place of their clones."""
    assert step.proof is not None
    replaced = {each.slot: each.member.name for each in clones}
    others = {block.identity: block.name for block in _inside(step.proof.key, machine)}
    members = texts(found.get("members"))
    ours = [replaced.get(slot) or others.get(one, "") for slot, one in enumerate(members)]
    journal = others.get(str(found.get("journal", "")), "")
    return _commands(step, found, [*filter(None, (*ours, journal))], all(ours))


def _by_layout(step: Step, found: Properties, stack: Stack) -> Figures:
    """The commands that stop the array, and assemble it of the disks of the layout."""
    assert step.proof is not None
    uuid, machine = step.proof.key, stack.machine
    blocks = [each for each in machine.blocks if _carries(each, uuid) and _is_of_layout(each, stack)]
    told = {each.name: each for each in carriers_of(uuid, machine)}
    members = best_of(told[block.name] for block in blocks if block.name in told)
    names = [each.name for each in members] or [block.name for block in blocks]
    known = members[0].members if members else len(wanted(step))
    return _commands(step, found, names, len(slots_of(members) or names) == known)


def _commands(step: Step, found: Properties, names: list[str], is_whole: bool) -> Figures:
    command = assembled(step, (f"/dev/{name}" for name in names), *(() if is_whole else ("--run",)))
    return {"stop": f"mdadm --stop {found['node']}", "command": command, "called": step.awaits[0]}


def _told(block: BlockFact, stack: Stack) -> str:
    """A device and what tells its disk: `/dev/sdd1 (serial WD-2)`."""
    base = stack.base(block.name)
    disk = next((disk for disk in stack.machine.disks if disk.kernel_name in base), DiskFact("", "", 0))
    return f"/dev/{block.name} ({identified(disk, STRONG) or 'without a serial'})"
