"""The doing of one step: its guard before, its record, its action, and the wait for the devices that it makes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from os import close
from pathlib import Path
from typing import Literal, Protocol

from raidplan.apply.configuration.files import write
from raidplan.apply.configuration.initramfs import renew
from raidplan.apply.flush import written
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import header_as
from raidplan.apply.progress import written_share
from raidplan.apply.recheck_target import Decided
from raidplan.apply.world import World
from raidplan.base.identity import Identity
from raidplan.facts import DiskFact
from raidplan.facts.failure import Failed, Failure, failure
from raidplan.facts.uses import NotWritten, use
from raidplan.plan.step import RenewInitramfs, Run, SetAttribute, Step, WriteBlock, WriteFile, Zero
from raidplan.plan.validity import makes

APPEAR_SECONDS = 120
"""How long a device may take to appear after the program that makes it has finished."""
LOOK_AGAIN_SECONDS = 0.2
ASK_AGAIN_SECONDS = 10
"""The seconds after which udev is asked to look again: a device that is closed while udev looks at it for another reason goes unseen."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened to a step; `seconds` since it was started.

    `running` tells how far it is, and comes only for steps that know: `percent` of their work.
    """

    kind: Literal["started", "running", "done", "failed"]
    step: Step
    seconds: float = 0.0
    percent: int | None = None
    failures: tuple[Failure, ...] = ()


class Record(Protocol):
    """A record of steps begun and finished, kept before anybody hears of them."""

    def record_intent(self, step: str, sectors: bytes = b"", *, erased: bool = False) -> None:
        """The step's effect comes next; `sectors` is what it finds on the device that it clears; `erased`: the device that it
        writes over reads as erased flash."""

    def record_end(self, step: str, seconds: float, made: str = "") -> None:
        """The action of the step succeeded."""

    def record_failure(self, step: str, message: str) -> None:
        """The action of the step failed."""

    def record_refusal(self, step: str, message: str) -> None:
        """The guard of the step did not hold: nothing was done."""


@dataclass(frozen=True, slots=True)
class Work:
    """The means to do single steps of one plan, and how far each of them is."""

    disks: Mapping[str, DiskFact]
    record: Record
    world: World
    holds: ExitStack
    """Holds the disks that were partitioned, until the end of all steps."""
    overwrites: frozenset[str]
    decided: Decided
    headers: Path | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The devices of each volume group, by its name."""
    begun: dict[str, float] = field(default_factory=dict)
    """The time at which each step was begun, by the clock that never goes back."""
    shares: dict[str, float] = field(default_factory=dict)
    """The share of its work that each step has done, for steps that report it."""
    reported: dict[str, int] = field(default_factory=dict)

    def news(self, step: Step) -> Event | None:
        """The progress of a running step, if it reports any and has advanced."""
        share = self.shares.get(step.id, written_share(step, self.world))
        percent = None if share is None else min(100, int(100 * share))
        if percent is None or percent <= self.reported.get(step.id, -1):
            return None
        self.reported[step.id] = percent
        return Event(
            "running", step, time.monotonic() - self.begun.get(step.id, time.monotonic()), percent=percent
        )

    def do(self, step: Step) -> float:
        """Does one step and gives its seconds. Raises NotWritten (nothing was done), Failed, OSError."""
        started = self.begun[step.id] = time.monotonic()
        with ExitStack() as held:
            try:
                self._guard(step, held)
            except (NotWritten, OSError) as error:
                self.record.record_refusal(step.id, str(error))
                raise
            found = self.decided.sectors(step, self.resolved, self.world)
            self.record.record_intent(
                step.id, found, erased=self.decided.erased(step, self.resolved, self.world)
            )
            try:
                self._act(step)
                self._flush(step)
                self._keep_header(step)
            except (OSError, ValueError) as error:
                self.record.record_failure(step.id, str(error))
                raise
        seconds = time.monotonic() - started
        self.record.record_end(step.id, seconds, made_by(step))
        return seconds

    def _guard(self, step: Step, held: ExitStack) -> None:
        """The devices are those that were looked at, what is written over is blank, and no key is copied out of the target."""
        if step.proof and step.proof.kind in ("directory", "mount"):
            link = self.world.link_on_the_way(step.proof.key)
            if link:
                raise NotWritten(use("link", link))
        if step.proof and step.proof.kind == "key_file":
            copy = self.world.path(step.proof.key)
            if self.world.leads_out(copy):
                raise NotWritten(use("leads-out", str(copy)))
        targets = {self.resolved(target): target in self.overwrites for target in step.guard}
        self._missing(target for target in targets if target.startswith("/dev/"))
        reasons = [*self.decided.others(step, self.world, held)]
        for is_old in (False, True):
            if alike := [target for target, each in targets.items() if each is is_old]:
                reasons += self.world.not_blank(*alike, everywhere=is_old)
        if not reasons:  # it reads a part of the devices
            reasons += self.decided.changed(step, self.resolved, self.world)
        if reasons:
            raise NotWritten(*reasons)

    def _act(self, step: Step) -> None:
        match step.action:
            case RenewInitramfs():
                if problems := renew(step.action, self.world):
                    raise Failed(*problems)
            case Run(argv, stdin, inside, key):
                run = self.world.run_inside if inside else self.world.run
                given = self.world.passphrases.get(key, b"") if key else stdin
                if key and not given:
                    raise Failed(failure("no-passphrase", key))
                result = run(tuple(map(self.resolved, argv)), given)
                if result.returncode:
                    raise Failed(result.failure)
            case WriteFile() | WriteBlock():
                write(step.action, self.world)
            case SetAttribute(file, content):
                self.world.set_attribute(file, content)
            case Zero(device):
                self.world.zero(self.resolved(device), step.action, partial(self.shares.__setitem__, step.id))
        if step.new_partitions:
            for name in step.disks & self.disks.keys():
                self.holds.callback(close, self.world.hold_partitions(self.disks[name].node))
        if makes(step) == "physical_volume" and self.world.target:
            # udev activates the group at an array's first event with a volume in it. Where the group is made by then,
            # LVM leaves a copy of its metadata in the rescue system's own /etc/lvm.
            self.world.look_again(*map(self.resolved, step.guard), settle=True)
        for node in self._missing(step.awaits, step.behind_links):
            raise Failed(failure("not-appeared", node, seconds=APPEAR_SECONDS))

    def _flush(self, step: Step) -> None:
        """Makes the disks keep what the step's program made. Raises OSError."""
        copied = (
            [str(self.world.path(step.proof.key))] if step.proof and step.proof.kind == "key_file" else []
        )
        devices = [
            node for node in map(self.resolved, written(step, self.groups)) if self.world.is_block(node)
        ]
        for path in (*devices, *copied):
            self.world.sync(Path(path))

    def _keep_header(self, step: Step) -> None:
        """Copies a new LUKS header, without which no key opens anything; a copy that is there already, which may be the only one
        that opens what was on the device before, stays beside it. Raises OSError."""
        if self.headers and makes(step) == "encryption" and step.proof and "data_offset" in step.proof.expect:
            file = self.headers / header_as(step.proof.key)
            self.headers.mkdir(0o700, exist_ok=True)
            size = int(str(step.proof.expect["data_offset"]))
            header = self.world.bytes_at(self.resolved(step.guard[0]), 0, size)
            if file.exists() and file.read_bytes() != header:
                self.world.keep_beside(file, _not_taken(file))
            self.world.replace(file, header, like=file, mode=0o600)

    def resolved(self, word: str) -> str:
        """`{d00}` as the node of that disk; any other word as it is."""
        return self.disks[disk].node if (disk := Identity.read(word).disk) else word

    def _missing(self, nodes: Iterable[str], behind: Iterable[str] = ()) -> list[str]:
        """Waits for device nodes; those that did not appear in time. `behind` are those that udev is to look at for them."""
        started = asked = time.monotonic()
        missing = [node for node in nodes if not self.world.exists(node)]
        while missing and time.monotonic() - started < APPEAR_SECONDS:
            time.sleep(LOOK_AGAIN_SECONDS)
            missing = [node for node in missing if not self.world.exists(node)]
            if missing and time.monotonic() - asked >= ASK_AGAIN_SECONDS:
                asked = time.monotonic()
                for node in behind:
                    self.world.look_again(self.resolved(node))
        return missing


def _not_taken(file: Path) -> Path:
    """The first of `FILE.1`, `FILE.2`, … that is not there."""
    names = (file.with_name(f"{file.name}.{number}") for number in count(1))
    return next(name for name in names if not name.exists())
