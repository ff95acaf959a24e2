"""States of a whole machine, kept in the files of its disks by QEMU's jobs.

The node that keeps the memory is named each time: by itself QEMU takes the first disk, and once that was pulled and put back
another one is the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.twin.server.failure import TwinError
from raidplan.twin.server.qmp import Monitor

SECONDS = 600.0
"""For one job, in which the memory is written or read."""


def save(monitor: Monitor, name: str, nodes: Sequence[str]) -> None:
    """Keeps the state, in place of one of that name; the first node keeps the memory. Raises TwinError."""
    _job(monitor, "snapshot-delete", tag=name, devices=[*nodes])
    _job(monitor, "snapshot-save", tag=name, vmstate=nodes[0], devices=[*nodes])


def load(monitor: Monitor, name: str, nodes: Sequence[str]) -> None:
    """Makes the machine what it was, as far as these nodes and the memory go. Raises TwinError where there is no such state."""
    _job(monitor, "snapshot-load", tag=name, vmstate=nodes[0], devices=[*nodes])


def _job(monitor: Monitor, command: str, **arguments: object) -> None:
    monitor.ask(command, **{"job-id": command, **arguments})
    monitor.wait_for("JOB_STATUS_CHANGE", SECONDS, id=command, status="concluded")
    (job,) = (each for each in monitor.ask("query-jobs") if each["id"] == command)
    monitor.ask("job-dismiss", id=command)
    if "error" in job:
        raise TwinError(f"{command} {arguments['tag']}: {job['error']}")
