"""A device that has the name of a spare that an interrupted run added, or took out: on another disk, a superblock of the array is none of
that run's, but what somebody keeps: a half of a mirror, say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks_of_added
from raidplan.plan.origin import Origin
from raidplan.plan.step import Plan, Zero
from tests.apply.earlier import IN_PLACE, plan_of, standing
from tests.apply.runs import apply, impatient
from tests.apply.simulated import Killed, Simulated
from tests.apply.stacks import Box, decide
from tests.apply.stacks import plan_of as plan_of_text

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>}, d2: {size: 1TB, serial: SERIAL}}
arrays:
  data: {level: raid1, members: [d0, d1], SPARES whole_disks: true}
filesystems:
  data: {device: data, type: ext4, mount: /srv/data}
"""
USES = {"spare": ("spares: [d2],", ""), "remove": ("", "swap: {s: {device: d2}}\n")}
"""The verb of the step that was cut off, to what the layout has d2 for: the spare, or something else."""


def plan_with(verb: str, serial: str, folder: Path) -> Plan:
    """The layout whose disk d2 has this serial number."""
    spares, other = USES[verb]
    return plan_of_text(LAYOUT.replace("SERIAL", serial).replace("SPARES", spares) + other, folder)


def stands(plan: Plan, serial: str) -> Box:
    """The array without a spare; d2 has a superblock of it."""
    made = {step.proof.kind: step.proof for step in plan.steps if step.proof and step.creates}
    box, uuid = Box(), made["array"].key
    for name, each in (("sdb", "PAIR-0"), ("sdc", "PAIR-1"), ("sdd", serial)):
        box.disk(name, each).member(name, array=uuid)
        box.put("content", f"/dev/{name}", carries=[f"linux_raid_member {uuid}"])
    box.array("md127", "sdb", "sdc", uuid=uuid, name="pair:data")
    more = {"node": "/dev/md127", "device": "md127", "links": ["data"], "state": "clean", "faulty": []}
    now = {"members": ["/dev/sdb", "/dev/sdc"], "spares": [], "degraded": 0, "sync_action": "idle"}
    box.put("array", uuid, **{**made["array"].expect, **more, **now})
    return box.put("filesystem", made["filesystem"].key, **made["filesystem"].expect)


def cut_off(verb: str, folder: Path) -> Past:
    """The journal of a run that was killed while mdadm added d2, or right after it was taken out; its serial number was ONE then."""
    plan = plan_with(verb, "ONE", folder)
    disks = decide(plan, stands(plan, "ONE").machine(), Past(), here=False).disks
    step = f"array.data.create+{verb}.d2"
    return Past(
        is_open=True,
        began="2026-11-01T00:00:00+00:00",
        plans={step: "sha256:0"},
        marks=marks_of_added(plan, disks, {step: ("{d2}",)}),
        origins={step: Origin("change", "array.data.create")},
        made=frozenset(filter(None, map(made_by, plan.steps))),
        **{"begun" if verb == "spare" else "ended": frozenset({step})},
    )


def cleared(decision: Decision) -> list[str]:
    """The devices that are cleared."""
    return [step.action.device for step in decision.left.steps if isinstance(step.action, Zero)]


@pytest.mark.parametrize("verb", USES)
def test_the_superblock_on_the_disk_of_then_is_cleared(verb: str, tmp_path: Path) -> None:
    plan = plan_with(verb, "ONE", tmp_path)
    decision = decide(plan, stands(plan, "ONE").machine(), cut_off(verb, tmp_path), here=False)
    assert cleared(decision) == ["{d2}"]


@pytest.mark.parametrize("verb", USES)
def test_that_on_another_disk_of_the_name_is_kept(verb: str, tmp_path: Path) -> None:
    past, plan = cut_off(verb, tmp_path), plan_with(verb, "OTHER", tmp_path)
    decision = decide(plan, stands(plan, "OTHER").machine(), past, here=False)
    assert not cleared(decision)
    assert [each.place for each in decision.refusals if each.code == "disk-not-blank"] == ["d2"]


@pytest.mark.parametrize("serial", ["ONE", "OTHER"])
def test_without_a_record_of_the_disk_nothing_is_cleared(serial: str, tmp_path: Path) -> None:
    """As in journals of earlier versions."""
    past, plan = replace(cut_off("remove", tmp_path), marks={}), plan_with("remove", serial, tmp_path)
    decision = decide(plan, stands(plan, serial).machine(), past, here=False)
    assert not cleared(decision)
    assert [each.place for each in decision.refusals if each.code == "disk-not-blank"] == ["d2"]


def test_the_journal_records_the_disk_of_a_spare_that_is_taken_out(tmp_path: Path) -> None:
    """Killed before its superblock is cleared: the next apply does that."""
    state = standing(tmp_path, tmp_path / "root")
    later = plan_of(tmp_path, IN_PLACE["no spare"][0])

    class Cut(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            if any("--remove" in line for line in self.executed):
                raise Killed
            return super().effect(kind, what, act)

    with pytest.raises(Killed):
        apply(later, Cut(later, tmp_path / "root", state))
    world = Simulated(later, tmp_path / "root", state)
    decision = decide(later, world.read(later), read_past(tmp_path / "root/var/lib/raidplan"), here=False)
    assert len(cleared(decision)) == 1
    assert apply(later, world) == "done"
