"""The steps that clear targets, all together: a pure function of a plan and a machine.

Contents go through their own layer, then the layer itself, then every place on the disks where a superblock or
a table can be, then the ranges where partitions are to be. What shows in a new array or volume afterwards can
only be left from earlier, so it is cleared through that, before anything else looks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from raidplan.apply.teardown import assembly_hold, losses
from raidplan.apply.teardown.cleared import BegunClearing, Cleared, Compare, give_up
from raidplan.apply.teardown.layers import Layers
from raidplan.apply.teardown.never_removed import reasons_to_keep
from raidplan.base.identity import Identity
from raidplan.base.magic import MEMBER, PHYSICAL_VOLUME
from raidplan.facts import DiskFact, Machine
from raidplan.facts.host import HOLD
from raidplan.facts.ranges import BACK, FRONT, ends_of, joined, offsets
from raidplan.plan.order import ordered
from raidplan.plan.origin import GHOST, TEARDOWN, id_of_ghost, id_of_zero
from raidplan.plan.phases import NEW_DEVICES
from raidplan.plan.step import Plan, Run, Step, Zero

SETTLED = "teardown.settle"
NOTHING = BegunClearing()


def take_apart(
    plan: Plan,
    machine: Machine,
    disks: Mapping[str, DiskFact],
    compare: Compare,
    made: Iterable[str] = (),
    earlier: BegunClearing = NOTHING,
    gone: Collection[str] = (),
) -> Cleared:
    """The remaining steps, with those that clear their way, or the reasons to leave it alone.

    `made` is what earlier versions of the layout made, as the journal calls it: nobody is to give that up by habit either, nor
    what is left of it on the devices `gone`.
    The machine and the disks of the result are as they will be without it, for checks of what follows.
    """
    cleared = give_up(plan, machine, disks, compare, earlier)
    ghosts = _ghosts(cleared, _carriers(plan))
    waiting = tuple(_with_ghosts(cleared.left.steps, ghosts))
    own = losses.own_identities(plan) | {Identity.read(each).key for each in made}
    # Without targets nothing is in the way of the steps that wait.
    apart = _with_teardown(plan, cleared, waiting, own, earlier, gone) if cleared.targets else [*waiting]
    # An earlier run that was killed left it behind: what that one made was passed over as well.
    held = machine.observe("file", HOLD) is not None
    if plan.steps and (cleared.targets or held):
        asks = next((step for _, step in cleared.targets.values()), plan.steps[0])
        making = [step.id for step in apart if step.phase in ("teardown", *NEW_DEVICES)]
        nodes = _new_nodes(plan if held else replace(cleared.left, steps=waiting))
        apart += assembly_hold.release(making, list(nodes), asks.because, asks.line)
    steps = tuple(ordered(apart)) if len(apart) > len(cleared.left.steps) else waiting
    return replace(
        cleared,
        left=replace(cleared.left, steps=steps),
        refusals=[*cleared.refusals, *reasons_to_keep(cleared)],
    )


def _with_teardown(
    plan: Plan,
    cleared: Cleared,
    waiting: Sequence[Step],
    own: frozenset[str],
    earlier: BegunClearing,
    gone: Collection[str],
) -> list[Step]:
    left = cleared.left
    _, asks = next(iter(cleared.targets.values()))
    # What is taken apart cannot be put together again by a kernel without the personality of what is to come.
    loads = [step.id for step in waiting if step.proof and step.proof.kind == "module"]
    held = assembly_hold.hold(_rule(left, cleared), asks.because, asks.line, loads)
    layers = Layers(cleared, own, asks.because, asks.line, held[-1].id, earlier)
    makers = {
        node: step.targets[0] for step in plan.steps if step.phase in NEW_DEVICES for node in step.awaits
    }
    openers = {name: [*_openers(left, makers.get(node))] for name, (node, _) in cleared.targets.items()}
    targets = [
        _target(layers, name, node, step, openers[name], earlier, is_gone=node in gone)
        for name, (node, step) in cleared.targets.items()
    ]
    settled = _settled(cleared, targets, earlier)
    # An array that gets its name is stopped for it, once nothing stands on it any more.
    freed = {id: layers.free(name) for name, ids in openers.items() for id in ids}
    after = [
        replace(step, needs=(*step.needs, *freed.get(step.id, ()), *([SETTLED] if step.guard else [])))
        for step in waiting
    ]
    return [*held, *layers.steps, *targets, settled, *after]


def _target(
    layers: Layers,
    name: str,
    node: str,
    step: Step,
    opened: Sequence[str],
    earlier: BegunClearing,
    *,
    is_gone: bool,
) -> Step:
    """Zeroes over every place on a target where something is, was, or would be found again."""
    stack = layers.cleared.stack
    block, traces = stack.blocks.get(name), stack.traces(name)
    disk = next((disk for disk in stack.machine.disks if disk.kernel_name == name), None)
    size = block.size if block else disk.size if disk else 0
    first = block.start if block and block.kind == "partition" else 0
    places = [(0, size), *step.new_partitions, *((trace.start - first, trace.room) for trace in traces)]
    places += stack.partitions(name)
    seen = [trace.offset - first for trace in traces] or (offsets(block) if block else [])
    called = stack.called(block) if block else stack.named(name)
    own = layers.own | {losses.UNRECOGNISED} if is_gone else layers.own
    listed = tuple(dict.fromkeys(losses.on_device(stack, name, own)))
    named, rest = Identity.read(node).key, earlier.rests.get(node)
    if rest and rest.foreign is not None:
        found, destroys = seen, (*listed, losses.came_since(stack, name, rest.foreign))
    elif rest and losses.is_within(stack, name, rest.ranges):
        found, destroys = seen, earlier.losses[node]
    elif node in earlier.losses and losses.is_between_ends(stack, name):
        # By its first bytes nobody would know again what was listed, and the first clearing does not reach them either.
        found, destroys = [], earlier.losses[node]
    else:
        found, destroys = seen, listed
    return Step(
        id=id_of_zero(named.rpartition("/")[2]),
        phase="teardown",
        say=f"clear every place on {called} where something is or would be found",
        action=Zero(
            node,
            joined((*ends_of(size, places, found), *(rest.ranges if rest else ()))),
            block.found if block else (),
        ),
        because=step.because,
        line=step.line,
        needs=(layers.first, *layers.free(name), *opened),
        targets=(named,),
        destroys=destroys,
        clears=(node,),
        origin=TEARDOWN,
    )


def _openers(left: Plan, name: str | None) -> Iterator[str]:
    """The steps after which an existing array can be written to."""
    yield from _untuned(
        step
        for step in left.steps
        if step.phase in NEW_DEVICES and not step.guard and step.targets[0] == name
    )


def _settled(cleared: Cleared, targets: Sequence[Step], earlier: BegunClearing) -> Step:
    """The step that waits until udev has removed the links of what was cleared, before anything of the same name is made."""
    nodes = [node for node, _ in cleared.targets.values()]
    words = (word for node in nodes for word in ("--name-match", node))
    stack = cleared.stack
    traces = ((stack.disk_of(name), trace) for name in cleared.targets for trace in stack.traces(name))
    return Step(
        id=SETTLED,
        phase="teardown",
        say="let udev look at what was cleared: nothing is left to be assembled",
        action=Run(("udevadm", "trigger", "--settle", "--action=change", *words)),
        because=targets[0].because,
        line=targets[0].line,
        needs=tuple(step.id for step in targets),
        targets=("udev",),
        destroys=tuple(losses.absent(traces, earlier.signatures)),
        clears=cleared.covered,
        origin=TEARDOWN,
    )


def _carriers(plan: Plan) -> dict[str, str]:
    """The disk of each partition and the group of each volume, by their names in the layout."""
    disks = {
        node: step.targets[0] for step in plan.steps if step.phase == "partition" for node in step.awaits
    }
    parts = {
        name: disks[node]
        for step in plan.steps
        for node, name in zip(step.guard, step.targets[-len(step.guard) :], strict=False)
        if node in disks
    }
    volumes = [step for step in plan.steps if step.targets and step.proof and step.proof.kind == "volume"]
    return parts | {step.targets[0]: step.targets[-1] for step in volumes}


def _ghosts(cleared: Cleared, carriers: Mapping[str, str]) -> dict[str, Step]:
    """The steps that clear new arrays, volumes and opened encryptions, by node, where all that is below may be wiped.

    Also on disks that looked blank: a superblock deep inside them shows only once an array begins just before it.
    """
    kernel_names = {name for target in cleared.targets for name in cleared.stack.base(target)}
    touched = {cleared.stack.named(name) for name in kernel_names} | cleared.wiped
    touched |= {step.targets[0] for node, step in cleared.targets.values() if step.guard == (node,)}
    headers = _new_headers(cleared.left)
    found: dict[str, Step] = {}
    for step in cleared.left.steps:
        made, *below = step.targets or ("",)
        on = below if step.phase != "partition" and below else [made]
        if step.phase not in NEW_DEVICES or not all(carriers.get(one, one) in touched for one in on):
            continue
        touched.add(made)
        if step.proof is None or not step.awaits:
            continue
        if step.proof.kind in ("array", "volume") or (
            step.proof.kind == "mapping" and step.proof.key in headers
        ):
            found[step.awaits[0]] = _ghost(step, cleared.left)
    return found


def _new_headers(left: Plan) -> frozenset[str]:
    """The UUIDs of encryptions whose header is made as well: what shows in one that stands may be somebody's.

    One with a random key is known by its name and not by a header; the next boot shows other bytes at its ends.
    """
    proofs = (step.proof for step in left.steps if step.creates and step.proof)
    return frozenset(proof.key for proof in proofs if proof.kind == "encryption")


def _ghost(made: Step, left: Plan) -> Step:
    name, node = made.targets[0], made.awaits[0]
    named = (step for step in left.steps if step.phase == made.phase and step.targets[0] == name)
    makers = [step for step in named if node not in step.guard]
    return Step(
        id=id_of_ghost(name),
        phase=made.phase,
        say=f"wipe stale signatures from the newly created {name}",
        action=Zero(node, ((0, FRONT), (-BACK, BACK))),
        because=made.because,
        line=made.line,
        needs=tuple(_untuned(makers)),
        targets=(name,),
        clears=(node,),
        origin=GHOST,
    )


def _untuned(steps: Iterable[Step]) -> Iterator[str]:
    """The ids of all steps except the tuning of arrays, which no teardown has to wait for."""
    yield from (step.id for step in steps if not (step.proof and step.proof.kind == "tuning"))


def _with_ghosts(steps: Sequence[Step], ghosts: Mapping[str, Step]) -> Iterator[Step]:
    """The steps, each after the clearing of what it writes to. A new device is cleared before anything else is done: a run that
    stops later has cleared it, so that what shows on it from then on is listed."""
    places = {step.id: place for place, step in enumerate(steps)}
    behind: dict[int, list[Step]] = {}
    for ghost in ghosts.values():
        behind.setdefault(max(places[need] for need in ghost.needs), []).append(ghost)
    for place, step in enumerate(steps):
        needs = tuple(ghosts[node].id for node in step.guard if node in ghosts)
        yield replace(step, needs=(*step.needs, *needs)) if needs else step
        yield from behind.get(place, ())


def _rule(left: Plan, cleared: Cleared) -> str:
    """The udev rule for the old members and physical volumes, and for the devices made in their place."""
    members = (MEMBER, PHYSICAL_VOLUME)
    old = [one.uuid for name in cleared.targets for one in cleared.stack.traces(name) if one.type in members]
    old += [block.key for block in cleared.above if block.kind == "array"]
    above = {block.identity for block in cleared.above}
    physical = cleared.stack.machine.objects.get("physical_volume", {})
    old += [uuid for uuid, found in physical.items() if found.get("device") in above]
    partitions = [
        node.rpartition("/")[2] for step in left.steps if step.new_partitions for node in step.awaits
    ]
    arrays = [step.proof.key for step in left.steps if step.proof and step.proof.kind == "array"]
    return assembly_hold.rule(old, partitions, arrays)


def _new_nodes(plan: Plan) -> Iterator[str]:
    """The devices that udev has to look at once more: new partitions and arrays, and whole disks that are members."""
    nodes = [node for step in plan.steps if step.phase in ("partition", "array") for node in step.awaits]
    nodes += [
        node
        for step in plan.steps
        if step.phase == "array"
        for node in step.guard
        if Identity.read(node).disk
    ]
    yield from dict.fromkeys(nodes)
