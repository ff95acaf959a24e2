"""Steps whose end nobody knows, because a kill or a power cut came in between: what is cleared before they run again.

A signature is no proof that mkfs was finished, so a device that such a step wrote over is made blank again
and written anew. That is safe: the device was proven blank before the step was begun, the journal shows
that it was, nothing that needs it was begun, and everything on it carries the identity that the plan gave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidplan.apply.journal import Past
from raidplan.facts import Machine
from raidplan.plan import ADDED, Proof, Run, Step, Value

TABLE_SIGNATURES = frozenset({"gpt", "PMBR"})
"""What sfdisk writes; libblkid reads no identity from them."""


class NotOurs(Exception):
    """Something stands there that the step cannot have left; the message names it."""


def clearing(step: Step, machine: Machine) -> tuple[Step, ...]:
    """The steps that make blank again what a half-done step wrote over. Raises NotOurs."""
    if step.proof is None or not step.creates:
        return ()
    devices = [device for device in _devices(step.proof) if _carried(device, step.proof, machine)]
    match step.proof.kind:
        case "array":
            return tuple(_array(step, step.proof, machine, found=bool(devices)))
        case "swap" if step.proof.key.startswith("file:"):
            file = step.proof.key.removeprefix("file:")
            return (
                (_clear(step, 1, "delete", ("rm", "--force", file)),) if machine.observe("file", file) else ()
            )
        case _ if devices:
            return (_clear(step, 1, "clear", ("wipefs", "--all", *step.guard)),)
    return ()


def half_done(step: Step, machine: Machine, past: Past) -> bool:
    """It writes over a device, and the journal does not show that it ended."""
    if not step.creates:
        return False
    if step.id in past.begun:
        return True
    # A swap file is made by several steps; before the last of them nothing shows what it is.
    file = step.proof.key.removeprefix("file:") if step.proof and step.proof.key.startswith("file:") else ""
    shown = step.proof is not None and machine.observe(step.proof.kind, step.proof.key) is not None
    return bool(file) and step.id in past.ended and not shown and machine.observe("file", file) is not None


def planned_for(step: str) -> str:
    """The id of the step that another one was added for; any other id as it is."""
    return step.partition(ADDED)[0]


def _array(step: Step, proof: Proof, machine: Machine, *, found: bool) -> Iterator[Step]:
    """Superblocks may be on some members only, and the array may run."""
    running = machine.observe("array", proof.key)
    if running:
        yield _clear(step, 1, "stop", ("mdadm", "--stop", str(running["node"])))
    if found:
        zero = _clear(step, 2, "clear", ("mdadm", "--zero-superblock", *step.guard))
        yield zero


def _clear(step: Step, number: int, verb: str, argv: tuple[str, ...]) -> Step:
    earlier = (f"{step.id}{ADDED}clear.{number - 1}",) if number > 1 else ()
    return Step(
        id=f"{step.id}{ADDED}clear.{number}",
        phase=step.phase,
        say=f"{verb} what is left of a step that was begun and never ended: {step.say}",
        action=Run(argv),
        because=step.because,
        line=step.line,
        needs=(*step.needs, *earlier),
        targets=step.targets,
        clears=step.guard,
    )


def _devices(proof: Proof) -> list[str]:
    """What the object stands on, as the machine's facts name it."""
    expect: Mapping[str, Value] = proof.expect
    if proof.kind == "table":
        return [str(expect["disk"])]
    named = [expect.get(key) for key in ("members", "spares", "journal", "device")]
    return [
        each
        for value in named
        for each in (value if isinstance(value, list) else [value])
        if isinstance(each, str)
    ]


def _carried(device: str, proof: Proof, machine: Machine) -> bool:
    """There is something on the device, and it is ours. Raises NotOurs."""
    found = machine.observe("content", device)
    carried = found["carries"] if found else []
    assert isinstance(carried, list)
    ours = TABLE_SIGNATURES if proof.kind == "table" else frozenset({proof.key})
    for word in carried:
        kind, _, uuid = word.partition(" ")
        if (kind if proof.kind == "table" else uuid) not in ours:
            raise NotOurs(f"{device} carries {word}")
    return bool(carried)
