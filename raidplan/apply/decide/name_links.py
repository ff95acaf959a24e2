"""The names below /dev/md of arrays that run under another, such as md127, because they were assembled before their names were known.

No array is stopped for its name: the volumes, arrays and mounts on it go on. A rule of udev below /run, which the next
boot forgets, adds the link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from raidplan.apply.change.difference import runs_as
from raidplan.apply.refusal import Refused, refusal
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.facts.host import NAMES
from raidplan.facts.machine import Properties, texts
from raidplan.plan.origin import Origin
from raidplan.plan.step import Action, Plan, Run, Step, WriteFile
from raidplan.plan.switches import RELOAD_RULES

LINKS = "/dev/md/"


class NameTaken(Refused):
    """Another array has the name."""


def lacks_its_name(step: Step, machine: Machine) -> bool:
    """Whether the array of a step runs without its name, in whatever shape: what changes it calls it by that. Raises
    NameTaken."""
    node = _link(step)
    now = runs_as(node, _found(step, machine)) if node else ""
    if now == node:
        return False
    name, others = node.removeprefix(LINKS), machine.objects.get("array", {}).values()
    if taken := next((other for other in others if name in texts(other.get("links"))), None):
        other = f"/dev/{taken['device']}"
        raise NameTaken(refusal("runs-under-other-name", now=now, planned=node, other=other))
    return True


def name_links(plan: Plan, unnamed: Sequence[Step], machine: Machine) -> Iterator[Step]:
    """The steps that give those arrays of the plan their names."""
    if not unnamed:
        return
    first, text = unnamed[0], _rule(plan)
    rule = _step(
        first,
        "rule",
        f"let udev add the names of the arrays ({NAMES}, until the next boot)",
        WriteFile(NAMES, text),
        NAMES,
    )
    reload = _step(
        first,
        "reload",
        "let udev read that rule",
        Run(RELOAD_RULES),
        "udev",
        needs=(rule.id,),
    )
    yield from (rule, reload)
    for step in unnamed:
        node = str(_found(step, machine)["node"])
        yield _step(
            step, "link", f"give {step.targets[0]} its name, as it was assembled as {node} before its name was known",
            Run(("udevadm", "trigger", "--settle", "--action=change", "--name-match", node)), step.targets[0],
            needs=(reload.id,), awaits=step.awaits,
        )  # fmt: skip


def _found(step: Step, machine: Machine) -> Properties:
    assert step.proof is not None
    return machine.observe("array", step.proof.key) or {}


def _link(step: Step) -> str:
    """The node of the array that a step makes, below /dev/md; empty for other steps."""
    is_array = step.proof is not None and step.proof.kind == "array"
    return next((node for node in step.awaits if is_array and node.startswith(LINKS)), "")


def _rule(plan: Plan) -> str:
    """The rule for all arrays of the plan: one that has its name keeps it."""
    head = "# Written by raidplan: names of arrays that a boot did not know; a boot forgets it."
    return "\n".join([head, *_lines(plan.steps)]) + "\n"


def _lines(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if (node := _link(step)) and step.proof:
            match = f'SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", ENV{{MD_UUID}}=="{md_form(step.proof.key)}"'
            yield f'{match}, SYMLINK+="md/{node.removeprefix(LINKS)}"'


def _step(
    step: Step,
    verb: str,
    say: str,
    action: Action,
    target: str,
    *,
    needs: tuple[str, ...] = (),
    awaits: tuple[str, ...] = (),
) -> Step:
    return Step(
        id=step.added(f"name.{verb}"),
        phase=step.phase,
        say=say,
        action=action,
        because=step.because,
        line=step.line,
        needs=needs,
        targets=(target,),
        awaits=awaits,
        origin=Origin("change", step.id),
    )
