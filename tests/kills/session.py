"""Cases in virtual servers: a state of the whole machine is kept before each layout and restored for each of its cases."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from raidplan.cli import REFUSED
from raidplan.twin.server import Disk, HostError, Twin, TwinError, end_of, install_raidplan
from raidplan.twin.server.recipe import PACKAGES, Recipe
from tests.kills.adversity import CONVERGED, LOST, OPEN, PERSON, STUCK, Adversity
from tests.kills.cases import Case, by_sector
from tests.kills.family import DISKS, HOST, OLD, PREFIX, SIZE, Drawn, put_out_of_use
from tests.kills.predicted import Journal, foreseeable, predicted, predicted_if_won, targets
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE
from tests.machine.servers import SIDE_BY_SIDE

SCRIPTS = ("in_guest.py", "bare_tools.py")
KERNEL = "linux-image-amd64"
"""Debian's kernel for clouds has no F2FS."""
RECIPE = Recipe(packages=tuple(KERNEL if each == "linux-image-cloud-amd64" else each for each in PACKAGES))
FILE, BEFORE = "/root/kills.yaml", "/root/before.yaml"
MIB = 2**20
MEMORY = 768
PATIENCE = 900.0
"""Seconds for a boot beside other emulated machines."""
CLEAN, READY = "clean", "ready"
DECOYS = f"""set -e
{NODE}
mdadm --create /dev/md/foreign --run --quiet --level=1 --bitmap=none --assume-clean --raid-devices=2 "$(d DECOY-0)" "$(d DECOY-1)"
mke2fs -q -L foreign /dev/md/foreign
mdadm --stop /dev/md/foreign
mke2fs -q -L precious "$(d DECOY-2)"
dd if=/dev/urandom of="$(d DECOY-3)" bs=1M count=2 conv=fsync status=none
sysctl -q dev.raid.speed_limit_max=200000
sync
"""
KEPT = "for each in /srv/*; do mkdir -p $each/kept; cp -r /etc/systemd /etc/udev $each/kept/ 2>/dev/null; done; sync; true"
SYNCED = "grep -L frozen /sys/block/md*/md/sync_action | cut -d/ -f4 | while read -r md; do mdadm --wait /dev/$md; done"
"""A resync that is frozen until the next boot has no end that could be waited for."""


@dataclass(frozen=True)
class Reference:
    """An uninterrupted apply of a layout: what it lists for consent, the journal that it writes, and what bare tools say of it."""

    drawn: Drawn
    agreed: Sequence[str]
    journal: Journal
    look: Mapping[str, list[str]]
    decoys: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def records(self) -> int:
        """Of the journal."""
        return len(self.journal)


class Void(Exception):
    """The layout is no good in the server: its uninterrupted apply does not end well. The message has its words."""


class Harmed(Void):
    """Even the uninterrupted apply costs somebody else a sector, or a file: each apply does, and no case could show it."""


FAILURES = (TwinError, Void, ValueError, KeyError, TypeError, OSError, struct.error)
"""What comes of a server that does not boot or answer, of a script that fails in it or tells something else than an outcome, and of logs
that cannot be read."""


def disks(prefix: str = "K", sector: int = 512) -> list[Disk]:
    """The disks of a layout."""
    return [
        Disk(f"{prefix.lower()}{n}", SIZE, f"{prefix}-{n}", logical_block=sector, physical_block=sector)
        for n in range(DISKS)
    ]


def decoys() -> list[Disk]:
    """Small disks of somebody else."""
    return [Disk(f"decoy{n}", 8 * MIB, f"DECOY-{n}") for n in range(4)]


@contextmanager
def server(
    folder: Path, sector: int, say: Callable[[str], None], *, real_initramfs: bool = False
) -> Iterator[Twin]:
    """A server with blank disks of such sectors and filled decoys, whose state is kept as CLEAN.

    It has no other disks: every `apply` reads small blank ones whole.
    """
    with Twin.start(
        [*disks(PREFIX[sector], sector), *decoys()],
        directory=folder,
        memory_mib=MEMORY,
        cpus=SIDE_BY_SIDE,
        snapshots=True,
        recipe=RECIPE,
        boot_timeout=PATIENCE,
        say=say,
    ) as twin:
        made_ready(twin, real_initramfs=real_initramfs)
        twin.save(CLEAN)
        yield twin


def made_ready(twin: Twin, *, real_initramfs: bool = False) -> None:
    """raidplan, the script of cases, the quick initramfs, the content of the decoys; a timer that is not late (`LAST_RESORT`)."""
    install_raidplan(twin)
    twin.put(b"[Timer]\nAccuracySec=1s\n", "/etc/systemd/system/mdadm-last-resort@.timer.d/in-time.conf")
    twin.run(["systemctl", "daemon-reload"])
    for script in SCRIPTS:
        twin.put(Path(__file__).with_name(script), f"/root/{script}")
    if not real_initramfs:
        quick_initramfs(twin)
    twin.run(["sh", "-c", DECOYS])


def in_guest(twin: Twin, timeout: float = 1500, **case: object) -> dict[str, Any]:
    """What the script in the server makes of a case."""
    done = twin.run(
        ["python3", "-I", f"/root/{SCRIPTS[0]}"], stdin=json.dumps(case).encode(), timeout=timeout
    )
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def about(drawn: Drawn, prefix: str = "", agreed: Sequence[str] = ()) -> dict[str, Any]:
    """The case, as the script in the server knows it; `agreed` is what a person has said yes to."""
    return {
        "host": HOST,
        "prefix": prefix or drawn.prefix,
        "apply": ["raidplan", "apply", FILE, "--confirm", HOST],
        "consents": drawn.kind == "wipe",
        "agreed": [*agreed],
        "targets": targets(yaml.safe_load(drawn.text)),
    }


def prepared(twin: Twin, drawn: Drawn, prefix: str = "") -> dict[str, Any]:
    """What is there before the layout: nothing, an earlier version with files, or what it may wipe. The decoys and the files then.
    Raises Void, and Harmed where the earlier version was applied at the cost of a decoy.
    """
    prefix = prefix or drawn.prefix
    first = in_guest(twin, do="look", **about(drawn, prefix))
    twin.put(drawn.text.replace("K-", f"{prefix}-").encode(), FILE)
    script = ":"
    if drawn.old:
        nodes = [f'$(d "{prefix}-{n}")' for n in range(DISKS)]
        script = f"{NODE}\n{OLD[drawn.old].format(*nodes)}\nudevadm settle; sync"
    if drawn.before:
        twin.put(drawn.before.replace("K-", f"{prefix}-").encode(), BEFORE)
        done = twin.run(["raidplan", "apply", BEFORE, "--confirm", HOST], check=False)
        if done.returncode:
            raise Void(done.stderr[-1500:])
        script = f"{KEPT}; {SYNCED}; sync"
    then = "; ".join(put_out_of_use(drawn.before, drawn.text)) or ":"
    found = in_guest(twin, do="prepare", script=script, then=then, **about(drawn, prefix))
    if harmed := differing(found["decoys"], first["decoys"]):
        raise Harmed(f"before the layout itself: {harmed}")
    return found


def reference(twin: Twin, drawn: Drawn) -> Reference:
    """Prepares the layout, keeps the state as READY, and applies without any adversity. Raises Void."""
    twin.restore(CLEAN)
    before = prepared(twin, drawn)
    twin.save(READY)
    return referred(drawn, in_guest(twin, do="reference", **about(drawn)), before)


def referred(drawn: Drawn, found: Mapping[str, Any], before: Mapping[str, Any]) -> Reference:
    """The reference in what the script found. Raises Void where the apply or a check of a file system did not end well, and Harmed
    where decoys and files are other ones than `before` it.
    """
    if harmed := [*differing(found["decoys"], before["decoys"]), *differing(found["files"], before["files"])]:
        raise Harmed(f"an uninterrupted apply: {harmed}")
    if found["code"] or found["again"]:
        raise Void(f"{found['code']}, {found['again']}: {found['said']}")
    if unwell := _unwell(found["look"]):
        raise Void(f"not whole after an uninterrupted apply: {unwell}")
    journal = [(kind, step) for kind, step in found["journal"]]
    return Reference(drawn, found["agreed"], journal, found["look"], before["decoys"], before["files"])


@dataclass
class Run:
    """What a run of cases asks and tells."""

    say: Callable[[str], None]
    void: Callable[[int, Void], None]
    """Is told of the first case of a layout that is no good, and of one without a server."""
    goes_on: Callable[[], bool]
    begins: Callable[[], None] = lambda: None
    """Is called before each server is started."""
    broken: bool = False
    """Nothing more can be done with the present server."""


Served = tuple[Twin, Reference, list[Case]]


def served(folder: Path, wanted: list[Case], run: Run, *, real_initramfs: bool = False) -> Iterator[Served]:
    """Each layout with a server that has its reference, and its cases. Who takes one takes it out of that list; those that are left,
    as when the server is no good any more, come again with another server.
    """
    for sector, layouts in by_sector(wanted):
        left = [(drawn, [*its]) for drawn, its in layouts]
        number = 0
        while left and run.goes_on():
            number += 1
            run.broken = False
            run.begins()
            try:
                with server(
                    folder / f"twin-{sector}-{number}", sector, run.say, real_initramfs=real_initramfs
                ) as twin:
                    yield from _layouts(twin, left, run)
            except FAILURES as error:
                its = left.pop(0)[1]
                if its:
                    run.void(its[0].number, as_void(error))


def _layouts(twin: Twin, left: list[tuple[Drawn, list[Case]]], run: Run) -> Iterator[Served]:
    """While there are any left, and the server is good."""
    while left and run.goes_on():
        drawn, its = left[0]
        try:
            to = reference(twin, drawn)
        except Void as error:
            run.void(its[0].number, error)
            left.pop(0)
            continue
        run.say(f"layout {drawn.seed}, {drawn.kind}: {to.records} records without adversity")
        yield twin, to, its
        if not its:
            left.pop(0)
        if its or run.broken:
            return


def as_void(error: Exception) -> Void:
    """A server that does not start, or fails before anything happened to an apply."""
    return error if isinstance(error, Void) else Void(f"{type(error).__name__}: {error}")


def failure(error: Exception, console: Path) -> dict[str, Any]:
    """The outcome of a case whose server, or the script in it, failed. Raises Void where the host did."""
    if isinstance(error, HostError):
        raise Void(f"HostError: {error}") from error
    why = f"{type(error).__name__}: {error}"
    return {
        "result": STUCK,
        "why": why if len(why) < 1200 else f"{why[:500]} … {why[-700:]}",
        "note": {"interrupted": True},
        "broken": True,
        "console": end_of(console),
    }


def run_case(twin: Twin, to: Reference, adversity: Adversity) -> dict[str, Any]:
    """The record of one case from the state READY; `broken` where nothing more can be done with that server. Raises Void."""
    began = time.monotonic()
    adversity = foreseeable(to.drawn, adversity, to.journal)
    foretold = {"predicted": predictions(to, adversity)}
    try:
        twin.restore(READY)
    except FAILURES as error:
        raise as_void(error) from error
    outcome: dict[str, Any]
    try:
        outcome = in_guest(
            twin,
            do="case",
            adversity=adversity.to_data(),
            records=to.records,
            **about(to.drawn, agreed=to.agreed),
        )
        record = judged(outcome, to, adversity)
    except FAILURES as error:
        record = judged(failure(error, twin.console), to, adversity)
    return record | foretold | {"seconds": round(time.monotonic() - began, 1)}


def predictions(to: Reference, adversity: Adversity) -> list[str]:
    """What is predicted before the run: one end, or where a person runs a command at the same time, two: if that fails, and if it wins."""
    both = (predict(to.drawn, adversity, to.journal) for predict in (predicted, predicted_if_won))
    return [*dict.fromkeys(both)]


def judged(outcome: Mapping[str, Any], to: Reference, adversity: Adversity) -> dict[str, Any]:
    """The result against the reference and the prediction."""
    note = outcome.get("note", {})
    predict = predicted_if_won if note.get("won") else predicted
    expected = predict(to.drawn, adversity, to.journal) if note.get("interrupted") else CONVERGED
    ended, why = str(outcome["result"]), str(outcome.get("why", ""))
    if "look" in outcome:
        harmed = [*differing(outcome["decoys"], to.decoys), *differing(outcome["files"], to.files)]
        other = differing(outcome["look"], to.look)
        other += [f"a second raidplan was not refused for the lock: {note}"] if beside(note) else []
        if harmed:
            ended, why = LOST, f"{why} {harmed}"
        elif other and ended in (CONVERGED, PERSON):
            ended, why = STUCK, f"not as without it: {other}"
    result = OPEN if expected == OPEN and ended in (CONVERGED, PERSON) else ended
    return {
        "layout": to.drawn.name,
        "kind": to.drawn.kind,
        "adversity": adversity.to_data(),
        "expected": expected,
        "result": result,
        "ended": ended,
        "interrupted": bool(note.get("interrupted")),
        "open": note.get("open", []),
        "at": note.get("at"),
        "won": note.get("won"),
        "again": note.get("again", 0),
        "missed": note.get("missed", ""),
        "applies": outcome.get("applies", 0),
        "broken": bool(outcome.get("broken")),
        **({"console": outcome["console"]} if "console" in outcome else {}),
        "why": "" if result == expected and ended == CONVERGED else why[-1200:],
    }


def beside(note: Mapping[str, Any]) -> bool:
    """A second raidplan ran to its end while the first one ran, and was not refused for the lock."""
    if "second" not in note:
        return False
    return bool(note["second"] != REFUSED or note["second codes"] != ["locked"])


def _unwell(look: Mapping[str, list[str]]) -> list[str]:
    """The checks of file systems and of arrays that found something."""
    return [each for each in look.get("checks", ()) if not each.endswith(" 0")]


def differing(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What one has and the other has not, in each section."""
    return [
        f"{key}: {_other(found.get(key), wanted.get(key))}"
        for key in sorted({*found, *wanted})
        if found.get(key) != wanted.get(key)
    ]


def _other(found: Any, wanted: Any) -> str:
    if not isinstance(found, list) or not isinstance(wanted, list):
        return f"{str(found)[:160]} in place of {str(wanted)[:160]}"
    return (
        f"has {[e for e in found if e not in wanted][:6]}, lacks {[e for e in wanted if e not in found][:6]}"
    )
