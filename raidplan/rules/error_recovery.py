"""Rules about what a disk does when a sector cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import arrays, guarded_disks, losses, places
from raidplan.topology import Topology

KERNEL_TIMEOUT = 30
"""Seconds: the default of /sys/block/sdX/device/timeout."""
PATIENT = 180
"""Seconds that are enough for a disk that retries without a limit."""


@rule(Severity.WARNING, acceptable=True)
def no_error_recovery_limit(topology: Topology) -> Iterator[Hit]:
    """A disk of a redundant array tries longer to read a bad sector than the kernel waits for it.

    Why: md repairs a sector that a disk reports as bad: it reads the others and writes it again. A desktop
    disk does not report it, but retries for up to two minutes and more; the kernel gives up after 30 s and
    resets the link, md's write to the silent disk fails, and md drops a disk that has one bad sector. In the
    rebuild after that, the next such sector stops the array, so it is an error for hard disks in arrays
    that survive one loss. With `error_recovery: 7s` the disk answers in time; many forget that when they lose
    power, so it has to be set at every boot. raidplan sets neither value: the two keys say what the machine
    does already, by udev rules such as these, each on one line of a file in /etc/udev/rules.d:

    - `ACTION=="add", KERNEL=="sd*", ENV{ID_SERIAL_SHORT}=="S1", ENV{DEVTYPE}=="disk",
      RUN+="/usr/sbin/smartctl -q silent -l scterc,70,70 $devnode"`
    - `ACTION=="add", KERNEL=="sd*", ENV{ID_SERIAL_SHORT}=="S2", ENV{DEVTYPE}=="disk",
      ATTR{device/timeout}="180"`

    Bad:
        hardware:
          disks: {d<0-3>: {size: 4TB, rotational: true, error_recovery: none}}
        arrays:
          s0:
            level: raid6
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks:
            d<0-2>: {size: 4TB, rotational: true, error_recovery: 7s}
            d3: {size: 4TB, rotational: true, error_recovery: none, command_timeout: 180s}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}

    Source: https://raid.wiki.kernel.org/index.php/Timeout_Mismatch;
    https://strugglers.net/~andy/blog/2015/11/09/linux-software-raid-and-drive-timeouts/.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        slow = [disk for disk in guarded_disks(topology, array) if _outlasts_the_kernel(disks[disk])]
        if not slow:
            continue
        grave = losses(array) <= 1 and any(disks[disk].rotational for disk in slow)
        yield Hit(
            (*path, "members"),
            f"{listed(slow, last=' and ')} of {name} {_retries(disks[slow[0]], len(slow))}, and the kernel "
            f"waits {float(_timeout(disks[slow[0]])):g} s: one bad sector makes md drop the disk",
            "have a udev rule run 'smartctl -l scterc,70,70' at every boot and write error_recovery: 7s; for a disk that cannot, "
            f"have one set device/timeout to {PATIENT} and write command_timeout: {PATIENT}s; raidplan explain "
            "no-error-recovery-limit has both rules",
            severity=Severity.ERROR if grave else None,
            related=places("disk", ("hardware", "disks"), slow),
        )


def _timeout(disk: Disk) -> float:
    return float(KERNEL_TIMEOUT if disk.command_timeout is None else disk.command_timeout)


def _outlasts_the_kernel(disk: Disk) -> bool:
    if disk.error_recovery is None:
        return False
    return (
        _timeout(disk) < PATIENT if disk.error_recovery == "none" else disk.error_recovery >= _timeout(disk)
    )


def _retries(disk: Disk, number: int) -> str:
    verb = "retries" if number == 1 else "retry"
    if disk.error_recovery is None or disk.error_recovery == "none":
        return f"{verb} a bad sector without a limit"
    return f"{verb} a bad sector for {float(disk.error_recovery):g} s"
