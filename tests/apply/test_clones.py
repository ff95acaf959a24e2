"""A copy of a member (dd) that an array took in the place of the member: one reason that names both, and one way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.refusal import Refusal
from raidplan.base.identity import md_form
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text
from tests.apply.drifted import carrying, decided, not_started, standing, superblocks, the_array
from tests.apply.stacks import LAYOUT, Box, plan_of

TEXT = LAYOUT.replace(", wipe: true", "")


def cloned(plan: Plan, what: str, copy: str = "sda") -> Box:
    """The first disk, or its partition, was copied to another disk, and the array runs with the copy."""
    box = standing(plan)
    found, (uuid,) = the_array(box), box.objects["array"]
    box.disk(copy, "COPY").table(copy)
    if what == "disk":
        (table,) = (each for each in box.objects["table"].values() if each["disk"] == "/dev/sdb")
        part = table["partitions"][0].split()[0]
        table |= {"disk": min(f"/dev/{copy}", "/dev/sdb"), "also": [max(f"/dev/{copy}", "/dev/sdb")]}
        box.partition(copy, uuid=part)
    else:
        box.partition(copy)
        found["members"][0] = box.blocks[f"{copy}1"].identity
    box.member(f"{copy}1", array=uuid)
    below = box.blocks["md127"].below
    box.blocks["md127"] = replace(box.blocks["md127"], below=(f"{copy}1", *below[1:]))
    return carrying(box)


def the_reason(plan: Plan, box: Box) -> Refusal:
    decision = decided(plan, box)
    (reason,) = (each for each in decision.refusals if each.code != "not-in-journal")
    assert not decision.left.steps
    return reason


@pytest.mark.parametrize("what", ["disk", "partition"])
@pytest.mark.parametrize("copy", ["sda", "sdz"])
@pytest.mark.parametrize("wipe", [False, True])
def test_one_reason_names_both_and_the_member_is_rebuilt(
    what: str, copy: str, wipe: bool, tmp_path: Path
) -> None:
    """Neither is taken back as it is: which of them has all writes, nobody can tell."""
    plan = plan_of(LAYOUT if wipe else TEXT, tmp_path)
    reason = the_reason(plan, cloned(plan, what, copy))
    assert (reason.code, reason.case, reason.place) == ("uuid-taken", "clone", "arrays.data")
    assert reason.figures["clones"] == (f"/dev/{copy}1 (serial COPY)",)
    assert reason.figures["members"] == ("d0.data: /dev/sdb1 (serial PAIR-0)",)
    text = refusal_text(reason)
    said = [
        f"`mdadm /dev/md127 --fail /dev/{copy}1`",
        f"`mdadm /dev/md127 --remove /dev/{copy}1`",
        "`mdadm --zero-superblock /dev/sdb1`",
        "`mdadm /dev/md127 --add /dev/sdb1`",
    ]
    assert [text.index(each) for each in said] == sorted(text.index(each) for each in said)


def test_the_way_back_lasts_over_a_restart(tmp_path: Path) -> None:
    """Where a copy cannot be unplugged while the server runs, the kernel names the disks anew."""
    plan = plan_of(TEXT, tmp_path)
    box = cloned(plan, "disk")
    links = ("/dev/disk/by-id/lvm-pv-uuid-copied-too", "/dev/disk/by-id/ata-DISK_PAIR-0")
    box.disks["sdb"] = replace(box.disks["sdb"], links=links)
    (uuid,) = box.objects["array"]
    array = f"/dev/disk/by-id/md-uuid-{md_form(uuid)}"
    box.blocks["md127"] = replace(box.blocks["md127"], node=array)
    member = "/dev/disk/by-id/ata-DISK_PAIR-0-part1"
    figures = the_reason(plan, box).figures
    assert figures["back"] == (f"mdadm --zero-superblock {member}", f"mdadm {array} --add {member}")
    assert figures["node"] == array and figures["out"] == tuple(
        f"mdadm /dev/md127 --{verb} /dev/sda1" for verb in ("fail", "remove")
    )


def without_the_other(box: Box) -> Box:
    found = the_array(box)
    found |= {"members": [found["members"][0], "missing"], "degraded": 1}
    return box


@pytest.mark.parametrize("what", ["disk", "partition"])
def test_where_nothing_can_rebuild_the_member_all_is_looked_at_first(what: str, tmp_path: Path) -> None:
    plan = plan_of(TEXT, tmp_path)
    box = without_the_other(cloned(plan, what))
    (uuid,) = box.objects["array"]
    reason = the_reason(plan, box)
    assert (reason.code, reason.case) == ("uuid-taken", "clone-without-way-back")
    assert reason.figures["stop"] == "mdadm --stop /dev/md127"
    assert reason.figures["command"] == (
        f"mdadm --assemble /dev/md/data --uuid={md_form(uuid)} --run --readonly /dev/sdb1"
    )
    assert "zero-superblock" not in refusal_text(reason) and " --add" not in refusal_text(reason)


def test_a_stripe_is_assembled_of_the_disks_of_the_layout(tmp_path: Path) -> None:
    plan = plan_of(TEXT.replace("raid1", "raid0"), tmp_path)
    reason = the_reason(plan, cloned(plan, "disk"))
    assert (reason.code, reason.case) == ("uuid-taken", "clone-without-way-back")
    assert str(reason.figures["command"]).endswith(" --readonly /dev/sdb1 /dev/sdc1")


@pytest.mark.parametrize("level", ["raid1", "raid5"])
@pytest.mark.parametrize(
    "found", [{"degraded": 1, "sync_action": "recover"}, {"degraded": 1}, {"sync_action": "resync"}]
)
def test_nothing_is_taken_out_while_a_member_is_not_whole(
    level: str, found: dict[str, Any], tmp_path: Path
) -> None:
    """It has its slot while it is rebuilt, of nothing but the clone where the array is a pair."""
    box = cloned(plan := plan_of(TEXT.replace("raid1", level), tmp_path), "partition")
    the_array(box).update({"degraded": 0, "sync_action": "idle"} | found)
    reason = the_reason(plan, box)
    assert (reason.code, reason.case) == ("uuid-taken", "clone-syncing")
    text = refusal_text(reason)
    assert "`mdadm --wait /dev/md127`" in text and "--fail" not in text and "--remove" not in text
    the_array(box).update({"degraded": 0, "sync_action": "idle"})
    assert the_reason(plan, box).case == "clone"


@pytest.mark.parametrize("what", ["disk", "partition"])
@pytest.mark.parametrize("level", ["raid1", "raid5", "raid0"])
@pytest.mark.parametrize("told", [True, False])
def test_an_array_that_is_not_started_is_assembled_of_the_disks_of_the_layout(
    what: str, level: str, told: bool, tmp_path: Path
) -> None:
    """Without superblocks that are told, as in a snapshot of an earlier version, a copy of a partition is none to see."""
    plan = plan_of(TEXT.replace("raid1", level), tmp_path)
    box = cloned(plan, what)
    members = [box.blocks[name].identity for name in ("sdb1", "sdc1")]
    if told:
        slots = {0: members[0], 1: members[1]}
        box = superblocks(box, level, slots)
        box.put(
            "superblock",
            "sda1",
            **{**box.objects["superblock"]["sdb1"], "device": box.blocks["sda1"].identity},
        )
    box = carrying(not_started(box))
    if what == "partition" and not told:
        assert "clone" not in {each.case for each in decided(plan, box).refusals}
        return
    reason = the_reason(plan, box)
    assert (reason.code, reason.case) == ("uuid-taken", "clone-not-started")
    assert (reason.figures["clones"], reason.figures["members"]) == (
        ("/dev/sda1 (serial COPY)",),
        ("d0.data: /dev/sdb1 (serial PAIR-0)",),
    )
    assert str(reason.figures["command"]).endswith(" --readonly /dev/sdb1 /dev/sdc1")
    text = refusal_text(reason)
    assert (
        "zero-superblock" not in text
        and " --add" not in text
        and text.index("--stop") < text.index("--assemble")
    )


def test_a_disk_that_is_still_in_the_array_is_not_to_be_unplugged(tmp_path: Path) -> None:
    """The layout names a new disk in its place, and mdadm copies from the old one."""
    plan = plan_of(TEXT, tmp_path)
    box = cloned(plan, "partition")
    box.blocks["sdb1"] = replace(box.blocks["sdb1"], found=())
    box.disks["sdb"] = replace(
        box.disks["sdb"], traces=tuple(each for each in box.disks["sdb"].traces if not each.uuid)
    )
    reasons = [each for each in decided(plan, carrying(box)).refusals if each.code != "not-in-journal"]
    assert [(each.code, each.case) for each in reasons] == [("differs", "member-exchanged")]


def test_of_two_disks_with_one_table_the_layout_tells_which_is_the_copy(tmp_path: Path) -> None:
    plan = plan_of(TEXT, tmp_path)
    box = cloned(plan, "disk")
    box.blocks["md127"] = replace(box.blocks["md127"], below=("sdb1", "sdc1"))
    (reason,) = [each for each in decided(plan, box).refusals if each.case == "copy"]
    assert reason.figures["copies"] == ("/dev/sda (serial COPY)",)
