"""Arrays that run under another name, such as md127, because they were assembled before their name was known."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.refusal import Refused, refusal
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.facts.prove import differences
from raidplan.plan.initramfs import INITRAMFS_TOOLS
from raidplan.plan.origin import Origin
from raidplan.plan.step import ADDED, Run, Step

LINKS = "/dev/md/"


class InUse(Refused):
    """The array can only be stopped when nobody uses it."""


def under_its_name(step: Step, machine: Machine) -> Iterator[Step]:
    """The steps that stop an array which is as planned but for its node, and assemble it under its name. Raises InUse."""
    node = next((node for node in step.awaits if node.startswith(LINKS)), "")
    if step.proof is None or step.proof.kind != "array" or not node or differences(step.proof, machine) != []:
        return
    found = machine.observe("array", step.proof.key) or {}
    links = found.get("links")
    if not isinstance(links, list) or node.removeprefix(LINKS) in links:
        return
    if users := _users(found, machine):
        now, renew = str(found["node"]), INITRAMFS_TOOLS.renew
        raise InUse(refusal("runs-under-other-name", now=now, planned=node, users=users, command=renew))
    name = step.targets[0]
    stop = _step(
        step, "stop", f"stop {name}, which was assembled as {found['node']} before its name was known",
        ("mdadm", "--stop", str(found["node"])),
    )  # fmt: skip
    yield stop
    yield _step(
        step, "assemble", f"assemble {name} under its name",
        ("mdadm", "--assemble", node, f"--uuid={md_form(step.proof.key)}", *step.guard),
        after=(stop.id,), awaits=step.awaits,
    )  # fmt: skip


def _step(
    step: Step,
    verb: str,
    say: str,
    argv: tuple[str, ...],
    *,
    after: tuple[str, ...] = (),
    awaits: tuple[str, ...] = (),
) -> Step:
    return Step(
        id=f"{step.id}{ADDED}name.{verb}",
        phase=step.phase,
        say=say,
        action=Run(argv),
        because=step.because,
        line=step.line,
        needs=(*step.needs, *after),
        targets=step.targets,
        awaits=awaits,
        origin=Origin("change", step.id),
    )


def _users(found: Properties, machine: Machine) -> str:
    array = next((block for block in machine.blocks if block.name == found["device"]), None)
    above = [block.node or block.name for block in machine.blocks if found["device"] in block.below]
    return "; ".join([*(array.uses if array else ()), *above])
