"""The carrying out of a decision: begin the journal, execute the steps, read the machine back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from raidplan.apply.change.change_array import taken_out
from raidplan.apply.decide.comparison import UNPROVEN, unproven
from raidplan.apply.decision import Decision
from raidplan.apply.execute import WORKERS, Outcome, execute
from raidplan.apply.journal.journal import Journal
from raidplan.apply.journal.past import HEADERS, Past
from raidplan.apply.journal.sectors import compared
from raidplan.apply.journal.step_fingerprints import disks_below, marks, marks_of_added, marks_of_disks
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.syncs import syncs
from raidplan.apply.teardown.assembly_hold import lift
from raidplan.apply.undo.copying import NoRoom, Start, keep
from raidplan.apply.work import Event
from raidplan.apply.world import World
from raidplan.base.identity import Identity
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.identities import made_nodes
from raidplan.plan.origin import LAYOUT, TEARDOWN
from raidplan.plan.step import Step, Zero


def carry_out(
    decision: Decision, journal: Journal, tell: Callable[[Event], None], *, workers: int | None = None
) -> Outcome:
    """Carries out the remaining steps, recorded in the journal, and reads everything back; closes the journal if all is
    as planned.

    Raises NoRoom before the first step.
    """
    try:
        _begin(decision, journal)
        outcome = _execute(decision, journal, tell, workers or WORKERS)
    finally:
        with suppress(OSError):  # the next run removes it, and says so if it must not begin
            lift(journal.world)
    _read_back(decision, journal, outcome)
    return outcome


def _begin(decision: Decision, journal: Journal) -> None:
    """Writes the plan into the journal, with all that a resumed run has to know of its steps, and the safety copies. Raises NoRoom."""
    past = journal.past if journal.past.is_open else Past()
    start = Start(decision.whole, decision.left, decision.disks, decision.machine, past, journal.world)
    try:
        added = [step for step in decision.left.steps if step.origin != LAYOUT]
        written = {step.id: step.guard for step in added if step.guard and step.changes}
        written |= compared(added) | taken_out(added)
        zeroes = [step for step in added if step.origin == TEARDOWN and isinstance(step.action, Zero)]
        journal.listed = {step.id: step.destroys for step in zeroes}
        journal.marks = {
            **marks_of_added(decision.whole, decision.disks, written),
            **marks(decision.whole, decision.disks),
        }
        joining = {step.id: step.guard for step in added if step.origin.kind == "change"}
        journal.disk_marks = marks_of_disks(decision.whole, decision.disks, joining)
        journal.origins = {step.id: step.origin for step in added}
        journal.begin(plan_to_json(decision.whole), plan_digest(decision.whole))
        journal.record_copies(*keep(start, journal.folder))
    except OSError as error:
        why = error.strerror or ""
        raise NoRoom(refusal("no-room", "folder", place=str(journal.folder), error=why)) from None


def _execute(decision: Decision, journal: Journal, tell: Callable[[Event], None], workers: int) -> Outcome:
    """Runs the remaining steps, each recorded in the journal."""
    return execute(
        decision.left,
        decision.disks,
        tell,
        journal,
        journal.world,
        overwrites=decision.overwrites,
        arrays=_arrays(decision),
        below=disks_below(decision.whole),
        before=decision.before,
        since=decision.since,
        headers=journal.folder / HEADERS,
        workers=workers,
    )


def _read_back(decision: Decision, journal: Journal, outcome: Outcome) -> None:
    """Reads the machine again, completes the outcome by what it shows, and closes the journal if all is as planned."""
    world = journal.world
    if outcome.done:
        # Of a run that failed only those of its own: an event of an old member would assemble what nobody has cleared yet.
        begun = [step for step in decision.left.steps if step.id not in outcome.not_begun]
        steps = decision.whole.steps if outcome.complete else begun
        world.look_again(*_devices(steps, decision, world), settle=True)
    if not outcome.complete:
        return
    world.tools = decision.machine.objects.get("tool")
    machine = world.read(decision.whole)
    named = machine.named({disk.node: name for name, disk in decision.disks.items()})
    outcome.unproven = unproven(decision.promised, named)
    outcome.syncs = syncs(decision.whole, named, world, outcome.done)
    if not outcome.unproven:
        outcome.unproven = not_closed(journal)


def _arrays(decision: Decision) -> dict[str, str]:
    """The UUIDs of the arrays that run, and of those of the layout, by node."""
    running = decision.machine.objects.get("array", {}).items()
    made = ((node, Identity.read(each)) for node, each in made_nodes(decision.whole).items())
    planned = {node: each.key for node, each in made if each.kind == "array"}
    return {str(found.get("node")): uuid for uuid, found in running} | planned


def _devices(steps: Iterable[Step], decision: Decision, world: World) -> list[str]:
    """The devices that steps write to or make, as far as they are there.

    udev may have looked at one before its signature was whole; its database, which lsblk shows, then lacks that.
    """
    words = (word for step in steps for word in (*step.guard, *step.awaits))
    nodes = (decision.nodes.get(Identity.read(word).disk, word) for word in words)
    return [node for node in dict.fromkeys(nodes) if node.startswith("/dev/") and world.exists(node)]


def close_what_stands(decision: Decision, journal: Journal) -> list[Refusal]:
    """Closes the journal of a run that was cut off behind its last step; the reason if it took no record."""
    journal.world.look_again(*_devices(decision.whole.steps, decision, journal.world), settle=True)
    return not_closed(journal)


def not_closed(journal: Journal) -> list[Refusal]:
    """Closes the journal; the reason if it took no record."""
    try:
        journal.close()
    except OSError as error:
        return [refusal(UNPROVEN, "journal", place=str(journal.file), error=error.strerror or "")]
    return []
