"""Power that goes while raidplan works in a virtual server, and what comes after the boot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import sleep

from raidplan.cli import REFUSED
from raidplan.plan.places import FSTAB, MDADM_CONF, UDEV_RULES
from raidplan.twin.server import Disk, Twin, UnreachableError, lose_unflushed
from raidplan.twin.server.ssh import Result
from tests.twin.service import refit

SURE = 40
"""Every apply of a `Cut` makes at least so many writes to a disk."""
UNTIL = 46
"""An apply of a `Cut` makes fewer writes to a disk, 44 when this was written; after that the power goes at its end."""
SIZE = 2**28
SECONDS = 900
"""The time of a boot and of an apply: 40 disks of another layout may be there, and other machines beside."""
LAYOUT = """\
version: 1
host: {name}
hardware: {{disks: {{{name}<0-1>: {{size: 256MiB, serial: {name}-<1>}}}}}}
arrays: {{{name}: {{level: raid1, members: [{name}<0-1>], bitmap: internal, initial_sync: freeze-until-reboot}}}}
filesystems: {{{name}: {{device: {name}, type: ext4, mount: /srv/{name}}}}}
"""


@dataclass(frozen=True)
class Cut:
    """The power goes at a write to one disk of a pair, which belongs to a host of its own in the same server."""

    name: str
    disk: int
    write: int

    def pair(self, *, mended: bool = False) -> Iterator[Disk]:
        """The two disks."""
        for leg in (0, 1):
            halts = self.write if leg == self.disk and not mended else None
            yield Disk(
                f"{self.name}{leg}",
                SIZE,
                f"{self.name}-{leg}",
                halts_at_write=halts,
                keeps_log=self.disk == 1 and not mended,
            )

    def lost(self, twin: Twin, *, halted: bool) -> int:
        """How many unflushed writes of the pair were lost: none, or the first of each disk and every other one."""
        legs = [twin.disk_file(f"{self.name}{leg}") for leg in (0, 1) if self.disk == 1]
        return sum(lose_unflushed(leg, lambda number: number % 2 == 1, halted=halted) for leg in legs)


def cut_and_gone_on(
    twin: Twin, cut: Cut, others: Iterable[Disk], *, snapshots: bool = False
) -> tuple[bool, int]:
    """Whether the power went at the write, and how many writes were lost; `apply` then converges on what is left.

    From the boot on, the server has the pair and the `others`, and with `snapshots` its states can be saved.
    """
    twin.put(LAYOUT.format(name=cut.name).encode(), f"/root/{cut.name}.yaml")
    twin.run("sync")  # the layout is not what is to be lost
    command = ["raidplan", "apply", f"/root/{cut.name}.yaml", "--confirm", cut.name]
    halted = applied_until_the_power_goes(twin, command)
    lost = cut.lost(twin, halted=halted)
    refit(twin, [*cut.pair(mended=True), *others])
    twin.start_again(snapshots=snapshots, timeout=SECONDS)
    done = applied_after_the_boot(twin, command)
    assert done.returncode == 0, (cut, done.stderr[-3000:])
    again = twin.run(command, check=False, timeout=SECONDS)
    assert again.returncode == 0 and "nothing to do" in again.stderr, (cut, again.stderr)
    members = twin.run(f"mdadm --detail /dev/md/{cut.name} | grep -c 'active sync'").stdout.strip()
    assert members == "2", cut
    twin.run(f"umount /srv/{cut.name} && e2fsck -fn /dev/md/{cut.name}")
    _forget(twin, cut)
    when = "the power went" if halted else "it went after the end"
    print(f"disk {cut.disk}, write {cut.write}: {when}, {lost} unflushed writes were lost, converged")  # noqa: T201  # shown with -s
    return halted, lost


def _forget(twin: Twin, cut: Cut) -> None:
    """Takes the pair out of the configuration: the next boot comes without its disks, and would wait for them."""
    block = f"/^# >>> raidplan {cut.name}$/,/^# <<< raidplan {cut.name}$/d"
    twin.run(["sed", "-i", block, FSTAB, MDADM_CONF])
    twin.run(["rm", "-f", UDEV_RULES.format(host=cut.name)])


def applied_until_the_power_goes(twin: Twin, command: list[str]) -> bool:
    """Whether it went at the write of a disk that halts; else the apply came to its end, and it goes then."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(twin.run, command, check=False, timeout=SECONDS)
        while not running.done() and not twin.halted():
            sleep(0.2)
        if running.done():
            assert running.result().returncode == 0, running.result().stderr[-2000:]
        ended = running.done()
        twin.power_cut()
        with suppress(UnreachableError):
            running.result()
        return not ended


def applied_after_the_boot(twin: Twin, command: list[str]) -> Result:
    """`apply` by somebody who waits, or hastens what ends by itself: an array that a timer starts half a minute after the
    boot, a rebuild. Nothing else is refused, and nothing is given up.
    """
    done = twin.run(command, check=False, timeout=SECONDS)
    starts = re.findall(r"[`(](mdadm --(?:run|wait) /dev/[^\s`)]+)", done.stderr)
    if done.returncode != REFUSED or not starts:
        return done
    for start in starts:
        print(f"refused: {start} first")  # noqa: T201  # shown with -s
        twin.run(start, check=False)  # a timer may have done it meanwhile
    return twin.run(command, check=False, timeout=SECONDS)
