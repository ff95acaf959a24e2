"""What stands already and differs: the steps that change it in place, without touching data, or why none does.

A row for each property in `IN_PLACE`; what is not in it is refused with the words of `by_hand`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from raidplan.apply.by_hand import by_hand
from raidplan.apply.journal import Past
from raidplan.apply.redo import ADDED
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.facts.prove import differing
from raidplan.plan import Plan, Proof, Run, Step, Value

SECTOR = 512
MADE_ONCE = ("volume", "volume_group")
"""Objects that no step may make again, although nothing shows through them that a guard could see."""
IN_USE = ("mount", "swap")
"""Objects that are not brought into line by the step that begins their use, once they are in use."""
BACK = {"nosuid": "suid", "nodev": "dev", "noexec": "exec", "nodiratime": "diratime", "ro": "rw"}
"""Flags of a mount, with the word that takes each back (mount(8))."""
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Labels that xfs_admin, a shell script, and xfs_db, which splits its commands at blanks, take for what they are."""


class NotInPlace(Exception):
    """It cannot be changed while it stands as it does now; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One property of what stands is not as the step promises."""

    step: Step
    name: str
    planned: Value
    now: Value
    found: Properties
    """The whole object, as it is."""
    machine: Machine
    plan: Plan
    past: Past

    @property
    def node(self) -> str:
        """How commands name the object, or the device that it lies on."""
        if self.step.awaits and not self.step.awaits[0].startswith("/dev/disk/"):
            return self.step.awaits[0]
        assert isinstance(self.step.action, Run)
        return self.step.guard[0] if self.step.guard else self.step.action.argv[-1]

    def then(
        self,
        verb: str,
        say: str,
        argv: Sequence[str],
        *,
        after: Sequence[str] = (),
        targets: Sequence[str] = (),
        guard: Sequence[str] = (),
    ) -> Step:
        """A step of the change; its proof is that the property is as planned."""
        proof = self.step.proof
        assert proof is not None
        return Step(
            id=f"{self.step.id}{ADDED}{verb}",
            phase=self.step.phase,
            say=say,
            action=Run(tuple(argv)),
            because=self.step.because,
            line=self.step.line,
            needs=(*self.step.needs, *after),
            targets=(*self.step.targets, *targets),
            guard=tuple(guard),
            proof=Proof(proof.kind, proof.key, {self.name: self.planned}),
        )


def stands(step: Step, machine: Machine) -> bool:
    """What the step makes, or begins the use of, is there in some shape: the step itself must not run."""
    if step.proof is None:
        return False
    found = machine.observe(step.proof.kind, step.proof.key)
    if found is None:
        return False
    in_use = step.proof.kind == "mount" or found.get("active") is True
    return step.creates or step.proof.kind in MADE_ONCE or (step.proof.kind in IN_USE and in_use)


def changes(step: Step, machine: Machine, plan: Plan, past: Past) -> tuple[list[Step], list[str]]:
    """The steps that bring what stands into line, and why it must not be done (in words)."""
    assert step.proof is not None
    refusals: list[str] = []
    found = machine.observe(step.proof.kind, step.proof.key) or {}
    by_name: Mapping[str, list[str]] = differing(step.proof, machine) or {}
    fixed = [name for name in by_name if (step.proof.kind, name) not in IN_PLACE]
    # Kept in the plan, so that it is known what it would write over, where the layout says `wipe: true`.
    steps = [step] if fixed and step.creates else []
    for name in fixed or by_name:
        difference = Difference(
            step, name, step.proof.expect[name], found.get(name), found, machine, plan, past
        )
        try:
            if fixed:
                raise NotInPlace(
                    by_hand(step.proof.kind, name, difference.node, found.get(name), difference.planned)
                )
            steps += IN_PLACE[step.proof.kind, name](difference)
        except NotInPlace as no:
            words = "; ".join(by_name[name])
            refusals.append(
                f"{step.because} (line {step.line}) is there already, but not as planned: {words}; {no}"
            )
    return steps, refusals


# File systems and swap


def _label(difference: Difference) -> Iterator[Step]:
    proof = difference.step.proof
    kind = str(difference.found.get("type", "")) if proof and proof.kind == "filesystem" else "swap"
    label, node = str(difference.planned), difference.node
    mounted = _mounted(difference)
    match kind:
        case "ext2" | "ext3" | "ext4":
            argv: tuple[str, ...] = ("e2label", node, label)  # also while it is mounted (e2label(8))
        case "btrfs":
            argv = ("btrfs", "filesystem", "label", mounted or node, label)
        case "xfs" if label and not PLAIN.fullmatch(label):
            raise NotInPlace(
                "by hand: xfs_io -c 'label -s NEW' at its mount point; xfs_admin takes letters, digits, ._- only"
            )
        case "xfs":
            argv = ("xfs_admin", "-L", label or "--", node)
        case "vfat":
            argv = ("fatlabel", node, label) if label else ("fatlabel", "--reset", node)
        case "swap":
            argv = ("swaplabel", "--label", label, node)
        case _:
            raise NotInPlace(by_hand("filesystem", "label", node, difference.now, difference.planned))
    if mounted and kind in ("xfs", "vfat"):
        raise NotInPlace(
            f"{kind} takes another label only while it is not mounted: umount {mounted}, then apply again"
        )
    if difference.found.get("active"):
        raise NotInPlace("swap in use keeps its label: swapoff it, then apply again")
    say = f"label {difference.step.because.rpartition('.')[2]} '{label}' instead of '{difference.now}'"
    yield difference.then("label", say, argv)


def _mounted(difference: Difference) -> str:
    """Where the file system is mounted; empty if it is not."""
    device = difference.found.get("device")
    mounts = difference.machine.objects.get("mount", {})
    return next((point for point, mount in mounts.items() if mount.get("source") == device), "")


def _reserved(difference: Difference) -> Iterator[Step]:
    blocks = str(difference.planned)
    say = f"keep {blocks} blocks of {difference.step.because.rpartition('.')[2]} for root"
    yield difference.then("reserved", say, ("tune2fs", "-r", blocks, difference.node))


def _priority(difference: Difference) -> Iterator[Step]:
    """Linux gives a priority when an area is taken into use, and not after (swapon(2))."""
    name = difference.step.because.rpartition(".")[2]
    off = difference.then(
        "off", f"take swap {name} out of use, to give it another priority", ("swapoff", difference.node)
    )
    yield off
    yield replace(difference.step, needs=(*difference.step.needs, off.id))


def _flags(difference: Difference) -> Iterator[Step]:
    wanted = difference.planned
    assert isinstance(wanted, list) and difference.step.proof
    point = difference.step.proof.key
    # Without fstab: other options of its line may be such as no remount takes.
    argv = ("mount", "--options-source=disable", "-o", ",".join(remount_words(wanted)), point)
    say = f"change the mount of {point} in place: {', '.join(wanted) or 'strictatime'}"
    yield difference.then("remount", say, argv)


def remount_words(wanted: Sequence[str]) -> list[str]:
    """Every flag spelled out: of those that it is not told, a remount keeps some (path_mount in fs/namespace.c)."""
    atime = next((word for word in ("noatime", "relatime") if word in wanted), "strictatime")
    return ["remount", atime, *(flag if flag in wanted else back for flag, back in BACK.items())]


# Volumes


def _volume_read_ahead(difference: Difference) -> Iterator[Step]:
    wanted = difference.planned
    words = wanted if wanted == "auto" else f"{int(str(wanted)) // SECTOR}s"
    volume = difference.step.proof.key if difference.step.proof else ""
    yield difference.then(
        "read_ahead", f"read ahead {words} on volume {volume}", ("lvchange", f"--readahead={words}", volume)
    )


IN_PLACE: Mapping[tuple[str, str], Callable[[Difference], Iterator[Step]]] = {
    ("filesystem", "label"): _label,
    ("filesystem", "reserved_blocks"): _reserved,
    ("mount", "flags"): _flags,
    ("swap", "label"): _label,
    ("swap", "priority"): _priority,
    ("volume", "read_ahead"): _volume_read_ahead,
}
"""Kind and property to what changes it."""
