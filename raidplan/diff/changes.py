"""Changes that keep the data, with their commands; whatever is not in these tables is impossible.

File systems by type: `base/filesystems/`; arrays, partitions, LVM, swap and mounts: `plan/changes/`. Source: systemctl(1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raidplan.diff.statement import Statement, statement
from raidplan.layout.kinds.host import Monitoring
from raidplan.plan import switches
from raidplan.plan.changes import Answer, contents, short


@dataclass(frozen=True, slots=True)
class Way:
    """A way to change something while its data stays."""

    command: str
    """The program and its mode, `mdadm --grow --chunk`; `none` if there is nothing to do."""
    notes: tuple[Statement, ...] = ()
    """Facts to know before."""


def way(answer: Answer) -> Way | None:
    """The way in which `plan/changes/` has an array changed; None if there is none."""
    since = (statement("since", since=answer.since),) if answer.since else ()
    return Way(short(answer), (*map(Statement, answer.before), *since)) if answer.possible else None


def way_or_kept(answer: Answer) -> Way:
    """The way; where there is none, the thing stays as it is, with the reason: its data is not in danger."""
    return way(answer) or Way("none", (Statement(answer.reason),) if answer.reason else ())


def noted(way: Way | None, *notes: Statement | None) -> Way | None:
    """The way with more to know before."""
    return way and Way(way.command, (*way.notes, *filter(None, notes)))


TUNED = Way("udevadm trigger")
"""The tunables of an array are set by a udev rule, now and at every boot."""
AT_BOOT = way_or_kept(contents.AT_BOOT)
WHEN_MADE = Way("none", (statement("when-made"),))
STATED = Way("none")
"""A fact about the machine, or a wish that no command carries out."""

ARRAY: Mapping[str, Way] = {
    "stripe_cache_size": TUNED,
    "read_ahead": TUNED,
    "sync_speed_min": TUNED,
    "sync_speed_max": TUNED,
    "group_thread_count": TUNED,
    "initial_sync": WHEN_MADE,
}
"""The keys of an array that have nothing to do with where its data lies."""


def array_setting(key: str, planned: object) -> Way:
    """The way of a key of `ARRAY`: a running array keeps a tunable that the rule no longer sets."""
    return AT_BOOT if ARRAY[key] is TUNED and planned is None else ARRAY[key]


KEEP = statement("keep")
DESCRIBED = Way("none", (statement("described"),))
"""A partition table that stays is compared, and never written."""
PARTITION: Mapping[str, Way] = {"keep": Way("none", (*DESCRIBED.notes, KEEP)), "uuid": DESCRIBED}
"""The keys of a partition that a layout has for what is there already."""

BOOT: Mapping[str, Way] = {"esp": AT_BOOT, "loader": STATED, "degraded": AT_BOOT}
HARDWARE: Mapping[str, Way] = {
    "behind": Way("none", (statement("cable"),)),
    "port": Way("none", (statement("cable"),)),
    "wipe": Way("none", (statement("wipe"),)),
    "keep": Way("none", (KEEP,)),
}
"""Everything else of the hardware is `STATED`."""


def monitoring(wanted: Monitoring) -> Mapping[str, Way]:
    """The keys of `monitoring`, by the switches that `plan` and `apply` run."""
    return {
        "mail": Way(switches.words((switches.MONITOR_READS,))),
        "scrub": Way(switches.words(switches.scrub("", wanted.scrub))),
        "smart": STATED,
    }
