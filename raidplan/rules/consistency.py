"""Rules about what keeps an array consistent: bitmap, partial parity log, journal, the initial sync."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.levels import LEVELS
from raidplan.rules.engine import Hit, rule
from raidplan.rules.subjects import arrays, redundant

if TYPE_CHECKING:
    from raidplan.kinds.array import Array
    from raidplan.topology import Topology


@rule(Severity.ERROR)
def conflicting_consistency(topology: Topology) -> Iterator[Hit]:
    """The consistency policy, bitmap and journal of an array exclude each other, or do not fit its level.

    Why: mdadm and the kernel refuse these combinations. A bitmap goes with no other policy. PPL is for raid5.
    A journal is for raid4, raid5 and raid6, needs a device, and goes with nothing else. linear and raid0 have
    nothing to keep consistent, so they take neither a policy nor a bitmap.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-4>: {size: 3TB}}
    arrays:
      s0:
        level: raid6
        members: [d<0-4>]
        consistency: ppl    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-4>: {size: 3TB}}
    arrays:
      s0: {level: raid5, members: [d<0-4>], consistency: ppl}
    ```

    Source: mdadm(8), `--consistency-policy`; https://docs.kernel.org/driver-api/md/raid5-ppl.html;
    https://docs.kernel.org/driver-api/md/raid5-cache.html; mdadm 4.2's own messages.
    """
    for name, path, array in arrays(topology):
        conflict = _without_redundancy(name, array) if not redundant(array) else _conflict(name, array)
        if conflict is not None:
            key, message, hint = conflict
            yield Hit((*path, key), message, hint)


def _without_redundancy(name: str, array: Array) -> tuple[str, str, str] | None:
    for key in ("consistency", "bitmap", "journal"):
        if getattr(array, key) not in (None, "none"):
            return (
                key,
                f"{name} is {array.level}, which has no redundancy to keep consistent, and is given a '{key}'",
                f"remove '{key}', or choose a level with redundancy",
            )
    return None


def _conflict(name: str, array: Array) -> tuple[str, str, str] | None:
    """Key, message and hint of the first conflict."""
    policy, bitmap = array.policy, array.bitmap
    if policy == "ppl" and array.level != "raid5":
        return (
            "consistency",
            f"ppl works on raid5 only, and {name} is {array.level}",
            "choose bitmap or journal",
        )
    if policy == "journal" and array.journal is None:
        return "consistency", f"{name} has the policy journal and no journal device", "add journal: nvme0.log"
    if array.journal is not None and policy != "journal":
        return (
            "journal",
            f"{name} has a journal device and the policy {policy}, which makes no use of it",
            "write consistency: journal, or remove 'journal'",
        )
    if array.journal is not None and LEVELS[array.level].parity == 0:
        return (
            "journal",
            f"only raid4, raid5 and raid6 take a journal, and {name} is {array.level}",
            "remove 'journal'",
        )
    if bitmap == "internal" and policy != "bitmap":
        return (
            "bitmap",
            f"{name} has a bitmap and the policy {policy}, which exclude each other",
            "remove one of the two",
        )
    if bitmap == "none" and policy == "bitmap":
        return (
            "bitmap",
            f"{name} has the policy bitmap and no bitmap",
            "write bitmap: internal, or consistency: resync",
        )
    return None


@rule(Severity.ERROR)
def assume_clean_on_parity(topology: Topology) -> Iterator[Hit]:
    """A parity array is declared clean without its parity ever having been computed.

    Why: `--assume-clean` skips the initial sync, so the parity is whatever lay on the disks. Later small
    writes update it by the difference and keep it wrong. Nothing shows until a member fails: then md
    reconstructs garbage, silently. Only where every member has been zeroed is the parity right, and
    `initial_sync: zero` does that.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 3TB}}
    arrays:
      s0:
        level: raid5
        members: [d<0-3>]
        initial_sync: assume-clean    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 3TB}}
    arrays:
      s0: {level: raid5, members: [d<0-3>], initial_sync: zero}
    ```

    Source: mdadm(8), `--assume-clean`.
    """
    for name, path, array in arrays(topology):
        if array.initial_sync == "assume-clean" and LEVELS[array.level].parity:
            yield Hit(
                (*path, "initial_sync"),
                f"{name} is {array.level}, and without an initial sync its parity stays wrong: "
                "a lost member would come back as garbage",
                "write initial_sync: run, or zero where the disks can write zeroes quickly",
            )


@rule(Severity.WARNING)
def initial_sync_without_redundancy(topology: Topology) -> Iterator[Hit]:
    """An array without redundancy is told how to do its initial sync.

    Why: linear and raid0 hold everything once, so there is nothing to bring in step. The setting has no use,
    and somebody may believe that it protects something; `zero` would even write every disk for nothing.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-1>: {size: 3TB}}
    arrays:
      scratch:
        level: raid0
        members: [d<0-1>]
        initial_sync: zero    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-1>: {size: 3TB}}
    arrays:
      scratch: {level: raid0, members: [d<0-1>]}
    ```

    Source: md(4), "RAID0" and "UNCLEAN SHUTDOWN".
    """
    for name, path, array in arrays(topology):
        if array.initial_sync != "run" and not redundant(array):
            yield Hit(
                (*path, "initial_sync"),
                f"{name} is {array.level}, which has no initial sync, and is told to '{array.initial_sync}'",
                "remove 'initial_sync'",
            )
