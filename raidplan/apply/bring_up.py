"""The storage of a machine brought up and down below a folder of a rescue system; nothing is made, and no journal is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from raidplan.apply.decide.not_started import STATES, missing_members
from raidplan.apply.world import World
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.identity import md_form
from raidplan.base.words import listed
from raidplan.facts import Machine
from raidplan.facts.match import match
from raidplan.plan import Plan, Run, Step
from raidplan.plan.identities import made_nodes

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """The way in which storage is brought up."""

    read_only: bool = False
    """Nothing is written to any device, the logs of file systems neither."""
    degraded: bool = False
    """Arrays are assembled that lack a member."""


def bring_up(plan: Plan, world: World, wish: Wish, tell: Callable[[Command], None]) -> list[str]:
    """Assembles the arrays of a plan with a target, activates its volumes and mounts its file systems; why not, in words.

    Each layer is read once the one below it is there; a command that fails ends it.
    """
    done: set[Command] = set()
    while True:
        machine = named(plan, world)
        commands: list[Command] = []
        troubles: list[str] = []
        for found in (*_arrays(plan, machine, wish), *_volumes(plan, machine), *_mounts(plan, machine, wish)):
            (troubles if isinstance(found, str) else commands).append(found)  # type: ignore[arg-type]
        commands = [command for command in commands if command not in done]
        if not commands:
            return troubles
        if failed := _run(commands, world, tell):
            return [failed]
        done.update(commands)


def bring_down(plan: Plan, world: World, tell: Callable[[Command], None]) -> list[str]:
    """Unmounts the file systems of a plan with a target, deactivates its volumes and stops its arrays; why not, in words."""
    machine = named(plan, world)
    if troubles := [*_in_the_way(plan, machine)]:
        return troubles
    mounted = [key for key in _keys(plan, "mount") if machine.observe("mount", key)]
    active = [key for key in _keys(plan, "volume") if (machine.observe("volume", key) or {}).get("active")]
    running = [found for key in _keys(plan, "array") if (found := machine.observe("array", key))]
    commands: list[Command] = [
        *(("umount", plan.target + key.rstrip("/")) for key in sorted(mounted, reverse=True)),
        *(("lvchange", "--activate", "n", key) for key in active),
        *(("mdadm", "--stop", str(found["node"])) for found in reversed(running)),
    ]
    failed = _run(commands, world, tell)
    return [failed] if failed else []


def named(plan: Plan, world: World) -> Machine:
    """The machine, with the disks that are found under their names in the layout."""
    machine = world.read(plan)
    disks, _ = match(plan.disks, machine)
    return machine.named({disk.node: name for name, disk in disks.items()})


def _run(commands: list[Command], world: World, tell: Callable[[Command], None]) -> str:
    """Runs commands until one fails; its own last words then."""
    for command in commands:
        tell(command)
        result = world.run(command)
        if result.returncode:
            return f"{' '.join(command)}: {result.last_words}"
    return ""


def _arrays(plan: Plan, machine: Machine, wish: Wish) -> Iterator[Command | str]:
    made = made_nodes(plan)
    for step in _steps(plan, "array"):
        assert step.proof
        found = machine.observe("array", step.proof.key)
        if found and found.get("state") not in STATES:
            continue
        missing = missing_members(step, machine, made)
        if missing and not wish.degraded:
            yield f"{step.because} (line {step.line}) lacks {listed(missing)}: --degraded assembles it without"
        elif len(missing) < len(step.guard) and found:
            yield "mdadm", "--run", str(found["node"])
        elif len(missing) < len(step.guard):
            more = (*(("--run",) if missing else ()), *(("--readonly",) if wish.read_only else ()))
            yield "mdadm", "--assemble", step.awaits[0], f"--uuid={md_form(step.proof.key)}", *more
        else:
            yield f"{step.because} (line {step.line}) has none of its members here"


def _volumes(plan: Plan, machine: Machine) -> Iterator[Command | str]:
    for step in _steps(plan, "volume"):
        assert step.proof
        found = machine.observe("volume", step.proof.key)
        if not found:
            yield f"{step.because} (line {step.line}): there is no volume {step.proof.key}"
        elif not found.get("active"):
            yield "lvchange", "--activate", "y", step.proof.key


def _mounts(plan: Plan, machine: Machine, wish: Wish) -> Iterator[Command | str]:
    """The mounts that lack nothing but themselves, the outer ones first; none inside one that cannot be made."""
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
            yield f"{step.because} (line {step.line}): its file system is not there"


def _command(argv: Command, type: str, wish: Wish) -> Command:
    """A command of mount(8) with the options that the wish adds."""
    if not wish.read_only:
        return argv
    at = argv.index("--options") + 1
    return *argv[:at], f"{argv[at]},{FILESYSTEMS[type].unwritten}", *argv[at + 1 :]


def _in_the_way(plan: Plan, machine: Machine) -> Iterator[str]:
    """The users of the storage that it must not be taken away from."""
    ours = {*_keys(plan, "mount")}
    for point in machine.objects.get("mount", {}):
        if point not in ours:
            yield f"{plan.target}{point} is mounted as well: umount it first"
    for step in _steps(plan, "swap"):
        assert step.proof
        if (machine.observe("swap", step.proof.key) or {}).get("active"):
            yield f"{step.because} (line {step.line}) is in use: swapoff it first"


def _steps(plan: Plan, kind: str) -> Iterator[Step]:
    """The steps that make an object of a kind, or mount it."""
    return (
        step
        for step in plan.steps
        if step.proof and step.proof.kind == kind and (step.creates or kind in ("mount", "volume"))
    )


def _keys(plan: Plan, kind: str) -> list[str]:
    return list(dict.fromkeys(step.proof.key for step in _steps(plan, kind) if step.proof))
