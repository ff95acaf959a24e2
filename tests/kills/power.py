"""Cases in which the power goes: any part of what a disk, the root disk as well, had not flushed is lost, and the server boots
from what it has.

One boot a case: the one after a cut has the blank disks of the next case as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from raidplan.twin.server import TwinError, lose_unflushed
from raidplan.twin.server.arguments import disk_id
from raidplan.twin.server.unflushed import log_of
from tests.kills.adversity import Adversity
from tests.kills.cases import Case, adversity_of, by_sector
from tests.kills.root_disk import TwinWithLog
from tests.kills.session import (
    MEMORY,
    PATIENCE,
    RECIPE,
    Reference,
    Void,
    about,
    decoys,
    disks,
    in_guest,
    judged,
    made_ready,
    prepared,
    reference,
    server,
)
from tests.kills.unflushed import Unflushed, forget_last_flush
from tests.twin.service import refit

A_LAYOUT = 5
ROOT = "root-disk"
KEEP = "tar -C / -cf /root/pristine.tar etc boot"
RESET = """swapoff -a; umount /srv/*; vgchange -qq -an; for each in /dev/md/*; do mdadm --stop $each; done; mdadm --stop --scan
rm -rf /var/lib/raidplan /srv /etc/fstab /etc/mdadm /etc/udev/rules.d /etc/systemd/system /boot/initrd*
tar -C / -xf /root/pristine.tar; systemctl daemon-reload; udevadm control --reload; udevadm settle; sync; true"""
FAST = b"dev.raid.speed_limit_max = 200000\n"


def power_cases(
    folder: Path,
    wanted: list[Case],
    say: Callable[[str], None],
    void: Callable[[int, Void], None],
    goes_on: Callable[[], bool],
) -> Iterator[dict[str, Any]]:
    """A record for each cut, while it goes on; `void` is told of each layout that is no good."""
    cases = [*_references(folder / "references", wanted, say, void)]
    if not cases:
        return
    first = [*_logged(0, cases), *decoys()]
    with TwinWithLog.start(
        first,
        directory=folder / "twin",
        memory_mib=MEMORY,
        cache="writeback",
        recipe=RECIPE,
        boot_timeout=PATIENCE,
        say=say,
    ) as twin:
        made_ready(twin)
        twin.put(FAST, "/etc/sysctl.d/90-raid.conf")
        twin.run(f"sysctl -q --load=/etc/sysctl.d/90-raid.conf; {KEEP}; sync")
        for index, (to, case) in enumerate(cases):
            if not goes_on():
                return
            began = time.monotonic()
            record = _cut(twin, index, cases, adversity_of(case, to.drawn, power=True))
            yield record | {"seed": case.number, "seconds": round(time.monotonic() - began, 1)}


def _references(
    folder: Path, wanted: list[Case], say: Callable[[str], None], void: Callable[[int, Void], None]
) -> Iterator[tuple[Reference, Case]]:
    for sector, layouts in by_sector(wanted):
        with server(folder / str(sector), sector, say) as twin:
            for drawn, cases in layouts:
                try:
                    to = reference(twin, drawn)
                except Void as error:
                    void(cases[0].number, error)
                    continue
                yield from ((to, case) for case in cases)


def _logged(index: int, cases: Sequence[tuple[Reference, Case]]) -> list[Any]:
    """The blank disks of a case, if there is one of that number."""
    found = [disks(_prefix(index), to.drawn.sector) for to, _ in cases[index : index + 1]]
    return [replace(disk, keeps_log=True) for each in found for disk in each]


def _prefix(index: int) -> str:
    return f"P{index}"


def _hashes(found: Mapping[str, str]) -> dict[str, str]:
    return {serial: each.split()[1] for serial, each in found.items()}


def _cut_power(twin: TwinWithLog, own: Mapping[str, Path], seconds: float, random: Random) -> None:
    """As soon as a disk has writes that it has not flushed, or after so many seconds; no flush comes after these writes."""
    alone = random.random() < 0.5  # the journal on the root disk is written all the time
    every = {**own, ROOT: twin.root}
    with twin.monitor() as monitor:
        unflushed = Unflushed(monitor, every)
        unflushed.wait(seconds, own if alone else every)
        unflushed.stop()
    twin.power_cut()
    for disk in unflushed.disks:
        forget_last_flush(log_of(every[disk]))


def _cut(
    twin: TwinWithLog, index: int, cases: Sequence[tuple[Reference, Case]], adversity: Adversity
) -> dict[str, Any]:
    to, _ = cases[index]
    prefix = _prefix(index)
    case = about(to.drawn, prefix, to.agreed)
    try:
        prepared(twin, to.drawn, prefix)
    except Void as error:
        raise TwinError(f"the layout was good in the other server: {error}") from None
    before, random = in_guest(twin, do="look", **case), Random(adversity.draw)
    case |= {"first": before["records"]}
    twin.run("sync")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_guest, twin, do="begin", **case)
        wanted = before["records"] + adversity.share * to.records
        in_guest(twin, do="reached", wanted=wanted, **case)
        files = {disk_id(disk.name): twin.disk_file(disk.name) for disk in _logged(index, cases)}
        _cut_power(twin, files, adversity.pause, random)
        with suppress(TwinError):
            running.result()
    lost = sum(lose_unflushed(file, lambda _: random.random() < 0.5) for file in files.values())
    of_root = twin.lose_of_root(lambda _: random.random() < 0.5)
    own = disks(prefix, to.drawn.sector)
    refit(twin, [*own, *_logged(index + 1, cases), *decoys()])
    twin.start_again(timeout=PATIENCE)
    steps = in_guest(twin, do="reached", wanted=0, **case)
    outcome = in_guest(twin, do="converge", adversity=adversity.to_data(), **case)
    outcome["note"] = {"interrupted": not steps["closed"], "open": steps["open"]}
    outcome["decoys"] = _hashes(outcome["decoys"])  # the kernel counts the sectors of one boot
    here = replace(to, decoys=_hashes(before["decoys"]), files=before["files"])
    record = judged(outcome, here, adversity) | {"lost_writes": lost, "lost_writes_of_root": of_root}
    if index + 1 < len(cases):
        twin.run(RESET, check=False)
        twin.unplug(*(disk.name for disk in own))
    return record
