"""The check of every plan that is read: one that raidplan could not have written is rejected, so that no later code has to look.

Not a wall against malice: a plan may name any program. It finds what a hand or another program spoilt although
the digest fits, above all a guard, a proof or a reason that is missing where something is written over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from raidplan.base.identity import Identity
from raidplan.base.magic import SignatureAt, member_of
from raidplan.plan.fault import Fault, fault
from raidplan.plan.initramfs import image_makers
from raidplan.plan.phases import NEW_CONTENTS, PHASES
from raidplan.plan.step import Plan, Run, Step, WriteBlock, Zero

MAKERS = {"sfdisk": "table", "mke2fs": "filesystem", "mkswap": "swap", "pvcreate": "physical_volume"}
"""Programs that write over a device whatever it holds, to the kind of what they make; besides `mkfs.*` and mdadm."""
MADE = ("table", "array", "encryption", "filesystem", "swap", "physical_volume")
KEYS = ("file", "mapping")
"""The kinds that keys of swap name: a file, of which another step proves that there was none, and makes it; or what has a random key."""


def faults(plan: Plan) -> Iterator[Fault]:
    """The reasons to reject a plan."""
    disks = {disk.name for disk in plan.disks}
    arrays = {
        step.proof.key for step in (*plan.steps, *plan.whole) if step.proof and step.proof.kind == "array"
    }
    for steps in (plan.steps, plan.whole):
        yield from _disorder(steps, disks)
        for step in steps:
            yield from _unguarded(step)
            yield from _faults_of_clearing(step, steps, arrays)
    yield from _two_ways(plan)


def _disorder(steps: Sequence[Step], disks: Set[str]) -> Iterator[Fault]:
    ids = [step.id for step in steps]
    places = {id: place for place, id in enumerate(ids)}
    yield from (fault("twice", id) for place, id in enumerate(ids) if places[id] != place)
    for place, step in enumerate(steps):
        runs_nothing = isinstance(step.action, Run) and not step.action.argv
        if not step.targets or step.phase not in PHASES or runs_nothing:
            yield fault("does-nothing", step.id)
        yield from (fault("not-its-disk", step.id, disk=disk) for disk in step.disks - disks)
        later = [need for need in step.needs if places.get(need, -1) >= place]
        yield from (fault("order", step.id, needs=need) for need in later)
        try:
            step.new_partitions  # noqa: B018  # read, as every proof of a table is
        except (KeyError, ValueError, AssertionError):
            yield fault("partitions", step.id)


def _unguarded(step: Step) -> Iterator[Fault]:
    """Reasons to reject a step that makes something on a device without a guard before and a proof afterwards."""
    kind = step.proof.kind if step.proof else ""
    made = makes(step)
    if made and kind != made:
        yield fault("unproven", step.id, kind=made)
    if not made and not (kind in MADE and step.phase in NEW_CONTENTS and not step.changes):
        return
    in_file = step.proof is not None and Identity.read(step.proof.key).kind in KEYS
    if not step.guard and not in_file:
        yield fault("unguarded", step.id)
    for device in _devices(step):
        if device not in (*step.guard, *step.awaits):
            yield fault("unguarded-device", step.id, device=device)


def makes(step: Step) -> str:
    """The kind, as in proofs, of the object that its program makes; empty for all other programs."""
    match step.action:
        case Run(("mdadm", "--create", *_)):
            return "array"
        case Run(("cryptsetup", "luksFormat", *_)):
            return "encryption"
        case Run(("mke2fs", *_)) if step.proof and step.proof.kind == "encryption":
            return "encryption"  # the label of what has a random key
        case Run((program, *_)):
            return "filesystem" if program.startswith("mkfs.") else MAKERS.get(program, "")
    return ""


def _devices(step: Step) -> list[str]:
    words = step.action.argv[1:] if isinstance(step.action, Run) else ()
    return [word for word in words if word.startswith("/dev/") or Identity.read(word).disk]


def _faults_of_clearing(step: Step, steps: Sequence[Step], arrays: Set[str]) -> Iterator[Fault]:
    """Reasons to reject a step that clears a device and has no reason in the plan."""
    match step.action:
        case Run(("wipefs", *_)) | Run(("mdadm", "--zero-superblock", *_)):
            yield fault("clears-unseen", step.id)
        case Run((program, *_)) if program in image_makers():
            yield fault("image-unseen", step.id)
        case Zero(device, _, None):
            if device not in _newly_made(step, steps):
                yield fault("clears-unmade", step.id, device=device)
        case Zero(device, _, found):
            again = step.origin.kind == "clear" and any(
                step.id in other.needs and device in other.guard for other in steps
            )
            forgotten = step.changes and bool(step.destroys) and _of_arrays(found or (), arrays)
            if not (again or forgotten) and (
                step.phase != "teardown" or not _in_the_way(step, device, steps)
            ):
                yield fault("clears-without-reason", step.id, device=device)


def _newly_made(step: Step, steps: Sequence[Step]) -> Iterator[str]:
    """The arrays, volumes and opened encryptions that are made before the step; an encryption is new if its header is."""
    headers = {other.proof.key for other in steps if other.proof and other.proof.kind == "encryption" and other.creates}  # fmt: skip
    for other in steps:
        if other.id not in step.needs or other.proof is None:
            continue
        if other.proof.kind in ("array", "volume") or (
            other.proof.kind == "mapping" and other.proof.key in headers
        ):
            yield from other.awaits


def _of_arrays(found: Sequence[SignatureAt], arrays: Set[str]) -> bool:
    """The step takes nothing but superblocks of the plan's own arrays, from a spare that is taken out."""
    return {one.content for one in found} <= {member_of(uuid) for uuid in arrays}


def _in_the_way(step: Step, device: str, steps: Sequence[Step]) -> bool:
    """A later step writes over the device, or takes it apart."""
    for other in steps:
        if device in step.clears and device in other.guard:
            return True
        if step.id in other.needs and isinstance(other.action, Run):
            argv = other.action.argv
            if argv in (("mdadm", "--stop", device), ("cryptsetup", "close", device)) or argv[:3] == (
                "vgchange",
                "--activate",
                "n",
            ):
                return True
    return False


def _two_ways(plan: Plan) -> Iterator[Fault]:
    """Reasons to reject a step that differs from itself in the whole plan in more than its order and its clearing.

    The words of a block in a file may differ: they say what it changes on this machine.
    """
    whole = {step.id: step for step in plan.whole}
    for step in plan.steps:
        same = whole.get(step.id, step)
        said = same.say if isinstance(step.action, WriteBlock) else step.say
        if replace(step, say=said, needs=same.needs, follows=same.follows, clears=same.clears) != same:
            yield fault("two-ways", step.id)
