"""Interrupted steps, which nothing proves finished, and the steps that clear their devices before they run again.

A signature is no proof that mkfs was finished, so a device that such a step wrote over is made blank and written again.
That is safe where the journal speaks of this very step on these very disks (step_fingerprints.py), and nothing is there that
the step cannot have left (leftovers.py). What the step made and somebody may have used since is a loss, for which a person has
to say yes. Everywhere else the journal counts for nothing, and the device has to be blank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from raidplan.apply.decide import leftovers
from raidplan.apply.decide.leftovers import NotOurs
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import refusal
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact
from raidplan.facts.members import SIZE, positions
from raidplan.facts.ranges import behind_all, ends_of, joined, offsets
from raidplan.facts.tables import extent
from raidplan.plan.identities import identity_of
from raidplan.plan.origin import Origin
from raidplan.plan.step import Proof, Run, Step, Zero

MOST_SECTOR = 4096
"""Bytes of the largest sector of a disk, with which a partition table takes most room."""


def redo(step: Step, machine: Machine, past: Past, made: Mapping[str, str]) -> list[Step]:
    """An interrupted step, after the steps that make its devices blank again; `made` as from `made_nodes`.

    Raises NotOurs.
    """
    assert step.proof is not None
    ours = [node for node in step.guard if node in past.ours.get(step.id, ())]
    shown = machine.observe(step.proof.kind, step.proof.key) is not None
    if not ours and (shown or any(_holds(identity_of(node, made), step, machine) for node in step.guard)):
        raise NotOurs(
            refusal("not-of-that-step", "other-apply", began=past.began, file=past.plan_file(step.id))
        )
    clear = (
        list(_file(step, machine) if step.proof.file else _devices(step, ours, machine, made)) if ours else []
    )
    # What it wrote without a signature stays: half a partition table, inode tables. It is written over.
    return [*clear, replace(step, needs=(*step.needs, *(each.id for each in clear)), clears=tuple(ours))]


def _holds(identity: str, step: Step, machine: Machine) -> bool:
    """The device carries the identity of the step's object: for an array that does not run, a superblock."""
    assert step.proof is not None
    return any(each.uuid == step.proof.key for each in machine.carried(identity))


def half_done(step: Step, machine: Machine, past: Past) -> bool:
    """The step writes over a device, and the journal does not show that it finished."""
    if not step.creates or step.proof is None:
        return False
    if step.id in past.begun:
        return True
    # A swap file is made by several steps; before the last of them nothing shows what it is.
    file = step.proof.file
    shown = machine.observe(step.proof.kind, step.proof.key) is not None
    return bool(file) and step.id in past.ended and not shown and machine.observe("file", file) is not None


def _devices(step: Step, ours: list[str], machine: Machine, made: Mapping[str, str]) -> Iterator[Step]:
    """The steps that clear the devices; superblocks may be on some members only, and the array may run."""
    assert step.proof is not None
    blocks = {block.identity: block for block in machine.blocks}
    identities = {node: identity_of(node, made) for node in ours}
    carried = [node for node, one in identities.items() if leftovers.carries_ours(one, step.proof, machine)]
    lost = {node: tuple(leftovers.losses(one, step.proof, machine)) for node, one in identities.items()}
    running = machine.observe("array", step.proof.key) if step.proof.kind == "array" and ours else None
    after: tuple[str, ...] = ()
    if running:
        array = blocks.get(str(step.proof.identity))
        node = array.node if array and array.node else str(running["node"])
        yield _clear(step, 1, "stop", Run(("mdadm", "--stop", node)))
        after = (step.added(_clearing(1)),)
    # Key slots of random bytes go first, so that the journal has blank sectors there once more.
    filled = [node for node in ours if (machine.observe("content", identities[node]) or {}).get("filled")]
    cleared = (node for node in ours if node in carried or lost[node] or node in filled)
    for number, node in enumerate(cleared, 1 + len(after)):
        clear = _zero(node, blocks.get(identities[node]), step.proof)
        yield replace(_clear(step, number, "clear", clear, after), destroys=lost[node], clears=(node,))
    if (
        step.proof.kind == "table"
        and not carried
        and any(leftovers.partitions_on(one, machine) for one in identities.values())
    ):
        # The clearing was interrupted between the table's last byte and the kernel's look at what is left of it.
        yield _clear(step, 1, "let the kernel forget", Run(("blockdev", "--rereadpt", *ours)))


def _zero(node: str, block: BlockFact | None, proof: Proof) -> Zero:
    """Clears both ends and every signature, if nothing new is there; an array's superblock last, because without it what
    mdadm wrote besides could not be told from a person's data. Of an encryption all in front of the data:
    luksFormat fills it with random bytes, which nobody knows without the header. Of a table its own places alone: on erased
    flash zeroes in a partition would be no blank bytes.
    """
    if block is None:
        return Zero(node, (), ())
    if proof.kind == "table":
        end, backup = extent(block.size, MOST_SECTOR)
        places = ((0, end), (backup, block.size - backup), *ends_of(block.size, (), offsets(block)))
        return Zero(node, joined(places), block.found)
    front = (0, min(int(str(proof.expect.get("data_offset", 0))), block.size))
    ranges = joined((*ends_of(block.size, [(0, block.size)], offsets(block)), front))
    at = positions(block.size).get(str(proof.expect.get("metadata"))) if proof.kind == "array" else None
    if at is not None:
        ranges = behind_all(ranges, at, SIZE)
    return Zero(node, ranges, block.found)


def _file(step: Step, machine: Machine) -> Iterator[Step]:
    """The step that deletes a swap file; one of another plan, or one that has grown since, is not ours."""
    assert step.proof is not None
    file, planned = step.proof.file, step.proof.expect.get("size")
    found = machine.observe("file", file)
    if found is None:
        return
    size, stain = found.get("size"), found.get("stain")
    if not isinstance(size, int) or not isinstance(planned, int) or size > planned or stain:
        raise NotOurs(
            refusal(
                "not-of-that-step",
                "file",
                file=file,
                size=size if isinstance(size, int) and not stain else 0,
                stain=str(stain or ""),
            )
        )
    yield replace(_clear(step, 1, "delete", Run(("rm", "--force", file))), clears=(file,))


def _clearing(number: int) -> str:
    """The verb of a step that clears a device of an interrupted step."""
    return f"clear.{number}"


def _clear(step: Step, number: int, verb: str, action: Run | Zero, after: tuple[str, ...] = ()) -> Step:
    return Step(
        id=step.added(_clearing(number)),
        phase=step.phase,
        say=f"{verb} what is left of an interrupted step: {step.say}",
        action=action,
        because=step.because,
        line=step.line,
        needs=(*step.needs, *after),
        targets=step.targets,
        origin=Origin("clear", step.id),
    )
