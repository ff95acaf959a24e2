"""Runs the steps of a plan: side by side where they share no target, each guarded before and proven after.

When one fails, no other is started and the running ones finish; nothing is ever killed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

from raidplan.apply.files import write
from raidplan.apply.guard import not_blank
from raidplan.plan import Plan, Run, SetAttribute, Step, WriteBlock, WriteFile
from raidplan.run import run

APPEAR_SECONDS = 120
"""How long a device may take to appear after the program that makes it has ended."""
LOOK_AGAIN_SECONDS = 0.2
WORKERS = 8


class StepFailed(Exception):
    """A step did not do what it says; the message has the program's own last words."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened to a step; `seconds` since it was started."""

    kind: Literal["started", "done", "failed"]
    step: Step
    seconds: float = 0.0
    message: str = ""


@dataclass(slots=True)
class Outcome:
    """What became of the steps, by id."""

    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Every step was done."""
        return not self.failed and not self.left


def execute(
    plan: Plan, devices: Mapping[str, str], tell: Callable[[Event], None], *, workers: int = WORKERS
) -> Outcome:
    """Runs every step of the plan; `devices` are the disks' nodes by layout name."""
    outcome = Outcome()
    waiting = {step.id: step for step in plan.steps}
    running: dict[Future[float], Step] = {}
    with ThreadPoolExecutor(workers) as pool:
        while (waiting or running) and not (outcome.failed and not running):
            try:
                if not outcome.failed and not outcome.interrupted:
                    for step in _ready(waiting.values(), running.values(), workers - len(running)):
                        tell(Event("started", waiting.pop(step.id)))
                        running[pool.submit(_timed, step, devices)] = step
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    _finish(future, running.pop(future), outcome, tell)
            except KeyboardInterrupt:
                # A second one ends the wait as well; the children go on by themselves.
                if outcome.interrupted:
                    raise
                outcome.interrupted = True
    outcome.left = list(waiting)
    return outcome


def _ready(waiting: Iterable[Step], running: Iterable[Step], room: int) -> list[Step]:
    """The steps, in the plan's order, whose needs are met and whose targets nobody works on."""
    waiting = list(waiting)
    unmet = {step.id for step in waiting} | {step.id for step in running}
    busy = {target for step in running for target in step.targets}
    ready: list[Step] = []
    for step in waiting:
        if len(ready) >= room:
            break
        if unmet.isdisjoint(step.needs) and busy.isdisjoint(step.targets):
            ready.append(step)
            busy |= set(step.targets)
    return ready


def _finish(future: Future[float], step: Step, outcome: Outcome, tell: Callable[[Event], None]) -> None:
    problem = future.exception()
    if problem is None:
        outcome.done.append(step.id)
        tell(Event("done", step, future.result()))
    elif isinstance(problem, StepFailed | OSError | ValueError):
        outcome.failed[step.id] = str(problem)
        tell(Event("failed", step, message=str(problem)))
    else:
        raise problem


def _timed(step: Step, devices: Mapping[str, str]) -> float:
    started = time.monotonic()
    perform(step, devices)
    return time.monotonic() - started


def perform(step: Step, devices: Mapping[str, str]) -> None:
    """Does one step. Raises StepFailed; then nothing was written if the message is about a guard."""
    reasons = [reason for target in step.guard for reason in not_blank(resolved(target, devices))]
    if reasons:
        raise StepFailed("not done, because " + "; ".join(reasons))
    match step.action:
        case Run(argv, stdin):
            _run(tuple(resolved(word, devices) for word in argv), stdin)
        case WriteFile() | WriteBlock():
            write(step.action)
        case SetAttribute(file, content):
            _set_attribute(file, content)
    _await(step.awaits)


def resolved(word: str, devices: Mapping[str, str]) -> str:
    """`{d00}` as the node of that disk; any other word as it is."""
    if word.startswith("{") and word.endswith("}"):
        return devices[word[1:-1]]
    return word


def _run(argv: tuple[str, ...], stdin: str) -> None:
    result = run(argv, stdin)
    if result.returncode:
        last = (result.stderr.strip() or result.stdout.strip())[-2000:]
        raise StepFailed(f"{argv[0]} ended with {result.returncode}: {last or 'without a word'}")


def _set_attribute(file: str, content: str) -> None:
    # Not O_CREAT: sysfs is not a place for files, and a wrong path must fail.
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def _await(nodes: Iterable[str]) -> None:
    deadline = time.monotonic() + APPEAR_SECONDS
    for node in nodes:
        while not os.path.exists(node):
            if time.monotonic() > deadline:
                raise StepFailed(f"{node} did not appear within {APPEAR_SECONDS} s")
            time.sleep(LOOK_AGAIN_SECONDS)
