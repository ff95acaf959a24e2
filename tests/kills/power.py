"""Cases in which the power goes: any part of what a disk had not flushed is lost, and the server boots from what it has.

One boot a case: the one after a cut has the blank disks of the next case as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from raidplan.twin.server import Twin, TwinError, lose_unflushed
from tests.kills.adversity import Adversity, draw_adversity
from tests.kills.family import draw
from tests.kills.session import (
    MEMORY,
    PATIENCE,
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

A_LAYOUT = 5
KEEP = "tar -C / -cf /root/pristine.tar etc boot"
RESET = """umount /srv/*; swapoff -a; vgchange -qq -an; for each in /dev/md/*; do mdadm --stop $each; done; mdadm --stop --scan
rm -rf /var/lib/raidplan /srv /etc/fstab /etc/mdadm /etc/udev/rules.d /etc/systemd/system /boot/initrd*
tar -C / -xf /root/pristine.tar; systemctl daemon-reload; udevadm control --reload; udevadm settle; sync; true"""
FAST = b"dev.raid.speed_limit_max = 200000\n"


def power_cases(
    folder: Path, count: int, seed: int, say: Callable[[str], None], goes_on: Callable[[], bool]
) -> Iterator[dict[str, Any]]:
    """A record for each cut, while it goes on."""
    wanted = [(seed * 100 + number) % 10_000 for number in range(-(-count // A_LAYOUT))]
    cases = [
        (to, number) for to in _references(folder / "references", wanted, say) for number in range(A_LAYOUT)
    ]
    if not cases:
        return
    first = [*_logged(0), *decoys()]
    with Twin.start(
        first, directory=folder / "twin", memory_mib=MEMORY, cache="writeback", boot_timeout=PATIENCE, say=say
    ) as twin:
        made_ready(twin)
        twin.put(FAST, "/etc/sysctl.d/90-raid.conf")
        twin.run(f"sysctl -q --load=/etc/sysctl.d/90-raid.conf; {KEEP}; sync")
        for index, (to, number) in enumerate(cases):
            if not goes_on():
                return
            drawn = seed * 1_000_000 + to.drawn.seed * 100 + number
            began = time.monotonic()
            record = _cut(twin, index, to, draw_adversity(drawn, power=True), last=index + 1 == len(cases))
            yield record | {"seed": drawn, "seconds": round(time.monotonic() - began, 1)}


def _references(folder: Path, wanted: list[int], say: Callable[[str], None]) -> list[Reference]:
    found = []
    with server(folder, say) as twin:
        for layout in wanted:
            try:
                found.append(reference(twin, draw(layout)))
            except Void as error:
                say(f"layout {layout}: void: {error}")
    return found


def _logged(index: int) -> list[Any]:
    return [replace(disk, keeps_log=True) for disk in disks(_prefix(index))]


def _prefix(index: int) -> str:
    return f"P{index}"


def _hashes(found: Mapping[str, str]) -> dict[str, str]:
    return {serial: each.split()[1] for serial, each in found.items()}


def _cut(twin: Twin, index: int, to: Reference, adversity: Adversity, *, last: bool) -> dict[str, Any]:
    prefix = _prefix(index)
    try:
        prepared(twin, to.drawn, prefix)
    except Void as error:
        raise TwinError(f"the layout was good in the other server: {error}") from None
    before = in_guest(twin, do="look", **about(to.drawn, prefix))
    twin.run("sync")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_guest, twin, do="begin", **about(to.drawn, prefix))
        wanted = before["records"] + adversity.share * to.records
        steps = in_guest(twin, do="reached", wanted=wanted, **about(to.drawn, prefix))
        twin.power_cut()
        with suppress(TwinError):
            running.result()
    random = Random(adversity.draw)
    files = [twin.disk_file(disk.name) for disk in disks(prefix)]
    lost = sum(lose_unflushed(file, lambda _: random.random() < 0.5) for file in files)
    twin.refit([*disks(prefix), *([] if last else _logged(index + 1)), *decoys()])
    twin.start_again(timeout=PATIENCE)
    outcome = in_guest(twin, do="converge", adversity=adversity.to_data(), **about(to.drawn, prefix))
    outcome["note"] = {"interrupted": not steps["closed"], "open": steps["open"]}
    outcome["decoys"] = _hashes(outcome["decoys"])  # the kernel counts the sectors of one boot
    here = replace(to, decoys=_hashes(before["decoys"]), files=before["files"])
    record = judged(outcome, here, adversity) | {"lost_writes": lost}
    if not last:
        twin.run(RESET, check=False)
        twin.unplug(*(disk.name for disk in disks(prefix)))
    return record
