"""Arrays that are not assembled or not started, and volumes that are not active: nothing can be decided about unseen content.

mdadm starts an array by itself as soon as all members are there that the newest of them speaks of. After a power cut
one may have missed the last update of its superblock; then a timer starts the array half a minute later
(mdadm-last-resort@.timer), or, where a rule or a mask keeps it off, nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from raidplan.apply.decide.lost_superblocks import is_given_up
from raidplan.apply.decide.member_names import called
from raidplan.apply.decide.missing_members import (
    NOT_THERE,
    MissingMembers,
    added_since,
    best_of,
    carriers,
    carries,
    is_started,
    loss_of,
)
from raidplan.apply.decide.redo_steps import half_done
from raidplan.apply.decide.too_many_lost import assembled, named_in_shell
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figure
from raidplan.base.identity import Identity, group_of, md_form
from raidplan.base.levels import LEVELS
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.facts.prove import differences, differing
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Step


def not_started(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """Each existing array and volume of the plan that does not run, with the remedy; not those of an interrupted step."""
    yield from _arrays(plan, machine, past)
    yield from _closed_encryptions(plan, machine, past)
    for step in plan.steps:
        if _is_hidden(step, plan, machine, past):
            assert step.proof
            yield refusal("not-started", "volume", place=step.because, line=step.line, volume=step.proof.key)


def _closed_encryptions(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """Encryptions that are not open, and on which something was made."""
    steps = {step.id: step for step in plan.steps}
    for step in plan.steps:
        if step.proof is None or step.proof.kind != "mapping" or machine.observe("mapping", step.proof.key):
            continue
        make = next(steps[need] for need in step.needs if need in steps and steps[need].creates)
        found = machine.observe("encryption", make.proof.key if make.proof else "")
        if found is None or found.get("type") == "plain" or half_done(make, machine, past):
            continue
        if _used(step, make, plan, past, not _known(make, past)):
            node = make.guard[0] if make.guard[0].startswith("/") else str(found.get("device"))
            name, target = str(step.proof.expect["name"]), plan.target
            yield refusal(
                "not-started",
                "encryption",
                place=step.because,
                line=step.line,
                node=node,
                name=name,
                target=target,
            )


def _known(make: Step, past: Past) -> bool:
    return make.id in past.ended or made_by(make) in past.made


def _used(step: Step, make: Step, plan: Plan, past: Past, otherwise: bool) -> bool:
    """Whether a step that writes to this object, of which `make` is the one that makes it, was begun or ended; `otherwise`: the
    answer if that is unknown. On one that the open run made, nothing of an earlier run counts."""
    on_it = [each for each in plan.steps if not {*each.guard}.isdisjoint(step.awaits)]
    made = frozenset() if past.is_open and make.id in past.run else past.made
    used = any(each.id in past.begun | past.ended | {*past.moved} or made_by(each) in made for each in on_it)
    return used or (bool(on_it) and otherwise)


def _is_hidden(step: Step, plan: Plan, machine: Machine, past: Past) -> bool:
    """The volume is as planned except that it is not active, and may have content."""
    if (
        step.proof is None
        or step.proof.kind != "volume"
        or {*(differing(step.proof, machine) or ())} != {"active"}
    ):
        return False
    group = group_of(step.proof.key)
    groups = (each.proof for each in plan.steps if each.proof and each.proof.kind == "volume_group")
    if any(differences(proof, machine) != [] for proof in groups if proof.key == group):
        return False  # of an earlier owner, by the same name
    return _used(step, step, plan, past, step.id not in past.begun)


def _arrays(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    made = made_nodes(plan)
    for step in plan.steps:
        if not step.creates or step.proof is None or step.proof.kind != "array":
            continue
        found = machine.observe("array", step.proof.key)
        if (found and is_started(found)) or half_done(step, machine, past):
            continue
        loss = loss_of(step, found or NOT_THERE, machine)
        new = added_since(step, loss, machine)
        missing = _not_members(step, machine, made, new)
        if not found and (len(missing) == len(step.guard) or is_given_up(step, past)):
            continue
        devices = len(step.guard) - len(new)
        figures: dict[str, Figure] = {
            "there": devices - len(missing),
            "devices": devices,
            "missing": tuple(missing),
        }
        figures |= {"node": str(found["node"]) if found else step.awaits[0], "uuid": md_form(step.proof.key)}
        figures |= _lacking(step, found or NOT_THERE, loss, new, plan, machine)
        cases = (
            ("inactive", "inactive-incomplete") if found else ("not-assembled", "not-assembled-incomplete")
        )
        yield Refusal("not-started", cases[bool(missing)], step.because, step.line, figures)


def _lacking(
    step: Step,
    found: Properties,
    loss: MissingMembers | None,
    new: Collection[str],
    plan: Plan,
    machine: Machine,
) -> dict[str, Figure]:
    """The devices without which the array would start, as a person knows them, and how many more it could lose then.

    One with parity that is not clean is not started so (`raid5_run` in raid5.c): mdadm has to call it clean before.
    """
    names = called(step, plan)
    lacking = tuple(
        name
        for identity, name in names.items()
        if identity not in new and not carries(identity, step, machine)
    )
    if loss is None:
        return {"lacking": lacking, "behind": (), "left": 0, "level": "", "unclean": ""}
    stop = f"mdadm --stop {found['node']} && " if found else ""
    whole = [each for each in carriers(step, found, machine) if each.device not in loss.behind]
    forced = assembled(step, named_in_shell(step, best_of(whole), plan, machine), "--force")
    return {
        "lacking": lacking,
        "behind": tuple(names.get(identity, identity) for identity in loss.behind),
        "left": max(0, loss.survived - len(loss.lost)),
        "level": loss.level,
        "unclean": stop + forced if LEVELS[loss.level].parity and loss.lost and forced else "",
    }


def missing_members(step: Step, machine: Machine, made: Mapping[str, str]) -> list[str]:
    """The devices of an array's step that are no members of it on the machine, but those that the layout has added since;
    `made` as from `made_nodes`."""
    assert step.proof is not None
    found = machine.observe("array", step.proof.key) or NOT_THERE
    return _not_members(step, machine, made, added_since(step, loss_of(step, found, machine), machine))


def _not_members(step: Step, machine: Machine, made: Mapping[str, str], new: Collection[str]) -> list[str]:
    """The devices of an array's step that are no members of it, but those that are `new` in the layout, by identity."""
    return [
        Identity.read(device).disk or device
        for device in step.guard
        if (identity := identity_of(device, made)) not in new and not carries(identity, step, machine)
    ]
