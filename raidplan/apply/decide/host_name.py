"""A comparison of this host's name with that of the layout; if they differ, the layout may be that of another machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidplan.apply.note import Note, note
from raidplan.facts import DiskFact, Machine
from raidplan.plan.step import Plan

UNNAMED = ("", "localhost", "(none)")
"""The names of machines that nobody named (hostname(5); `(none)` is the kernel's own, before anybody sets one)."""
LOOP = "loop"


def host_name_differs(left: Plan, disks: Mapping[str, DiskFact], machine: Machine) -> Iterator[Note]:
    """A note, and no refusal: disks are found by their identity, whatever the machine around them is called.

    Nothing of a rescue system, which has no kernel installed and is called as its maker called it, nor of a layout that is tried
    on loop devices.
    """
    itself, host = (_first_label(name) for name in (machine.host, left.host))
    rescue = not machine.objects.get("kernel")
    tried = all(disk.kernel_name.startswith(LOOP) for disk in disks.values())
    if left.steps and itself != host and itself not in UNNAMED and not rescue and not tried:
        yield note("host-name-differs", name=machine.host, host=left.host)


def _first_label(name: str) -> str:
    """The name without its domain, in lower case: case does not matter in host names (RFC 1123)."""
    return name.partition(".")[0].lower()
