"""The execution of a plan's steps: side by side where they share no target, each guarded before and recorded after.

When one fails, no other is started and the running ones finish; nothing is ever killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.apply.decide.found_before import AsFound
from raidplan.apply.flush import devices_by_group
from raidplan.apply.journal.sectors import Sectors
from raidplan.apply.recheck_target import Decided
from raidplan.apply.refusal import Refusal
from raidplan.apply.syncs import Sync
from raidplan.apply.work import Event, Record, Work
from raidplan.apply.world import World
from raidplan.facts import DiskFact
from raidplan.facts.failure import Failure, failures_of
from raidplan.plan.step import Plan, RenewInitramfs, Step

TELL_SECONDS = 1.0
"""The seconds between two looks at how far the running steps are."""
WORKERS = 8


@dataclass(slots=True)
class Outcome:
    """The outcome of every step, by id."""

    done: list[str] = field(default_factory=list)
    failed: dict[str, tuple[Failure, ...]] = field(default_factory=dict)
    not_begun: list[str] = field(default_factory=list)
    interrupted: bool = False
    unproven: list[Refusal] = field(default_factory=list)
    """Promises of the plan that the machine did not show when everything was read back."""
    syncs: tuple[Sync, ...] = ()
    """The syncs that md continues by itself."""
    waiting: tuple[str, ...] = ()
    """The steps that wait for a system below the target, or for more in it."""
    missing: tuple[str, ...] = ()
    """The things that they wait for: `system`, `kernel`, or names of packages."""

    @property
    def complete(self) -> bool:
        """Every step was done."""
        return not self.failed and not self.not_begun


def execute(
    plan: Plan,
    disks: Mapping[str, DiskFact],
    tell: Callable[[Event], None],
    record: Record,
    world: World,
    *,
    overwrites: frozenset[str] = frozenset(),
    arrays: Mapping[str, str] | None = None,
    below: Mapping[str, frozenset[str]] | None = None,
    before: Mapping[str, Sectors] | None = None,
    since: Mapping[str, AsFound] | None = None,
    headers: Path | None = None,
    workers: int = WORKERS,
) -> Outcome:
    """Runs every step of the plan on the disks (by layout name). `tell` is called in this thread only.

    `overwrites` are the devices that were there before the plan, as its guards call them; `arrays`, `below`,
    `before` and `since` as in `Decided`; `headers` is the folder for copies of the LUKS headers that are made. Raises RuntimeError where steps wait for each other.
    """
    outcome = Outcome()
    # The initramfs takes longest, and uses no disk of the plan: begun last, everything would wait for it.
    first = sorted(plan.steps, key=lambda step: not isinstance(step.action, RenewInitramfs))
    waiting = {step.id: step for step in first}
    running: dict[Future[float], Step] = {}
    with ExitStack() as holds, ThreadPoolExecutor(workers) as pool:
        wiped = frozenset(disk.name for disk in plan.disks if disk.wipe)
        decided = Decided(disks, arrays or {}, below or {}, wiped, before or {}, since or {})
        work = Work(disks, record, world, holds, overwrites, decided, headers, devices_by_group(plan))
        while (waiting or running) and not (outcome.failed and not running):
            try:
                if not outcome.failed and not outcome.interrupted:
                    for step in _ready(waiting.values(), running.values(), workers - len(running)):
                        tell(Event("started", waiting.pop(step.id)))
                        running[pool.submit(work.do, step)] = step
                if not running:
                    if waiting and not outcome.failed and not outcome.interrupted:
                        raise RuntimeError(_stuck(waiting))
                    break
                for future in wait(running, TELL_SECONDS, return_when=FIRST_COMPLETED).done:
                    _finish(future, running.pop(future), outcome, tell)
                for step in running.values():
                    if event := work.news(step):
                        tell(event)
            except KeyboardInterrupt:
                outcome.interrupted = True
    # Not `waiting`: an interrupt can come between two lines, and what it took from one list be on no other.
    outcome.not_begun = [s.id for s in plan.steps if s.id not in outcome.failed and s.id not in outcome.done]
    return outcome


def _ready(waiting: Iterable[Step], running: Iterable[Step], room: int) -> list[Step]:
    """The steps, in their order, whose needs are met and whose targets nobody works on; syncs last, for they slow down all the rest."""
    waiting = list(waiting)
    unmet = {step.id for step in waiting} | {step.id for step in running}
    busy = {target for step in running for target in step.targets}
    rest = any(step.phase != "sync" for step in (*waiting, *running))
    ready: list[Step] = []
    for step in waiting:
        if len(ready) >= room:
            break
        if (
            unmet.isdisjoint(step.needs)
            and busy.isdisjoint(step.targets)
            and (step.phase != "sync" or not rest)
        ):
            ready.append(step)
            busy |= set(step.targets)
    return ready


def _stuck(waiting: Mapping[str, Step]) -> str:
    """Steps that wait for each other, of which none can ever begin: no machine makes that, only a wrong plan."""
    words = (
        f"{id} waits for {', '.join(need for need in step.needs if need in waiting)}"
        for id, step in waiting.items()
    )
    return "no step can begin: " + "; ".join(words)


def _finish(future: Future[float], step: Step, outcome: Outcome, tell: Callable[[Event], None]) -> None:
    problem = future.exception()
    if problem is None:
        outcome.done.append(step.id)
        tell(Event("done", step, future.result()))
    elif isinstance(problem, OSError | ValueError):
        outcome.failed[step.id] = failures_of(problem)
        tell(Event("failed", step, failures=failures_of(problem)))
    else:
        raise problem
