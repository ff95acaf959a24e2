"""Rules about what keeps an array consistent over a crash: bitmap, partial parity log, journal."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import GIB
from raidplan.base.words import in_hours, mb
from raidplan.geometry.md_member import MOST_PPL
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import are_free, free_disks
from raidplan.rules.lib.subjects import arrays, gb, hours_at, redundant
from raidplan.rules.rebuild import component, pace
from raidplan.rules.workloads import work_on
from raidplan.topology import Topology

LARGE = 100 * GIB
"""From this size of a member on, mdadm 4.2 and 4.3 add a bitmap by themselves."""


@rule(Severity.ERROR)
def conflicting_consistency(topology: Topology) -> Iterator[Hit]:
    """The consistency policy, bitmap and journal of an array exclude each other, or do not fit its level.

    Why: mdadm and the kernel refuse these combinations. A bitmap goes with no other policy. PPL is for raid5.
    A journal is for raid4, raid5 and raid6, needs a device, and goes with nothing else. linear and raid0 have
    nothing to keep consistent, so they take neither a policy nor a bitmap.

    Bad:
        hardware:
          disks: {d<0-4>: {size: 3TB}}
        arrays:
          s0:
            level: raid6
            members: [d<0-4>]
            consistency: ppl    # <-- here

    Good:
        hardware:
          disks: {d<0-4>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>], consistency: ppl}

    Source: mdadm(8), `--consistency-policy`; https://docs.kernel.org/driver-api/md/raid5-ppl.html;
    https://docs.kernel.org/driver-api/md/raid5-cache.html; mdadm 4.2's own messages.
    """
    for name, path, array in arrays(topology):
        conflict = _without_redundancy(name, array) if not redundant(array) else _conflict(name, array)
        if conflict is not None:
            key, message, values, hint = conflict
            edits = (Edit((*path, each), value) for each, value in values.items())
            yield Hit((*path, key), message, hint, edits=tuple(edits))


Conflict = tuple[str, str, dict[str, str | None], str]
"""A conflict: the key that it is about, its message, the values of keys that end it, and further advice."""


def _without_redundancy(name: str, array: Array) -> Conflict | None:
    keys = [key for key in ("consistency", "bitmap", "journal") if getattr(array, key) not in (None, "none")]
    if not keys:
        return None
    message = (
        f"{name} is {array.level}, which has no redundancy to keep consistent, and is given a '{keys[0]}'"
    )
    return keys[0], message, dict.fromkeys(keys), "or choose a level with redundancy"


def _plain(array: Array) -> dict[str, str | None]:
    """The values of keys that leave an array with a bitmap."""
    keys: dict[str, str | None] = dict.fromkeys(
        key for key in ("consistency", "journal") if key in array.written
    )
    return keys | ({"bitmap": "internal"} if array.bitmap == "none" else {})


def _conflict(name: str, array: Array) -> Conflict | None:
    """The first conflict."""
    policy, bitmap = array.policy, array.bitmap
    if policy == "ppl" and not LEVELS[array.level].ppl:
        return (
            "consistency",
            f"ppl works on raid5 only, and {name} is {array.level}",
            _plain(array),
            "for a bitmap",
        )
    if policy == "journal" and array.journal is None:
        message = f"{name} has the policy journal and no journal device"
        return (
            "consistency",
            message,
            _plain(array),
            "for a bitmap, or add a device such as journal: nvme0.log",
        )
    if array.journal is not None and policy != "journal":
        return (
            "journal",
            f"{name} has a journal device and the policy {policy}, which makes no use of it",
            {"journal": None},
            "or write consistency: journal",
        )
    if array.journal is not None and LEVELS[array.level].parity == 0:
        return (
            "journal",
            f"only raid4, raid5 and raid6 take a journal, and {name} is {array.level}",
            _plain(array),
            "",
        )
    if bitmap == "internal" and policy != "bitmap":
        return (
            "bitmap",
            f"{name} has a bitmap and the policy {policy}, which exclude each other",
            {"consistency" if policy == "resync" else "bitmap": None},
            "",
        )
    if bitmap == "none" and policy == "bitmap":
        return (
            "bitmap",
            f"{name} has the policy bitmap and no bitmap",
            {"bitmap": "internal"},
            "or consistency: resync",
        )
    return None


@rule(Severity.WARNING)
def no_bitmap(topology: Topology) -> Iterator[Hit]:
    """A large redundant array has neither a bitmap nor a log.

    Why: after a crash md does not know what was being written, so it syncs everything: hours, in which the
    disks are busy and, with parity, another failure may cost data. The same for a member that was missing for
    a moment: with a bitmap it gets what it missed, without one all of it is written again. One machine did
    that each time a flaky port lost its disk at boot. An internal bitmap has a bit for 64 MiB and costs
    little. Said from members of 100 GiB on, where mdadm up to 4.3 adds one by itself.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            bitmap: none    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], bitmap: internal}

    Source: md(4), "BITMAP WRITE-INTENT LOGGING"; N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server
    Running Linux" (2005); https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.3/Create.c.
    """
    for name, path, array in arrays(topology):
        size = component(topology, name, array) if array.policy == "resync" else None
        if size is None or size < LARGE:
            continue
        known = pace(topology, name, array)
        hours = f", {in_hours(hours_at(known[0], size))} at {mb(known[0])} MB/s" if known is not None else ""
        yield Hit(
            (*path, "bitmap" if array.bitmap is not None else "consistency"),
            f"{name} keeps no bitmap: after a crash, or when a member comes back, all {gb(size)} of each "
            f"are synced{hours}",
            edits=tuple(Edit((*path, key), value) for key, value in _plain(array).items()),
        )


@rule(Severity.NOTE)
def write_hole(topology: Topology) -> Iterator[Hit]:
    """A parity array has no protection against the write hole.

    Why: data and parity of a stripe are written one after the other. If the machine stops in between and a
    disk is missing then or fails before the resync is done, the missing block is computed from parts that do
    not belong together, and that block need not be one that was being written. A bitmap makes the time short
    and does not close the hole. A partial parity log does (raid5 only), a journal does, and a machine that is
    always stopped cleanly, by a UPS, never opens it. md refuses to start an array that is both dirty and
    degraded.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5    # <-- here
            members: [d<0-3>]

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], consistency: ppl}

    Source: md(4), "UNCLEAN SHUTDOWN"; https://docs.kernel.org/driver-api/md/raid5-ppl.html; a comment of the
    author below "Homebuilt 2 Terabytes RAID5 File Server Running Linux" (2005), who advises a UPS.
    """
    for name, path, array in arrays(topology):
        if LEVELS[array.level].parity and array.policy in ("bitmap", "resync"):
            user = topology.used_by.get(name)
            apart = user is None or user.path[0] != "arrays"  # all legs of an array are to stay alike
            log = _log(array) if apart and "database" not in work_on(topology, path) else {}
            yield Hit(
                (*path, "level"),
                f"a crash of {name} while a member is missing can corrupt data that was not being written (the write hole)",
                "which costs up to 40 % of the rate of writes, or have a UPS stop it cleanly"
                if log
                else _protection(topology, array),
                edits=tuple(Edit((*path, key), value) for key, value in log.items()),
            )


def _log(array: Array) -> dict[str, str | None]:
    """The values of keys that give an array a partial parity log; none where it can have none."""
    if not LEVELS[array.level].ppl or array.metadata == "0.90" or len(array.named_members) > MOST_PPL:
        return {}
    return {"consistency": "ppl"} | ({"bitmap": None} if array.bitmap == "internal" else {})


def _protection(topology: Topology, array: Array) -> str:
    """Ways to protect this array, with the parts of this machine."""
    if _log(array):
        return "have a UPS stop it cleanly, or choose consistency: ppl, which costs up to 40 % of the rate of writes"
    disks = topology.layout.hardware.disks
    solid = [name for name in topology.once(free_disks) if disks[name].rotational is False][:2]
    if len(solid) == 2:
        return f"have a UPS stop it cleanly, or make a raid1 for its journal: {are_free(solid)}"
    return "have a UPS stop it cleanly, or add a journal on a raid1 of two solid-state disks"


@rule(Severity.NOTE)
def ppl_write_cost(topology: Topology) -> Iterator[Hit]:
    """A database is kept on an array with a partial parity log, which slows down its writes.

    Why: PPL writes the parity of what a write leaves alone to a log on the members, before the write itself.
    That closes the write hole, and takes up to 30 to 40 % of the rate of writes. It is the price, not a
    mistake; raid10 has no hole to close.

    Bad:
        workload: database
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            consistency: ppl    # <-- here

    Good:
        workload: database
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}

    Source: https://docs.kernel.org/driver-api/md/raid5-ppl.html.
    """
    for name, path, array in arrays(topology):
        if "database" in work_on(topology, path) and array.policy == "ppl" and LEVELS[array.level].ppl:
            yield Hit(
                (*path, "consistency"),
                f"the log of {name} takes up to 40 % of the rate of writes, and the workload is database",
                "keep it as the price of a closed write hole, or choose raid10, which has none",
            )
