"""A twin that is serviced: rebooted, with disks that are mended or exchanged while it is off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from raidplan.twin.server import Disk, Twin, TwinError
from raidplan.twin.server.folders import lay_out_disks, paths_in
from raidplan.twin.server.hardware import check_machine
from raidplan.twin.server.machine import BOOT_SECONDS


def reboot(twin: Twin, *, timeout: float = BOOT_SECONDS) -> None:
    """Shuts down cleanly, then starts with the kernel and initramfs of its own /boot. Raises BootError after `timeout` seconds each."""
    twin.shut_down(timeout=timeout)
    twin.start_again(timeout=timeout)


def mend(twin: Twin, *names: str) -> None:
    """From the next start on these disks no longer halt the machine. Raises ValueError."""
    twin._check_names(names)
    disks = twin.machine.disks
    mended = (replace(disk, halts_at_write=None) if disk.name in names else disk for disk in disks)
    twin.machine = replace(twin.machine, disks=tuple(mended))


def refit(twin: Twin, disks: Iterable[Disk]) -> None:
    """From the next start on the machine has these disks and no others, in this order.

    Those that it ever had keep what is on them; new ones are blank. Raises ValueError for hardware that cannot be
    shown as given, TwinError where the machine is on.
    """
    if twin.running:
        raise TwinError("the machine is on: shut it down first")
    machine = replace(twin.machine, disks=tuple(disks), unplugged=frozenset())
    check_machine(machine)
    files = paths_in(twin.directory, twin.console, twin._sockets, machine.disks).disks
    twin._paths = replace(twin._paths, disks={**twin._paths.disks, **files})
    lay_out_disks(twin._paths, machine.disks)
    twin.machine = machine
