"""What LVM wrote is on the disks before the journal says so: LVM flushes none, and a power cut took a new group along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apply.earlier import IN_PLACE, plan_of, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]


class Watched(Simulated):
    """Notes which devices were synced after the program of each step, before the journal had its end."""

    def follow(self) -> dict[str, set[str]]:
        synced: set[str] = set()
        ends: dict[str, set[str]] = {}

        def watch(when: str, kind: str, what: str) -> None:
            if (when, kind) == ("after", "run"):
                synced.clear()
            if (when, kind) == ("after", "sync"):
                synced.add(what)
            if (when, kind) == ("after", "write") and what.endswith("/journal"):
                last = json.loads(Path(what).read_text().splitlines()[-1])
                if last["kind"] == "ended":
                    ends.setdefault(last["step"], set(synced))

        self.watch = watch
        return ends


def ends_of(folder: Path, state: State, change: str = "") -> dict[str, set[str]]:
    """By steps of LVM, the devices that were synced before the journal had their end."""
    plan = plan_of(folder, IN_PLACE[change][0] if change else None)
    world = Watched(plan, folder, state)
    ends = world.follow()
    assert apply(plan, world) == "done"
    return {step: synced for step, synced in ends.items() if step.startswith("volume.")}


def test_a_new_group_and_its_volumes_are_synced_before_they_are_journaled(tmp_path: Path) -> None:
    ends = ends_of(tmp_path, machine(tmp_path))
    assert len(ends) == 4
    assert "/dev/md/p" in ends["volume.v.physical.p"] and "/dev/md/p" in ends["volume.v.create"]
    assert "/dev/v/home" in ends["volume.v.home.create"] and "/dev/v/x" in ends["volume.v.x.create"]


@pytest.mark.parametrize("change", ["read-ahead of a volume", "read-ahead below a volume"])
def test_so_is_what_lvchange_writes(change: str, tmp_path: Path) -> None:
    ends = ends_of(tmp_path, standing(tmp_path, tmp_path), change)
    (synced,) = (synced for step, synced in ends.items() if ".home." in step)
    assert "/dev/v/home" in synced
