"""Sentences on the work that md continues by itself."""

from __future__ import annotations

from raidplan.apply.syncs import WORDS, HeldSync, Sync
from raidplan.base.words import duration, mb

NO_RESTART = "do not restart before, because GRUB may read that member"


def sync_text(sync: Sync) -> str:
    """Progress, speed and time left of one array's sync, as far as the kernel tells them."""
    until = "; its redundancy is whole again only then" if sync.action == WORDS["recover"] else ""
    until += f"; {NO_RESTART}" if sync.boots else ""
    if sync.waits:
        return f"{sync.array}: the {sync.action} waits for that of another array on the same disks; it begins by itself{until}"
    left = sync.seconds_left
    how = "" if left is None else f" at {mb(sync.bytes_per_second)} MB/s, {duration(left)} left"
    return f"{sync.array}: {sync.action} {sync.percent:.0f} %{how}; goes on in the background{until}"


def held_text(sync: HeldSync) -> str:
    """A sync that is held, and the ways to let it run."""
    return (
        f"the initial sync of {sync.array} is paused, and without it {sync.array} is not redundant: `apply` again or a "
        f"reboot lets it run; to let it run now, echo {sync.release} > {sync.attribute}"
    )
