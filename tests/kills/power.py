"""Cases in which the power goes: any part of what a disk, the root disk as well, had not flushed is lost, and the server boots
from what it has.

One boot a case: the one after a cut has the blank disks of the next case as well.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from raidplan.twin.server import TwinError, lose_unflushed
from raidplan.twin.server.arguments import disk_id
from raidplan.twin.server.unflushed import log_of
from tests.kills.adversity import Adversity
from tests.kills.cases import Case, adversity_of
from tests.kills.in_guest import ENDED, REACHED
from tests.kills.predicted import Journal
from tests.kills.root_disk import TwinWithLog
from tests.kills.session import (
    FAILURES,
    MEMORY,
    PATIENCE,
    RECIPE,
    Reference,
    Run,
    about,
    as_void,
    decoys,
    disks,
    failure,
    in_guest,
    judged,
    made_ready,
    predictions,
    prepared,
    served,
)
from tests.kills.unflushed import Unflushed, lost_of
from tests.twin.service import refit

A_LAYOUT = 5
ROOT = "root-disk"
OF_STEPS, ALONE = 0.8, 0.75
"""The shares of cuts that come at a step that writes to the layout's disks, and of those at which such a disk has unflushed writes."""
LONGEST = 15.0
"""Seconds, beyond the pause, until a cut comes for the root disk as well; as long again, and it comes anyway."""
WRITES = re.compile(
    r"(disk|teardown|volume|swap)\..*|array\..*\.(create|open|tune|sync)|filesystem\..*\.(make|mount)(\+.*)?"
)
"""The steps whose programs, or the kernel for them, write to the layout's disks."""
KEEP = "tar -C / -cf /root/pristine.tar etc boot"
RESET = """swapoff -a; umount /srv/*; vgchange -qq -an; for each in /dev/md/*; do mdadm --stop $each; done; mdadm --stop --scan
rm -rf /var/lib/raidplan /srv /etc/fstab /etc/mdadm /etc/udev/rules.d /etc/systemd/system /boot/initrd*
tar -C / -xf /root/pristine.tar; systemctl daemon-reload; udevadm control --reload; udevadm settle; sync; true"""
FAST = b"dev.raid.speed_limit_max = 200000\n"


def power_cases(folder: Path, wanted: list[Case], run: Run) -> Iterator[dict[str, Any]]:
    """A record for each cut, while it goes on."""
    cases = [*_references(folder / "references", wanted, run)]
    index = 0
    while index < len(cases) and run.goes_on():
        try:
            with _server(folder / f"twin-{index}", cases, index, run) as twin:
                while index < len(cases) and run.goes_on():
                    to, case = cases[index]
                    began = time.monotonic()
                    record = _cut(twin, index, cases, adversity_of(case, to.drawn, power=True))
                    yield record | {"seed": case.number, "seconds": round(time.monotonic() - began, 1)}
                    index += 1
                    if record["broken"]:
                        break
        except FAILURES as error:
            run.void(cases[index][1].number, as_void(error))
            index += 1


@contextmanager
def _server(
    folder: Path, cases: Sequence[tuple[Reference, Case]], index: int, run: Run
) -> Iterator[TwinWithLog]:
    run.begins()
    with TwinWithLog.start(
        [*_logged(index, cases), *decoys()],
        directory=folder,
        memory_mib=MEMORY,
        cache="writeback",
        recipe=RECIPE,
        boot_timeout=PATIENCE,
        say=run.say,
    ) as twin:
        made_ready(twin)
        twin.put(FAST, "/etc/sysctl.d/90-raid.conf")
        twin.run(f"sysctl -q --load=/etc/sysctl.d/90-raid.conf; {KEEP}; sync")
        yield twin


def _references(folder: Path, wanted: list[Case], run: Run) -> Iterator[tuple[Reference, Case]]:
    for _, to, cases in served(folder, wanted, run):
        yield from ((to, case) for case in cases)
        cases.clear()


def _logged(index: int, cases: Sequence[tuple[Reference, Case]]) -> list[Any]:
    """The blank disks of a case, if there is one of that number."""
    found = [disks(_prefix(index), to.drawn.sector) for to, _ in cases[index : index + 1]]
    return [replace(disk, keeps_log=True) for each in found for disk in each]


def _prefix(index: int) -> str:
    return f"P{index}"


def _hashes(found: Mapping[str, str]) -> dict[str, str]:
    return {serial: each.split()[1] for serial, each in found.items()}


def moment(journal: Journal, adversity: Adversity) -> str:
    """The step at whose intent the power is to go soon, mostly one that writes to the layout's disks; "" for any record."""
    steps = [step for kind, step in journal if kind == "intent" and WRITES.fullmatch(step)]
    if not steps or Random(f"moment {adversity.draw}").random() >= OF_STEPS:
        return ""
    return steps[int(adversity.share * len(steps))]


class _Told:
    """What the script in the server has told since the beginning on the console, and whether it has ended."""

    def __init__(self, twin: TwinWithLog, running: Future[Any]) -> None:
        self._console, self._running = twin.console, running
        self._at, self._seen = twin.console.stat().st_size, b""

    def has(self, *wanted: bytes) -> bool:
        with self._console.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at, self._seen = self._at + len(new), self._seen + new
        return self._running.done() or any(each in self._seen for each in wanted)

    def fails(self) -> None:
        """The script ends in no good way before the power goes. Raises its error."""
        if self._running.done():
            self._running.result()


def _cut_power(
    twin: TwinWithLog, own: Mapping[str, Path], told: _Told, adversity: Adversity, random: Random
) -> tuple[dict[str, int], dict[str, int]]:
    """Once the script says so, and then a disk has writes that it has not flushed, mostly one of the layout; at the latest when the
    apply ends. How many writes of each disk may be lost, and how many are."""
    every = {**own, ROOT: twin.root}
    while not told.has(REACHED, ENDED):
        time.sleep(0.002)
    begun = time.monotonic()
    unflushed = Unflushed({disk: log_of(file) for disk, file in every.items()})
    alone = random.random() < ALONE  # the journal on the root disk is written all the time
    tries = [(own if alone else every, random.choice((1, 1, 2, 4, 8)), adversity.pause)]
    tries += [(own, 1, adversity.pause + LONGEST), (every, 1, adversity.pause + 2 * LONGEST)]

    def over(seconds: float) -> bool:
        return time.monotonic() > begun + seconds or told.has(ENDED)

    any(unflushed.wait(watched, least, partial(over, seconds)) for watched, least, seconds in tries)
    if not told.has(ENDED):
        told.fails()
    twin.power_cut()
    return unflushed.settled()


def _loses(
    twin: TwinWithLog, own: Mapping[str, Path], writes: Mapping[str, int], random: Random
) -> tuple[int, int]:
    """Loses about half of the unflushed writes, and one at least where there are any; how many of own disks and of the root disk."""
    sure = lost_of(writes, own, random.randrange)

    def kept(disk: str) -> Callable[[int], bool]:
        return lambda number: random.random() < 0.5 and (disk, number) != sure

    lost = sum(lose_unflushed(file, kept(disk)) for disk, file in own.items())
    return lost, twin.lose_of_root(kept(ROOT))


def _cut(
    twin: TwinWithLog, index: int, cases: Sequence[tuple[Reference, Case]], adversity: Adversity
) -> dict[str, Any]:
    """The record of one; `broken` where nothing more can be done with that server. Raises Void."""
    to, _ = cases[index]
    prefix = _prefix(index)
    case = about(to.drawn, prefix, to.agreed)
    stood = prepared(twin, to.drawn, prefix)
    before, random = in_guest(twin, do="look", **case), Random(adversity.draw)
    step = moment(to.journal, adversity)
    case |= {"first": before["records"], "step": step}
    case |= {"wanted": before["records"] + adversity.share * to.records}
    here = replace(to, decoys=_hashes(stood["decoys"]), files=stood["files"])
    more: dict[str, Any] = {"predicted": predictions(to, adversity), "step": step}
    more |= {"lost_writes": 0, "lost_writes_of_root": 0}
    try:
        outcome = _outcome(twin, index, cases, adversity, case, random, more)
    except FAILURES as error:
        outcome = failure(error, twin.console)
    record = judged(outcome, here, adversity) | more
    if index + 1 < len(cases) and not record["broken"]:
        try:
            twin.run(RESET, check=False)
            twin.unplug(*(disk.name for disk in disks(prefix, to.drawn.sector)))
        except TwinError:
            record["broken"] = True
    return record


def _outcome(
    twin: TwinWithLog,
    index: int,
    cases: Sequence[tuple[Reference, Case]],
    adversity: Adversity,
    case: dict[str, Any],
    random: Random,
    more: dict[str, Any],
) -> dict[str, Any]:
    """The apply, the cut, the boot, `apply` until done; into `more` comes what was lost."""
    files = {disk_id(disk.name): twin.disk_file(disk.name) for disk in _logged(index, cases)}
    twin.run("sync")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_guest, twin, do="begin", **case)
        try:
            writes, dropped = _cut_power(twin, files, _Told(twin, running), adversity, random)
        finally:
            twin.power_cut()
        with suppress(TwinError):
            running.result()
    lost, of_root = _loses(twin, files, writes, random)
    of_root += dropped.pop(ROOT)
    more |= {"lost_writes": lost + sum(dropped.values()), "lost_writes_of_root": of_root}
    more |= {"unflushed": sum(writes.values())}
    own = disks(_prefix(index), cases[index][0].drawn.sector)
    refit(twin, [*own, *_logged(index + 1, cases), *decoys()])
    twin.start_again(timeout=PATIENCE)
    stands = in_guest(twin, do="stands", **case)
    case |= {"records": cases[index][0].records}
    outcome = in_guest(twin, do="goes on", adversity=adversity.to_data(), **case)
    outcome["note"] |= {"interrupted": not stands["closed"], "open": stands["open"]}
    outcome["decoys"] = _hashes(outcome["decoys"])  # the kernel counts the sectors of one boot
    return outcome
