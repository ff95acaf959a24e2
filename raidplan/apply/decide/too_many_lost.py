"""Arrays that have lost more members than their level goes on without.

md keeps one of them running without its data, or does not start it. What is added to it, or made anew, takes the place of a
member that may only be unplugged, so the one way is to bring the members back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from raidplan.apply.change.members import MISSING
from raidplan.apply.decide.lost_superblocks import is_given_up
from raidplan.apply.decide.member_names import called, devices_of, in_shell
from raidplan.apply.decide.redo_steps import half_done
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.base.identity import NODE, Identity, md_form
from raidplan.base.levels import LEVELS, losses_survived, survives
from raidplan.base.magic import member_of
from raidplan.facts import Machine
from raidplan.facts.arrays import BROKEN, NOT_STARTED
from raidplan.facts.machine import Properties, texts
from raidplan.plan.step import Plan, Step

NOT_THERE: Properties = {}


@dataclass(frozen=True, slots=True)
class Loss:
    """The slots that an array has lost, of so many; `behind`: the planned members that are there, and older than the others."""

    level: str
    members: int
    layout: str | None
    lost: tuple[int, ...]
    behind: tuple[str, ...] = ()

    @property
    def survived(self) -> int:
        """The number of members that it can always lose."""
        return min(losses_survived(self.level, self.members, self.layout), self.members - 1)

    @property
    def is_survived(self) -> bool:
        """The others have all of the data."""
        return survives(self.level, self.members, self.layout, self.lost)


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


def loss_of(step: Step, found: Properties, machine: Machine) -> Loss | None:
    """The loss of an array that runs, by its slots; of another one by the superblocks on its devices. None where nothing is
    left of it, or its level is none that is known here."""
    assert step.proof is not None
    if is_started(found):
        members = texts(found.get("members"))
        slots = tuple(slot for slot, one in enumerate(members) if _is_lost(one, machine))
        return _loss(found, len(members), slots)
    behind = tuple(each for each in _wanted(step) if each in texts(found.get("behind")))
    there = tuple(each for each in _carrying(step, machine) if each not in behind)
    others = _others(step, found, machine)
    if not (found or there or others):
        return None
    return _loss(step.proof.expect, len(_wanted(step)), _slots(step, there, others), behind)


def is_started(found: Properties) -> bool:
    """The array is there, and md has started it."""
    return bool(found) and found.get("state") not in NOT_STARTED


def _loss(
    array: Properties, members: int, lost: tuple[int, ...], behind: tuple[str, ...] = ()
) -> Loss | None:
    level, layout = str(array.get("level")), str(array.get("layout") or "") or None
    try:
        known = LEVELS[level].copies_of(members, layout) > 0 and members > 0
    except (KeyError, ValueError):
        return None
    return Loss(level, members, layout, lost, behind) if known else None


def _unsynced(loss: Loss, found: Properties) -> bool:
    """Members that md was still rebuilding count for nothing: `degraded` has them too."""
    degraded = found.get("degraded")
    return isinstance(degraded, int) and not LEVELS[loss.level].arranged and degraded > loss.survived


def _refusal(step: Step, loss: Loss, found: Properties, plan: Plan, machine: Machine) -> Iterator[Refusal]:
    """The refusal with the commands, if enough members are connected; else they have to be, first."""
    assert step.proof is not None
    names, degraded = called(step, plan), found.get("degraded")
    wanted = _wanted(step)
    figures: Figures = {
        "count": max(len(loss.lost), degraded if isinstance(degraded, int) else 0, 1),
        "devices": loss.members,
        "lost": tuple(names.get(wanted[slot], wanted[slot]) for slot in loss.lost if slot < len(wanted)),
        "level": loss.level,
        "survived": loss.survived,
        "copies": LEVELS[loss.level].arranged,
        "state": str(found.get("state", "")) if found.get("state") == BROKEN else "",
        "node": step.awaits[0],
    }
    slots = _slots(step, _carrying(step, machine), _others(step, found, machine))
    back = _loss(step.proof.expect, loss.members, slots)
    if back is None or not back.is_survived or loss.members != len(wanted):
        yield Refusal("too-many-lost", "", step.because, step.line, figures)
        return
    # Without redundancy no member is behind, or none may be.
    force = ("--force",) if LEVELS[loss.level].redundant or loss.behind else ()
    listed = with_superblock(step, found, plan, machine)
    more: Figures = {
        "stop": f"mdadm --stop {found['node']}" if found else "",
        "examine": f"mdadm --examine {' '.join(listed)}",
        "command": assembled(step, listed, *force),
        "forced": bool(force),
    }
    yield Refusal("too-many-lost", "back", step.because, step.line, {**figures, **more})


def with_superblock(step: Step, found: Properties, plan: Plan, machine: Machine) -> tuple[str, ...]:
    """The devices that can be members of an array, by their names in a shell: an array is assembled of no other."""
    devices = devices_of(step, plan, machine)
    others = (each for each in _others(step, found, machine) if each not in devices)
    return (
        *(name for identity, name in devices.items() if carries(identity, step, machine)),
        *(escaped(in_shell(each, machine)) for each in others),
    )


def assembled(step: Step, devices: Iterable[str], *options: str) -> str:
    """The command that assembles an array of these devices and lets nobody write to it."""
    assert step.proof is not None
    uuid = f"--uuid={md_form(step.proof.key)}"
    return " ".join(("mdadm", "--assemble", step.awaits[0], uuid, *options, "--readonly", *devices))


def _is_lost(member: str, machine: Machine) -> bool:
    """The slot is empty, or its device is gone: a level without redundancy keeps the name of one in its slot."""
    if member == MISSING or Identity.read(member).kind != NODE:
        return member == MISSING
    nodes = {block.identity for block in machine.blocks}
    return bool(nodes) and member not in nodes


def _wanted(step: Step) -> tuple[str, ...]:
    return tuple(texts(step.proof.expect.get("members")) if step.proof else ())


def carries(identity: str, step: Step, machine: Machine) -> bool:
    """The device has the superblock of the step's array."""
    return step.proof is not None and member_of(step.proof.key) in machine.carried(identity)


def _carrying(step: Step, machine: Machine) -> tuple[str, ...]:
    return tuple(each for each in _wanted(step) if carries(each, step, machine))


def _others(step: Step, found: Properties, machine: Machine) -> tuple[str, ...]:
    """Devices that can be in the place of a planned member: those in the array, and the layout's spares with its superblock.

    Of an array that is not started, md calls all members spares; of one that runs, those that have no data.
    """
    spares = texts(step.proof.expect.get("spares")) if step.proof else []
    inside = [each for each in texts(found.get("members")) if not _is_lost(each, machine)]
    possible = (*inside, *(each for each in spares if carries(each, step, machine)))
    none = [*_wanted(step), *texts(found.get("behind"))]
    if is_started(found):
        none += texts(found.get("spares"))
    else:
        possible = (*possible, *texts(found.get("spares")))
    return tuple(each for each in dict.fromkeys(possible) if each not in none)


def _slots(step: Step, there: Collection[str], others: Sequence[str]) -> tuple[int, ...]:
    """The slots of planned members that are not there; each other device counts as one of them."""
    lost = [slot for slot, each in enumerate(_wanted(step)) if each not in there]
    return tuple(lost[len(others) :])
