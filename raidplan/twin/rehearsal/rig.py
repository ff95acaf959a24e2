"""The twin with the layout on it, and the programs in it that write and look."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from raidplan.estimate.survival import Survival, survive
from raidplan.layout.kinds.naming import device_node
from raidplan.plan.step import Plan, Run
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.server import CommandTimeoutError, Twin, TwinError, UnreachableError

WITNESS, PLACES, GIVEN = "/root/witness.py", "/root/places.py", "/root/rehearsal.json"
READY = "ready"
"""The name of the saved state from which each case starts."""
SETTLE_SECONDS = 4.0
"""Seconds for which the writers go on after something happened, before anything is looked at."""
LOOK_SECONDS = 900.0


@dataclass(frozen=True)
class Rig:
    """The twin after its reboot, with what is known of the layout."""

    twin: Twin
    subject: Subject
    survival: Survival
    members: Mapping[str, tuple[str, ...]]
    """The nodes of each array's members, in slot order and then spares."""

    @classmethod
    def of(cls, twin: Twin, subject: Subject, plan: Plan) -> Self:
        """The rig for a subject and its plan."""
        return cls(twin, subject, survive(subject.topology), members_of(plan))

    @property
    def mounts(self) -> dict[str, str]:
        """The mount point of each file system that has one."""
        entries = self.subject.topology.layout.filesystems.items()
        return {name: entry.mount for name, entry in entries if entry.mount}

    def put_programs(self) -> None:
        """The programs in the guest, and what they look at."""
        layout = self.subject.topology.layout
        arrays = {name: device_node(name) for name in layout.arrays}
        swaps = {name: arrays[entry.device] for name, entry in layout.swap.items() if entry.device in arrays}
        self.twin.put(Path(__file__).with_name("witness.py"), WITNESS)
        self.twin.put(Path(__file__).with_name("places.py"), PLACES)
        self.give({"mounts": self.mounts, "arrays": arrays, "swaps": swaps})

    def give(self, given: Mapping[str, Any]) -> None:
        """Tells the programs what they look at."""
        self.twin.put(json.dumps(given).encode(), GIVEN)

    def witness(self, word: str) -> str:
        """The answer of the witness. Raises TwinError where the guest does not."""
        done = self.twin.run(["python3", "-I", WITNESS, word], timeout=LOOK_SECONDS)
        return done.stdout

    def places(self, *words: str) -> Any:
        """The answer of the program that knows places of blocks. Raises TwinError, ValueError."""
        return json.loads(
            self.twin.run(["python3", "-I", PLACES, *words], timeout=LOOK_SECONDS).stdout or "0"
        )

    def start_writing(self) -> None:
        """Starts everything that writes, and lets it write for a while; syncs run as fast as they can."""
        self.release_syncs()
        self.witness("start")
        time.sleep(SETTLE_SECONDS)

    def release_syncs(self) -> None:
        """Takes away the limit of syncs that the image has at each boot."""
        self.twin.run("sysctl --quiet --write dev.raid.speed_limit_max=400000", check=False)

    def observation(self) -> Mapping[str, Any] | None:
        """Everything that the witness observes; None where the guest does not answer any more."""
        try:
            found: Mapping[str, Any] = json.loads(self.witness("look"))
            return found
        except (UnreachableError, CommandTimeoutError, TwinError, ValueError):
            return None


def members_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The nodes of each array's members, from the commands of the plan."""
    return {
        step.because.partition(".")[2]: tuple(
            word for word in step.action.argv[3:] if word.startswith("/dev/")
        )
        for step in plan.steps
        if isinstance(step.action, Run) and step.action.argv[:2] == ("mdadm", "--create")
    }
