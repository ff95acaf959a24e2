"""The storage of a machine brought up and down below a folder of a rescue system; nothing is created, no journal kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import MappingProxyType

from raidplan.apply.decide.not_started import missing_members
from raidplan.apply.decide.too_many_lost import too_many_lost
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Code, Refusal, refusal
from raidplan.apply.strangers import inside, mounted, strangers
from raidplan.apply.world import World
from raidplan.base.figures import Figure
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.facts.arrays import NOT_STARTED
from raidplan.facts.machine import texts
from raidplan.facts.match import match
from raidplan.facts.run import Result
from raidplan.plan.identities import made_nodes
from raidplan.plan.step import RANDOM, Plan, Run, Step

Command = tuple[str, ...]
OPEN = ("cryptsetup", "open")
UNWRITTEN = (*NOT_STARTED, "readonly", "read-auto")
"""Values of `array_state` in which md writes no superblock, nor starts a resync (md.rst of the kernel)."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The way in which storage is brought up."""

    read_only: bool = False
    """Nothing is written to any device, the logs of file systems neither; of a bitmap, see `_arrays`."""
    degraded: bool = False
    """Arrays are assembled that lack a member."""


def bring_up(
    plan: Plan, world: World, wish: Wish, tell: Callable[[Command], None], ask: Callable[[str], bytes]
) -> list[Refusal]:
    """Assembles the arrays of a plan with a target, activates its volumes and mounts its file systems; the reasons why not.

    Each layer is read once the one below it is there; a command that fails ends it. `ask` gives the passphrase of an
    encryption, and is called before the first command. Raises what it raises.
    """
    done: set[Command] = set()
    known: dict[str, bytes] = {}
    world.passphrases = known
    while True:
        machine = named(plan, world)
        against = [*strangers(plan, machine, "not-mountable"), *_writable(plan, machine, wish)]
        if against:
            return against
        known |= {key: ask(key) for key in _encryptions_to_open(plan, machine) if key not in known}
        found_out = (
            *_arrays(plan, machine, wish),
            *_encryptions(plan, machine, wish, world),
            *_volumes(plan, machine),
            *_mounts(plan, machine, wish),
        )
        commands = [each for each in found_out if not isinstance(each, Refusal) and each not in done]
        if not commands:
            return [each for each in found_out if isinstance(each, Refusal)]
        if failed := _run(commands, world, tell, _keys_of(plan)):
            return [_ended("not-mountable", failed)]
        done.update(commands)


def bring_down(plan: Plan, world: World, tell: Callable[[Command], None]) -> list[Refusal]:
    """Unmounts the file systems of a plan with a target, deactivates its volumes and stops its arrays; the reasons why not."""
    machine = named(plan, world)
    if troubles := [
        *strangers(plan, machine, "not-unmountable"),
        *inside(plan, machine),
        *_in_use(plan, machine),
    ]:
        return troubles
    points = sorted(step.proof.key for step in mounted(plan, machine) if step.proof)
    commands: list[Command] = [
        *(("umount", plan.target + point.rstrip("/")) for point in reversed(points)),
        *_stop_commands(plan, machine),
    ]
    failed = _run(commands, world, tell)
    return [_ended("not-unmountable", failed)] if failed else []


def _stop_commands(plan: Plan, machine: Machine) -> Iterator[Command]:
    """The commands for each layer, the highest first: a plan makes the lowest first."""
    for step in reversed(plan.steps):
        kind, key = (step.proof.kind, step.proof.key) if step.proof else ("", "")
        found = machine.observe(kind, key)
        if kind == "volume" and found and found.get("active"):
            yield "lvchange", "--activate", "n", key
        elif kind == "mapping" and found:
            yield "cryptsetup", "close", str(found["name"])
        elif kind == "array" and found and step.creates:
            yield "mdadm", "--stop", str(found["node"])


def named(plan: Plan, world: World) -> Machine:
    """The machine, with the disks that are found under their names in the layout."""
    machine = world.read(plan)
    disks, _ = match(plan.disks, machine)
    return machine.named({disk.node: name for name, disk in disks.items()})


def _run(
    commands: list[Command],
    world: World,
    tell: Callable[[Command], None],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> Result | None:
    """Runs commands until one fails; the result of that one. `keys`: the passphrase for a command, by its last word."""
    for command in commands:
        tell(command)
        key = keys.get(command[-1], "") if command[:2] == OPEN else ""
        result = world.run(command, world.passphrases[key] if key else "")
        if result.returncode:
            return result
    return None


def _writable(plan: Plan, machine: Machine, wish: Wish) -> Iterator[Refusal]:
    """The refusals for mounts and arrays that are up already and writable, where --read-only was asked for."""
    if not wish.read_only:
        return
    for step in mounted(plan, machine):
        assert step.proof
        options = texts((machine.observe("mount", step.proof.key) or {}).get("options"))
        # Of the mount, and of its file system, which writes its log.
        if "rw" in options or "ro" not in options:
            yield _not_mountable("writable-mount", step, point=plan.target + step.proof.key.rstrip("/"))
    for step in _steps(plan, "array"):
        assert step.proof
        found = machine.observe("array", step.proof.key)
        if found and found.get("state") not in UNWRITTEN:
            yield _not_mountable("writable-array", step, node=str(found["node"]))


def _arrays(plan: Plan, machine: Machine, wish: Wish) -> Iterator[Command | Refusal]:
    """The commands for arrays that do not run.

    `mdadm --run` knows no --readonly: what udev assembled and did not start is stopped, which writes nothing to an array
    that does not run, and assembled anew. `mdadm --assemble --readonly` writes `readonly` to array_state (`start_array` of
    its Assemble.c), and no superblock is written from then on (md.rst of the kernel). An internal bitmap is: the kernel
    writes its first page, and all of one that is out of date, as it loads it in any state (`md_bitmap_load`, md-bitmap.c).
    """
    made = made_nodes(plan)
    lost = {each.place: each for each in too_many_lost(plan, machine, Past())}
    for step in _steps(plan, "array"):
        assert step.proof
        found = machine.observe("array", step.proof.key)
        if step.because in lost:
            yield lost[step.because]
            continue
        if found and found.get("state") not in NOT_STARTED:
            continue
        missing = missing_members(step, machine, made)
        if missing and not wish.degraded:
            yield _not_mountable("incomplete", step, missing=tuple(missing))
        elif len(missing) == len(step.guard):
            yield _not_mountable("no-members", step)
        elif found:
            yield "mdadm", "--stop" if wish.read_only else "--run", str(found["node"])
        else:
            more = (*(("--run",) if wish.degraded else ()), *(("--readonly",) if wish.read_only else ()))
            yield "mdadm", "--assemble", step.awaits[0], f"--uuid={md_form(step.proof.key)}", *more


def _encryptions(plan: Plan, machine: Machine, wish: Wish, world: World) -> Iterator[Command | Refusal]:
    """The encryptions that a key opens; none for swap, which has another key at each boot."""
    for step in _steps(plan, "mapping"):
        assert step.proof and isinstance(step.action, Run)
        argv = step.action.argv
        if machine.observe("mapping", step.proof.key) or RANDOM in argv:
            continue
        file = argv[argv.index("--key-file") + 1] if "--key-file" in argv else ""
        there = (
            [each for each in dict.fromkeys((plan.target + file, file)) if world.exists(each)] if file else []
        )
        if not machine.observe("encryption", step.proof.key):
            yield _not_mountable("header", step)
        elif file and not there:
            yield _not_mountable("key-file", step, file=file)
        else:
            more = ("--readonly",) if wish.read_only else ()
            words = (there[0] if word == file else word for word in argv[len(OPEN) :])
            yield *OPEN, *more, *words


def _keys_of(plan: Plan) -> dict[str, str]:
    """The encryptions whose passphrase a person knows, by the name of the opened device."""
    actions = (step.action for step in _steps(plan, "mapping"))
    return {action.argv[-1]: action.key for action in actions if isinstance(action, Run) and action.key}


def _encryptions_to_open(plan: Plan, machine: Machine) -> list[str]:
    """The encryptions that are not open and whose passphrase a person knows."""
    actions = (
        step.action
        for step in _steps(plan, "mapping")
        if step.proof and not machine.observe("mapping", step.proof.key)
    )
    return [action.key for action in actions if isinstance(action, Run) and action.key]


def _volumes(plan: Plan, machine: Machine) -> Iterator[Command | Refusal]:
    for step in _steps(plan, "volume"):
        assert step.proof
        found = machine.observe("volume", step.proof.key)
        if not found:
            yield _not_mountable("volume", step, volume=step.proof.key)
        elif not found.get("active"):
            yield "lvchange", "--activate", "y", step.proof.key


def _mounts(plan: Plan, machine: Machine, wish: Wish) -> Iterator[Command | Refusal]:
    """The mounts whose devices are ready but which are not mounted yet, outer ones first; none inside one that cannot be made."""
    filesystems = {
        str(step.proof.expect["device"]): step.proof.key for step in _steps(plan, "filesystem") if step.proof
    }
    closed: list[PurePath] = []
    for step in _steps(plan, "mount"):
        assert step.proof and isinstance(step.action, Run)
        point, source = step.proof.key, str(step.proof.expect["source"])
        if machine.observe("mount", point) or any(PurePath(point).is_relative_to(each) for each in closed):
            continue
        found = machine.observe("filesystem", filesystems[source])
        if found and found.get("device") == source:
            yield _command(step.action.argv, str(step.proof.expect["type"]), wish)
        else:
            closed.append(PurePath(point))
            yield _not_mountable("filesystem", step)


def _command(argv: Command, type: str, wish: Wish) -> Command:
    """A command of mount(8) with the options that the wish adds."""
    if not wish.read_only:
        return argv
    at = argv.index("--options") + 1
    return *argv[:at], f"{argv[at]},{FILESYSTEMS[type].unwritten}", *argv[at + 1 :]


def _in_use(plan: Plan, machine: Machine) -> Iterator[Refusal]:
    """The swap areas in use, which keep the storage from being stopped."""
    for step in _steps(plan, "swap"):
        assert step.proof
        if (machine.observe("swap", step.proof.key) or {}).get("active"):
            yield refusal("not-unmountable", "swap", place=step.because, line=step.line)


def _ended(code: Code, result: Result) -> Refusal:
    return replace(refusal(code, "command", command=result.argv), failures=(result.failure,))


def _not_mountable(case: str, step: Step, **figures: Figure) -> Refusal:
    return Refusal("not-mountable", case, step.because, step.line, figures)


def _steps(plan: Plan, kind: str) -> Iterator[Step]:
    """The steps that make an object of a kind, or mount it."""
    return (
        step
        for step in plan.steps
        if step.proof and step.proof.kind == kind and (step.creates or kind in ("mapping", "mount", "volume"))
    )
