"""A change of a layout rehearsed: the old one applied and filled, the new one applied with kills and power cuts, everything read back."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from raidplan.base.words import counted
from raidplan.plan.codec import plan_to_json
from raidplan.plan.places import STATE
from raidplan.plan.step import Plan
from raidplan.topology.resolve import DISKS
from raidplan.twin.rehearsal.cases import Case, Fault
from raidplan.twin.rehearsal.faults import some
from raidplan.twin.rehearsal.kept import Kept, disks_of_both, kept
from raidplan.twin.rehearsal.making import make
from raidplan.twin.rehearsal.observed import acknowledged
from raidplan.twin.rehearsal.programs import program
from raidplan.twin.rehearsal.report import Claim, Report, Tried
from raidplan.twin.rehearsal.resumption import last_events, resumed_apply
from raidplan.twin.rehearsal.rig import GIVEN, SILENT, Rig, value_of
from raidplan.twin.rehearsal.stages import (  # fmt: skip
    APPLY_SECONDS,
    BOOT_SECONDS,
    NOTHING,
    WHOLE,
    Run,
    StageFailed,
    Wish,
    apply_command,
    apply_plan,
    put_key_files,
    start_twin,
)
from raidplan.twin.rehearsal.subject import Subject, Unsuited, check_disks
from raidplan.twin.rehearsal.untried import untried_of_change
from raidplan.twin.server import Disk, Twin
from raidplan.twin.server.image import Say

NEXT_PLAN, INTERRUPTION = "/root/next.json", "/root/interruption.py"
INTERRUPTIONS, DRAWS = 4, 5
"""Half of them kills, half power cuts, at places that the seed draws; a place that the apply has passed already is drawn anew."""
NOTHING_KEPT = (
    "--from: no file system with a mount point keeps its data by `diff`, so nothing could be read back, and nothing would show "
    "that a loss is seen; rehearse the new layout without --from"
)
OVER = 20000
"""The byte of a file at which the control writes: in its second record."""


@dataclass(frozen=True)
class Step:
    """A step of the change."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Place:
    """A place in the change: so many seconds after a step was begun."""

    number: int
    """The step, from 1."""
    seconds: float
    words: str


@dataclass(frozen=True)
class Change:
    """The change in the twin: what stays, and the plan that makes it."""

    rig: Rig
    """The twin as the new layout has it."""
    kept: Sequence[Kept]
    plan: Plan
    fills: Mapping[str, int]
    """The records of `fill` on each file system of the old layout."""

    @property
    def writes(self) -> bool:
        """Something writes while the change is made: a file system of the old layout stays where it is."""
        return any(each.stays for each in self.kept)

    def begin(self) -> None:
        """Puts everything into the twin that the apply takes, and keeps it over a power cut."""
        twin = self.rig.twin
        self.rig.put_programs()
        put_key_files(twin, self.rig.subject.topology.layout)
        twin.put(plan_to_json(self.plan).encode(), NEXT_PLAN)
        twin.put(program("interruption.py"), INTERRUPTION)
        twin.run("sync")

    def give(self, **given: Any) -> None:
        """Tells the witness what it reads and writes, by the names of the old layout."""
        before = json.loads(self.rig.twin.get(GIVEN))
        self.rig.give({**before, "paging": False, "fills": {**self.fills}, **given})

    def start_writing(self) -> None:
        """Writers on the file systems that stay where they are: nothing that the change makes or moves is touched."""
        if still := {each.name: each.mount for each in self.kept if each.stays}:
            self.give(mounts=still)
            self.rig.twin.run(
                "sync"
            )  # a system on the layout's own disks has what is given after the power cut, too
            self.rig.start_writing()


@dataclass(frozen=True)
class Blow:
    """An interruption as it was."""

    place: Place
    hit: bool
    """The apply was running, and its journal is open."""
    written: Mapping[str, int] = field(default_factory=dict)
    """The records that were acknowledged, by file system."""
    lost: int = 0
    """The writes that were lost with the power, for no disk had flushed them."""
    said: str = ""


def rehearse_change(
    subjects: tuple[Subject, Subject], plans: tuple[Plan, Plan], report: Report, wish: Wish, say: Say
) -> Report:
    """The report filled in, of the old layout and the new one; a stage that fails is in it, and ends it.

    Raises Unsuited before anything is started.
    """
    memory = max(subject.memory_mib for subject in subjects)
    before, after = (replace(subject, memory_mib=memory) for subject in subjects)
    disks = disks_of_both(before, after)
    check_disks(disks, after)
    if not (found := kept(before, after)):
        raise Unsuited(NOTHING_KEPT)
    run = Run(say)
    say(
        f"to come: the old layout applied and booted, the new one, the control, {counted(INTERRUPTIONS, 'interruption')}"
    )
    run.untried += untried_of_change(before, found)
    with contextlib.suppress(StageFailed):
        _rehearse(disks, (before, after), found, plans, wish, run)
    return run.into(report)


def _rehearse(
    disks: Sequence[Disk], subjects: tuple[Subject, Subject], found: Sequence[Kept], plans: tuple[Plan, Plan], wish: Wish, run: Run
) -> None:  # fmt: skip
    before, after = subjects
    with start_twin(disks, before, wish, run) as twin:
        old = Rig.of(twin, before, plans[0])
        make(old, plans[0], run)
        change = Change(Rig.of(twin, after, plans[1]), found, plans[1], old.fills)
        start = time.monotonic()
        with run.stage("change", "the new layout, with the plan that the server would get"):
            change.begin()
            apply_plan(run, twin, NEXT_PLAN, change.plan.host, WHOLE, NOTHING)
            steps = _steps(twin)
        with run.stage("change again", "there must be nothing to do"):
            apply_plan(run, twin, NEXT_PLAN, change.plan.host, NOTHING)
        count = 1 + INTERRUPTIONS * bool(steps)
        with run.stage("read back", "the records of the old layout, on what is kept"):
            run.keep(_read(change, Case("the change", "apply", (), {}, Fault.NONE), start), count)
        with run.stage("control", "one record is written over, which must be seen"):
            run.control = run.timed(_control(change))
        if not steps:
            run.untried.append("The change has no step, so there was nothing to interrupt.")
            return
        with run.stage("interruptions", "kills and power cuts, each from the old layout"):
            for number in range(INTERRUPTIONS):
                fault = (Fault.KILLED, Fault.CUT)[number % 2]
                run.keep(_interrupt(run, change, fault, _places(f"{wish.seed} {number}", steps)), count)


def _steps(twin: Twin) -> list[Step]:
    """The steps of the apply that has ended, in the order in which they were begun; none where it had nothing to do."""
    told = last_events(twin)
    seconds = {each["step"]: float(each["seconds"]) for each in told if each["event"] == "done"}
    return [Step(each["step"], seconds.get(each["step"], 0.0)) for each in told if each["event"] == "started"]


def _places(seed: str, steps: Sequence[Step]) -> Iterator[Place]:
    """Places in the steps of a change, as the seed draws them."""
    draw = Random(seed)
    for _ in range(DRAWS):
        number, share = draw.randrange(len(steps)), draw.random()
        words = f"step {number + 1} of {len(steps)} ({steps[number].name}), {share:.0%} of its time"
        yield Place(number + 1, share * steps[number].seconds, words)


def _interrupt(run: Run, change: Change, fault: Fault, places: Iterator[Place]) -> Tried:
    """From the old layout again: the apply is ended in the middle, and the next one ends what it began."""
    start = time.monotonic()
    blow = _strike(run, change, fault, next(places))
    best = None
    while not _serves(change, blow, fault) and (place := next(places, None)) is not None:
        best = blow.place if blow.hit else best
        blow = _strike(run, change, fault, place)
    if best and not blow.hit:
        blow = _strike(run, change, fault, best)
    done, waited = resumed_apply(run, change.rig, NEXT_PLAN, change.plan.host)
    said = done.stdout + done.stderr
    case = Case(blow.place.words, "apply", (), {}, fault)
    tried = _read(change, case, start, blow.written)
    ended = done.returncode == 0 and (WHOLE in said or NOTHING in said)
    words = (
        "ends" + ", once a sync had ended" * waited
        if ended
        else f"ends with {done.returncode}: {said.strip()[-300:]}"
    )
    met = "in the middle" if blow.hit else f"not, in {DRAWS} attempts: {blow.said or 'it had ended before'}"
    claims = (
        Claim(("apply",), "interrupted", "in the middle", met, blow.hit),
        *_written(change, blow),
        *(_lost(change, blow) if fault is Fault.CUT else ()),
        Claim(("apply",), "apply", "ends", words, ended),
    )
    return replace(tried, claims=(*claims, *tried.claims))


def _serves(change: Change, blow: Blow, fault: Fault) -> bool:
    """The blow came in the middle, and took writes along if it was a power cut while something wrote."""
    return blow.hit and (fault is not Fault.CUT or blow.lost > 0 or not change.writes)


def _written(change: Change, blow: Blow) -> Iterator[Claim]:
    """Each writer had a record acknowledged before the interruption."""
    for each in change.kept:
        if each.stays:
            count = blow.written.get(each.name, 0)
            yield Claim(("filesystems", each.name), "written", "some", str(count), count > 0)


def _lost(change: Change, blow: Blow) -> Iterator[Claim]:
    """The power cut took writes along; only where something writes meanwhile is it sure that there are such."""
    claim = some(DISKS, "unflushed writes lost", str(blow.lost))
    if change.writes:
        yield claim
    else:
        yield replace(claim, predicted="any number", as_predicted=True, counts=False)


def _strike(run: Run, change: Change, fault: Fault, place: Place) -> Blow:
    """Begins the change anew, with writers, and interrupts it at a place."""
    twin, way = change.rig.twin, "freeze" if fault is Fault.CUT else "kill"
    twin.start_over(timeout=BOOT_SECONDS, logged=fault is Fault.CUT)
    change.begin()
    change.start_writing()
    before = _journal(change)
    words = [way, str(place.number), f"{place.seconds:.3f}", *apply_command(NEXT_PLAN, change.plan.host)]
    met = value_of(twin.run(["python3", "-I", INTERRUPTION, *words], timeout=APPLY_SECONDS).stdout)
    run.keep_events(met["events"].encode())
    lost = 0
    if fault is Fault.CUT:
        lost = change.rig.lose_power()
        twin.start_again(timeout=BOOT_SECONDS)
    still = [each.name for each in change.kept if each.stays]
    written = {still[int(number)]: count for number, count in met["written"].items()}
    after = _journal(change)
    is_open = after != before and after.get("kind") != "close"
    return Blow(place, met["running"] and is_open, written, lost, "" if met["running"] else met["said"])


def _journal(change: Change) -> Mapping[str, Any]:
    """The last record of the journal; an empty value for one that was cut off."""
    last = change.rig.twin.run(["tail", "-n", "1", f"{STATE}/{change.plan.host}/journal"], check=False)
    with contextlib.suppress(ValueError):
        record = json.loads(last.stdout)
        return record if isinstance(record, dict) else {}
    return {}


def _read(change: Change, case: Case, start: float, written: Mapping[str, int] | None = None) -> Tried:
    """The records of the old layout that read back on the file systems that are kept, wherever they are mounted now; none of a guest that does not answer."""
    counts = written or {}
    found = None
    with contextlib.suppress(*SILENT):
        change.give(mounts={each.name: each.mount for each in change.kept}, acknowledged=counts)
        found = change.rig.observation()
    claims = []
    for each in change.kept:
        least = change.fills[each.name] + counts.get(each.name, 0)
        state = found["mounts"][each.mount] if found else {"read": "no answer", "writer": ""}
        read, failure = state["read"], state["writer"]
        count = read["acknowledged"] - len(read["damaged"]) if isinstance(read, dict) else 0
        whole = isinstance(read, dict) and not read["damaged"] and count >= least and not failure
        observed = f"{count}, until the writer met an error: {failure}" if failure else str(count)
        claims.append(Claim(("filesystems", each.name), "records", f"at least {least}", observed, whole))
    return Tried(case, time.monotonic() - start, (), (), acknowledged(found), claims=tuple(claims))


def _control(change: Change) -> Tried:
    """One record is written over on each file system that is kept: the reader, to whom all were whole, must see that one."""
    start = time.monotonic()
    case = Case("one record", "control", (), {}, Fault.NONE)
    whole = {claim.thing for claim in _read(change, case, start).claims if claim.as_predicted}
    for each in change.kept:
        file = shlex.quote(f"{each.mount}/rehearsal.fill0")
        change.rig.twin.run(
            f"printf 'written over' | dd of={file} bs=1 seek={OVER} conv=notrunc status=none; sync"
        )
    tried = _read(change, case, start)
    seen = []
    for claim in tried.claims:
        observed = "seen" if claim.observed == str(change.fills[str(claim.thing[-1])] - 1) else "not seen"
        observed = observed if claim.thing in whole else "not whole before"
        seen.append(Claim(claim.thing, "damage", "seen", observed, observed == "seen"))
    return replace(tried, claims=tuple(seen))
