"""A case played through in the running twin: parts pulled, everything looked at, the way back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidplan.estimate.survival import Survival
from raidplan.layout.kinds.naming import device_node
from raidplan.plan import Plan, Run
from raidplan.twin.rehearsal.cases import Case
from raidplan.twin.rehearsal.observed import acknowledged, lost_bytes, observations
from raidplan.twin.rehearsal.report import Tried
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.server import CommandTimeoutError, Twin, UnreachableError

WITNESS = "/root/witness.py"
READY = "ready"
"""The name of the saved state from which each case starts."""
SETTLE_SECONDS = 4.0
"""Seconds for which the writers go on after parts were pulled, before anything is looked at."""
LOOK_SECONDS = 420.0
BACK_SECONDS = 300.0


@dataclass(frozen=True)
class Rig:
    """The twin after its reboot, with what is known of the layout."""

    twin: Twin
    subject: Subject
    survival: Survival
    members: Mapping[str, tuple[str, ...]]
    """The nodes of each array's members, in slot order and then spares."""


def members_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The nodes of each array's members, from the commands of the plan."""
    return {
        step.because.partition(".")[2]: tuple(
            word for word in step.action.argv[3:] if word.startswith("/dev/")
        )
        for step in plan.steps
        if isinstance(step.action, Run) and step.action.argv[:2] == ("mdadm", "--create")
    }


def prepare(rig: Rig) -> None:
    """Starts everything that writes, and saves the state of the machine."""
    layout = rig.subject.topology.layout
    given = {
        "mounts": [entry.mount for entry in layout.filesystems.values() if entry.mount],
        "arrays": {name: device_node(name) for name in layout.arrays},
    }
    rig.twin.put(Path(__file__).with_name("witness.py"), WITNESS)
    rig.twin.put(json.dumps(given).encode(), "/root/rehearsal.json")
    rig.twin.run("sysctl --quiet --write dev.raid.speed_limit_max=400000", check=False)
    rig.twin.run(["python3", "-I", WITNESS, "start", "/root/rehearsal.json"])
    time.sleep(SETTLE_SECONDS)
    rig.twin.save(READY)


def play(rig: Rig, case: Case) -> Tried:
    """Pulls the disks of a case, looks, and puts them back."""
    began = time.monotonic()
    rig.twin.unplug(*case.disks)
    time.sleep(SETTLE_SECONDS)
    found = _looked(rig.twin)
    seen = observations(case, rig.survival, rig.subject.topology, found)
    lost = tuple(lost_bytes(found, seen, rig.subject.topology))
    rig.twin.plug(*case.disks)
    returned, whole = "", True
    if found is not None and case.kind != "control" and _lives_on(case):
        returned, whole = _brought_back(rig, case)
    count = acknowledged(found)
    rig.twin.restore(READY)
    return Tried(case, time.monotonic() - began, tuple(seen), lost, count, returned, whole)


def _lives_on(case: Case) -> bool:
    return all(outcome.survives for outcome in case.predicted.values())


def _looked(twin: Twin) -> Mapping[str, Any] | None:
    """Everything that the witness observed; None where the guest does not answer any more."""
    try:
        done = twin.run(["python3", "-I", WITNESS, "look"], check=False, timeout=LOOK_SECONDS)
        found: Mapping[str, Any] = json.loads(done.stdout)
        return found
    except (UnreachableError, CommandTimeoutError, ValueError):
        return None


def _brought_back(rig: Rig, case: Case) -> tuple[str, bool]:
    """How the members came back, and whether every array is whole and every acknowledged record there."""
    commands = list(_additions(rig, case))
    if not commands:
        return "", True
    script = "\n".join(
        f"for try in $(seq 100); do [ -b {node} ] && break; sleep 0.2; done\n"
        f"mdadm --detail {array} | grep -q 'active sync.*{Path(node).name}' || "
        f"mdadm --manage {array} --re-add {node} 2>/dev/null || "
        f"{{ mdadm --manage {array} --remove detached; mdadm --manage {array} --add {node} && echo added; }}"
        for array, node in commands
    )
    done = rig.twin.run(["sh", "-c", script], check=False, timeout=BACK_SECONDS)
    waited = "; ".join(f"mdadm --wait {array} >/dev/null 2>&1" for array in dict(commands))
    rig.twin.run(["sh", "-c", f"{waited}; sleep 1"], check=False, timeout=BACK_SECONDS)
    found = _looked(rig.twin)
    if found is None:
        return "the machine does not answer after the disks were back", False
    short = [name for name, array in found["arrays"].items() if array.get("degraded", "1") != "0"]
    damaged = [
        mount
        for mount, state in found["mounts"].items()
        if not isinstance(state["read"], dict) or state["read"]["damaged"]
    ]
    if short or damaged:
        what = f"degraded still: {', '.join(short)}" if short else f"damaged: {', '.join(damaged)}"
        return f"{what}; {done.stderr.strip()[-300:]}", False
    return ("rebuilt" if "added" in done.stdout else "re-added"), True


def _additions(rig: Rig, case: Case) -> Iterator[tuple[str, str]]:
    """The arrays that lack members, from the bottom up, and the nodes of these members."""
    topology = rig.subject.topology
    for item in topology.items:
        if item.path[0] == "arrays" and item.name in rig.members:
            array = topology.layout.arrays[item.name]
            named = (*array.named_members, *((array.journal,) if array.journal else ()), *array.spares)
            for member, node in zip(named, rig.members[item.name], strict=False):
                if member.partition(".")[0] in case.disks:
                    yield device_node(item.name), node
