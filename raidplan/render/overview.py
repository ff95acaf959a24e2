"""The sum of a plan: objects that it creates, changes, destroys and keeps, in the words of every form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from raidplan.base.names import folded, number_ranges
from raidplan.base.words import counted
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.loss import Loss
from raidplan.plan.phases import NEW_CONTENTS
from raidplan.plan.step import Plan, RenewInitramfs, Run, Step, WriteBlock, WriteFile, Zero
from raidplan.render.command import disk_name

MADE = {
    "table": "partition table",
    "array": "array",
    "encryption": "encrypted device",
    "physical_volume": "physical volume",
    "volume_group": "volume group",
    "volume": "volume",
    "filesystem": "file system",
    "swap": "swap area",
}
"""The noun for the object of a step, by the kind of its proof."""
SYSTEM = "configure"
"""The phase of what is written into a system, which an installer leaves below a target."""


def first_guards(plan: Plan) -> tuple[str, ...]:
    """The devices that are written over and that no earlier step makes: disks, and existing devices."""
    made = {node for step in plan.steps for node in step.awaits}
    guards = dict.fromkeys(guard for step in plan.steps for guard in step.guard)
    return tuple(guard for guard in guards if guard not in made)


def blank_now(plan: Plan) -> tuple[str, ...]:
    """The devices that must be blank before the first step: no step clears them first."""
    cleared = {node for step in plan.steps for node in step.clears}
    return tuple(guard for guard in first_guards(plan) if guard not in cleared)


def new_partitions(plan: Plan) -> Iterator[tuple[str, int, int]]:
    """(disk as `{d00}`, start, size in bytes) of every partition that is made."""
    yield from ((step.guard[0], *place) for step in plan.steps for place in step.new_partitions)


def written_disks(plan: Plan) -> tuple[str, ...]:
    """The disks that are written over as a whole, by name."""
    return tuple(disk_name(guard) for guard in first_guards(plan) if disk_name(guard))


def written_others(plan: Plan) -> tuple[str, ...]:
    """The other devices and files that are written over or made."""
    return tuple(guard for guard in first_guards(plan) if not disk_name(guard))


def changed_files(plan: Plan) -> tuple[str, ...]:
    """The configuration files that are written."""
    actions = (step.action for step in plan.steps)
    return tuple(dict.fromkeys(a.file for a in actions if isinstance(a, WriteFile | WriteBlock)))


def created(plan: Plan) -> tuple[str, ...]:
    """`40 partition tables`, `5 arrays`, ..., in the order in which they are made."""
    objects = dict.fromkeys(
        (step.proof.kind, step.proof.key) for step in plan.steps if step.proof and makes(step)
    )
    counts = Counter(kind for kind, _ in objects)
    return tuple(counted(counts[kind], noun) for kind, noun in MADE.items() if counts[kind])


def makes(step: Step) -> bool:
    """Whether the step makes an object that was not there."""
    return step.proof is not None and not step.changes and (step.phase in NEW_CONTENTS or step.creates)


def by_phase(plan: Plan) -> Iterator[tuple[str, list[tuple[int, Step]]]]:
    """The steps with their numbers, phase by phase; phases without steps are left out."""
    numbered = list(enumerate(plan.steps, start=1))
    for phase in plan.phases:
        steps = [(number, step) for number, step in numbered if step.phase == phase]
        if steps:
            yield phase, steps


def origin(step: Step) -> str:
    """The place in the layout that asks for the step."""
    return (
        f"layout line {step.line} ({step.because})"
        if step.line
        else f"no line of the layout ({step.because})"
    )


def losses(step: Step) -> tuple[Loss, ...]:
    """The losses of a step; a device that is proven blank right before the step has nothing to lose."""
    return step.lost or (() if step.guard else step.destroys)


def symbol(step: Step) -> str:
    """`-` destroys or clears, `+` creates, `~` changes an object, a file or a setting, `>` runs a program."""
    if losses(step) or isinstance(step.action, Zero):
        return "-"
    if step.creates or (makes(step) and step.proof and step.proof.kind in MADE):
        return "+"
    return ">" if isinstance(step.action, Run | RenewInitramfs) and not step.changes else "~"


SYMBOLS = (("+", "create"), ("~", "change"), ("-", "destroy"), (">", "run a program"))
LEGEND = "   ".join(map(" ".join, SYMBOLS))


def summary(plan: Plan) -> dict[str, str]:
    """The sum of a plan, by the words that every form has for it; an empty one is left out, but for losses."""
    files = changed_files(plan)
    in_place = sum(step.changes and step.origin.kind == "change" for step in plan.steps)
    changed = [*([counted(in_place, "object") + " in place"] if in_place else []), *files]
    lines = {
        "target": target(plan),
        "runs": in_two_runs(plan),
        "create": ", ".join(created(plan)),
        "change": ", ".join(changed),
        "format": formatted(plan),
        "boot": "" if starts(plan) else "no boot loader is installed, and / is made",
        "destroy": destroyed(plan),
        "keep": ", ".join(kept(plan)),
    }
    return {word: text for word, text in lines.items() if text}


def for_system(plan: Plan, step: Step) -> bool:
    """Whether a step waits for a system that is installed below the target."""
    return bool(plan.target) and step.phase == SYSTEM


def in_two_runs(plan: Plan) -> str:
    """The end of the first run below a target, and the beginning of the second."""
    later = [number for number, step in enumerate(plan.steps, 1) if for_system(plan, step)]
    if not later or len(later) == len(plan.steps):
        return ""
    return (
        f"steps {number_ranges(later)} wait until a system is installed below {plan.target}: "
        "apply makes the storage and ends before them, and runs them when it is called again"
    )


def starts(plan: Plan) -> bool:
    """Whether a boot loader is installed where a root file system is made."""
    proven = [(step.because, step.proof) for step in plan.steps if step.proof and not step.changes]
    made = {because for because, proof in proven if proof.kind == "filesystem"}
    roots = {because for because, proof in proven if (proof.kind, proof.key) == ("mount", "/")}
    proofs = {step.proof.kind for step in (*plan.steps, *plan.whole) if step.proof}
    return "boot_loader" in proofs or made.isdisjoint(roots)


def target(plan: Plan) -> str:
    """The folder below which the plan is applied; a root file system has to have one."""
    if plan.target:
        return f"{plan.target}: every file named below lies there, and programs for it run in it"
    root = any(step.proof and step.proof.kind == "mount" and step.proof.key == "/" for step in plan.steps)
    return (
        "none, and / is never made on the booted server: use --target DIR in a rescue system" if root else ""
    )


def formatted(plan: Plan) -> str:
    """The devices that are written over, and why that loses nothing; without a machine, where it may."""
    given_up = [disk.name for disk in plan.disks if disk.wipe and not plan.machine_digest]
    disks, others = written_disks(plan), written_others(plan)
    blank = [disk for disk in disks if disk not in given_up]
    wiped = [disk for disk in disks if disk in given_up]
    names = [f"{counted(len(blank), 'disk')}: {folded(blank)}"] if blank else []
    names += [folded(others)] if others else []
    proven = (
        "apply proves each of them blank right before"
        if plan.machine_digest
        else "taken as blank; apply refuses one that is not"
    )
    parts = [f"{'; '.join(names)} ({proven})"] if names else []
    parts += [f"{counted(len(wiped), 'disk')}: {folded(wiped)} (wipe: true, blank or not)"] if wiped else []
    return "; ".join(parts)


def destroys(plan: Plan) -> bool:
    """Whether something is destroyed, or may be."""
    given_up = not plan.machine_digest and any(disk.wipe for disk in plan.disks)
    return bool(plan.lost) or given_up or any(losses(step) for step in plan.steps)


def destroyed(plan: Plan) -> str:
    """The number of losses; without a machine, the disks whose content the layout gives up."""
    if plan.lost:
        return f"{counted(len(plan.lost), 'thing')} on this machine, listed below"
    given_up = [disk.name for disk in plan.disks if disk.wipe]
    if not plan.machine_digest and given_up:
        return f"whatever is on {folded(given_up)} (wipe: true); a plan made on the machine lists it"
    others = sum(len(losses(step)) for step in plan.steps)
    if others:
        return counted(others, "thing")
    offline = not plan.machine_digest and written_disks(plan)
    return "nothing" + ": apply refuses a disk that is not blank (no disk has wipe: true)" * bool(offline)


def machine_line(plan: Plan) -> str:
    """The machine that the plan was made for: its digest, or what is assumed without one."""
    if plan.machine_digest:
        return plan.machine_digest
    if any(disk.wipe for disk in plan.disks):
        return "none was looked at: disks without wipe: true are taken as blank"
    return "none was looked at: all of its disks are taken as blank"


def kept(plan: Plan) -> Iterator[str]:
    """`1 disk: ssd (…)`, `5 arrays`, `5 file systems`: what is left alone, by `keep: true` or for it stands as planned."""
    disks = [disk.name for disk in plan.disks if disk.keep]
    if disks:
        files = changed_files(plan) or any(isinstance(step.action, RenewInitramfs) for step in plan.steps)
        where = f"below {plan.target}" if plan.target else "in the running system"
        written = f"; files are written {where}" if files else ""
        yield f"{counted(len(disks), 'disk')}: {folded(disks)} (partitions and file systems stay as they are{written})"
    parts = [part.name for disk in plan.disks if not disk.keep for part in disk.partitions if part.keep]
    if parts:
        yield f"{counted(len(parts), 'partition')}: {folded(parts)}, and the partition table beside"
    here = {step.id for step in plan.steps}
    yield from created(replace(plan, steps=tuple(step for step in plan.whole if step.id not in here)))


def found_by(disk: DiskIdentity) -> str:
    """The identity of a disk, in words."""
    if disk.device:
        return f"device {disk.device}"
    identifiers = {"serial": disk.serial, "wwn": disk.wwn, "path": disk.path, "model": disk.model}
    words = (
        ", ".join(f"{name} {value}" for name, value in identifiers.items() if value)
        or "nothing to find it by"
    )
    return f"{words}; {KEPT}" if disk.keep else words


KEPT = "kept"
"""The word for a disk with `keep: true`."""
