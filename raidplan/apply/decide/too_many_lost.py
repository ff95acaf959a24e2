"""Arrays that have lost more members than their level goes on without.

md keeps one of them running without its data, or does not start it. What is added to it, or made anew, takes the place of a
member that may only be unplugged, so the one way is to bring the members back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidplan.apply.decide.lost_superblocks import is_given_up
from raidplan.apply.decide.member_names import called, devices_of, in_shell
from raidplan.apply.decide.missing_members import (
    NOT_THERE,
    MissingMembers,
    best_of,
    carriers,
    is_started,
    loss_at_best,
    loss_of,
    wanted,
)
from raidplan.apply.decide.redo_steps import half_done
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.base.identity import md_form
from raidplan.base.levels import LEVELS
from raidplan.facts import Machine
from raidplan.facts.arrays import BROKEN
from raidplan.facts.carriers import Carrier
from raidplan.facts.machine import Properties, texts
from raidplan.plan.step import Plan, Step


def too_many_lost(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """A refusal for each such array of the plan, with the commands that assemble it again once its members are back."""
    for step in plan.steps:
        if not step.creates or step.proof is None or step.proof.kind != "array":
            continue
        if half_done(step, machine, past) or is_given_up(step, past):
            continue
        found = machine.observe("array", step.proof.key) or NOT_THERE
        loss = loss_of(step, found, machine)
        if loss and (not loss.is_survived or found.get("state") == BROKEN or _unsynced(loss, found)):
            yield from _refusal(step, loss, found, plan, machine)


def _unsynced(loss: MissingMembers, found: Properties) -> bool:
    """Members that md was still rebuilding count for nothing: `degraded` has them too."""
    degraded = found.get("degraded")
    return isinstance(degraded, int) and not LEVELS[loss.level].arranged and degraded > loss.survived


def _refusal(
    step: Step, loss: MissingMembers, found: Properties, plan: Plan, machine: Machine
) -> Iterator[Refusal]:
    """The refusal with the commands, if enough members are connected; else they have to be, first."""
    assert step.proof is not None
    names, degraded, there = called(step, plan), found.get("degraded"), carriers(step, found, machine)
    away = [
        each
        for slot, each in enumerate(wanted(step))
        if slot in loss.lost and each not in _seated(loss, found, there)
    ]
    figures: Figures = {
        "count": max(len(loss.lost), degraded if isinstance(degraded, int) else 0, 1),
        "devices": loss.members,
        "lost": tuple(names.get(each, each) for each in away),
        "level": loss.level,
        "survived": loss.survived,
        "copies": LEVELS[loss.level].arranged,
        "state": str(found.get("state", "")) if found.get("state") == BROKEN else "",
        "node": step.awaits[0],
    }
    back, listed = loss_at_best(step, found, machine), named_in_shell(step, best_of(there), plan, machine)
    if back is None or not back.is_survived or loss.members != back.members or not listed:
        yield Refusal("too-many-lost", "", step.because, step.line, figures)
        return
    # Without redundancy no member is behind, or none may be.
    force = ("--force",) if LEVELS[loss.level].redundant or loss.behind else ()
    more: Figures = {
        "stop": f"mdadm --stop {found['node']}" if found else "",
        "examine": f"mdadm --examine {' '.join(listed)}",
        "command": assembled(step, listed, *force),
        "forced": bool(force),
    }
    yield Refusal("too-many-lost", "back", step.because, step.line, {**figures, **more})


def _seated(loss: MissingMembers, found: Properties, there: Iterable[Carrier]) -> set[str]:
    """The devices that have a slot, whichever the layout gives them."""
    if is_started(found):
        return {*texts(found.get("members"))}
    return {each.device for each in there if each.has_data and each.device not in loss.behind}


def named_in_shell(step: Step, there: Iterable[Carrier], plan: Plan, machine: Machine) -> tuple[str, ...]:
    """The names of devices in a shell."""
    planned = devices_of(step, plan, machine)
    names = (planned.get(each.device) or escaped(in_shell(each.device, machine)) for each in there)
    return tuple(dict.fromkeys(names))


def assembled(step: Step, devices: Iterable[str], *options: str) -> str:
    """The command that assembles an array of these devices and lets nobody write to it; empty without a device, for mdadm
    would take any then."""
    assert step.proof is not None
    uuid, listed = f"--uuid={md_form(step.proof.key)}", tuple(devices)
    words = ("mdadm", "--assemble", step.awaits[0], uuid, *options, "--readonly", *listed)
    return " ".join(words) if listed else ""
