"""An apply after an interruption: where it is refused during a sync, as it can be after a power cut, one after the sync."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from raidplan.twin.rehearsal.rebuild_time import REBUILD_SECONDS
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.stages import EVENTS, EVENTS_SECONDS, Run, ended_apply
from raidplan.twin.server import CommandError, CommandTimeoutError, Result, Twin

WAITS = 2
"""So often is a sync waited for: another array may begin one meanwhile."""
SYNCED = """\
for md in /sys/block/md*/md; do
  case $(cat $md/sync_action) in
    idle | frozen) ;;
    *) mdadm --wait /dev/$(basename ${md%/md}) ;;
  esac
done"""
"""Until no array syncs; `mdadm --wait` has no end for one that is frozen and pending (mdadm, Monitor.c)."""


def resumed_apply(run: Run, rig: Rig, plan: str, host: str) -> tuple[Result, bool]:
    """The end of an apply after an interruption, and whether a sync was waited for.

    An array without a bitmap syncs after a power cut; meanwhile `apply` may refuse to change it, and asks to be run again
    afterwards. Raises TwinError where the guest does not answer.
    """
    done, waited = ended_apply(run, rig.twin, plan, host), False
    for _ in range(WAITS):
        if done.ok or not any(event.get("case") == "syncing" for event in last_events(rig.twin)):
            break
        rig.release_syncs()
        try:
            rig.twin.run(["sh", "-c", SYNCED], check=False, timeout=REBUILD_SECONDS)
        except CommandTimeoutError:
            break
        done, waited = ended_apply(run, rig.twin, plan, host), True
    return done, waited


def last_events(twin: Twin) -> list[Mapping[str, Any]]:
    """The events of the last apply, up to a line that is cut off; none without a file."""
    events = []
    with contextlib.suppress(CommandError, ValueError):
        for line in twin.get(EVENTS, timeout=EVENTS_SECONDS).splitlines():
            events.append(json.loads(line))
    return events
