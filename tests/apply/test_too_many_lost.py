"""Arrays that have lost more than they may: nothing is added, and what brings the members back is said, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.bring_up import Wish
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import md_form
from raidplan.base.levels import survives
from raidplan.plan.identities import node_of
from raidplan.render.refusals import refusal_text
from tests.apply.drifted import carrying, decided, not_started, plan, standing, the_array, the_reason
from tests.apply.rescue import LAYOUT as RESCUE
from tests.apply.rescue import as_applied, guards, up
from tests.apply.rescue import plan_of as plan_of_rescue
from tests.apply.runs import impatient
from tests.apply.stacks import Box

__all__ = ["impatient"]

CODES = ("differs", "too-many-lost", "target-not-blank", "uuid-taken")


def uuid(box: Box) -> str:
    (found,) = box.objects["array"]
    return md_form(found)


def in_order(reason: Refusal) -> list[str]:
    """The commands in the order in which the sentence has them."""
    text = refusal_text(reason)
    assert "--add /" not in text and "--create /" not in text
    found = [str(reason.figures[name]) for name in ("stop", "examine", "command")]
    places = [text.index(f"`{each}`") for each in found if each]
    assert places == sorted(places)
    return found


@pytest.mark.parametrize(
    "level, members, lost",
    [("raid5", 3, 2), ("raid6", 4, 3), ("raid1", 2, 2), ("raid10", 4, 2), ("raid0", 2, 1), ("raid4", 3, 2)],
)
def test_members_that_failed_and_are_connected_are_assembled_and_none_is_added(
    level: str, members: int, lost: int, tmp_path: Path
) -> None:
    whole = plan(tmp_path, level, members)
    box = standing(whole)
    found = the_array(box)
    there = [*found["members"]]
    found |= {"members": ["missing"] * lost + there[lost:], "faulty": there[:lost]}
    reason = the_reason(whole, carrying(box))
    assert (reason.code, reason.case, reason.place) == ("too-many-lost", "back", "arrays.data")
    figures = reason.figures
    assert (figures["count"], figures["devices"], figures["level"]) == (lost, members, level)
    assert figures["lost"] == tuple(f"d{slot}.data (serial PAIR-{slot})" for slot in range(lost))
    assert figures["survived"] == {"raid6": 2, "raid0": 0}.get(level, 1)
    devices = " ".join(map(node_of, there))
    force = "" if level == "raid0" else " --force"
    assert in_order(reason) == [
        "mdadm --stop /dev/md127",
        f"mdadm --examine {devices}",
        f"mdadm --assemble /dev/md/data --uuid={uuid(box)}{force} --readonly {devices}",
    ]


def test_a_mirrored_stripe_goes_on_without_one_of_each_pair(tmp_path: Path) -> None:
    whole = plan(tmp_path, "raid10", 4)
    box = standing(whole)
    found = the_array(box)
    found["members"] = ["missing", found["members"][1], found["members"][2], "missing"]
    found["degraded"] = 2
    reasons = decided(whole, carrying(box)).refusals
    assert [each.case for each in reasons if each.code in CODES] == ["member-missing"]
    assert survives("raid10", 4, "n2", (0, 3)) and not survives("raid10", 4, "n2", (2, 3))


@pytest.mark.parametrize("wipe", [False, True])
def test_members_that_are_away_are_named_and_no_command_is_said(wipe: bool, tmp_path: Path) -> None:
    """Whatever may be wiped: the array is one of the layout."""
    whole = plan(tmp_path, "raid5", 3, wipe=wipe)
    box = standing(whole)
    found = the_array(box)
    away = found["members"][:2]
    found["members"] = ["missing", "missing", found["members"][2]]
    reason = the_reason(whole, carrying(box, away))
    assert (reason.code, reason.case) == ("too-many-lost", "")
    assert reason.figures["lost"] == ("d0.data (serial PAIR-0)", "d1.data (serial PAIR-1)")
    assert "command" not in reason.figures
    assert "`raidplan adopt LAYOUT --forget arrays.data`" in refusal_text(reason), (
        "wiped, it would be refused as lost"
    )


def test_a_member_that_was_being_rebuilt_has_no_data(tmp_path: Path) -> None:
    """It has its slot, and the kernel counts it as lost."""
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    found = the_array(box)
    found |= {"members": ["missing", *found["members"][1:]], "degraded": 2}
    assert the_reason(whole, carrying(box)).figures["count"] == 2


@pytest.mark.parametrize("state", ["broken", "clean"])
def test_a_stripe_whose_member_vanished_is_stopped_and_assembled(state: str, tmp_path: Path) -> None:
    """md calls it broken once it was written to; until then the name of the device that is gone is all there is to see."""
    whole = plan(tmp_path, "raid0", 2)
    box = standing(whole)
    found = the_array(box)
    found["state"] = state
    if state == "clean":
        found["members"] = ["/dev/sdx1", found["members"][1]]
    reason = the_reason(whole, carrying(box))
    assert (reason.code, reason.case) == ("too-many-lost", "back")
    stop, _, command = in_order(reason)
    assert stop == "mdadm --stop /dev/md127" and command.startswith("mdadm --assemble /dev/md/data ")
    assert " --force" not in command


@pytest.mark.parametrize("away", [1, 2])
def test_an_array_that_a_boot_did_not_start_is_started_degraded_if_it_can_be(
    away: int, tmp_path: Path
) -> None:
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    gone = the_array(box)["members"][:away]
    reason = the_reason(whole, carrying(not_started(box, gone), gone))
    if away == 2:
        assert (reason.code, reason.case) == ("too-many-lost", "")
        return
    assert (reason.code, reason.case) == ("not-started", "inactive-incomplete")
    assert reason.figures["lacking"] == ("d0.data (serial PAIR-0)",) and reason.figures["left"] == 0
    assert "`mdadm --run /dev/md127`" in refusal_text(reason)
    unclean = str(reason.figures["unclean"])
    assert unclean.startswith("mdadm --stop /dev/md127 && mdadm --assemble /dev/md/data ")
    assert " --force --readonly " in unclean and node_of(gone[0]) not in unclean


@pytest.mark.parametrize("older", [1, 2])
def test_members_that_are_behind_count_for_nothing(older: int, tmp_path: Path) -> None:
    """md does not start an array with them, so `mdadm --run` alone would fail again and again."""
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    behind = the_array(box)["members"][:older]
    reason = the_reason(whole, carrying(not_started(box, behind=behind)))
    if older == 1:
        assert (reason.code, reason.case) == ("not-started", "inactive")
        assert reason.figures["behind"] == ("d0.data (serial PAIR-0)",)
        return
    assert (reason.code, reason.case) == ("too-many-lost", "back")
    stop, _, command = in_order(reason)
    assert stop == "mdadm --stop /dev/md127" and " --force --readonly " in command


def test_what_is_not_assembled_needs_no_stop(tmp_path: Path) -> None:
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    away = the_array(box)["members"][:2]
    box.objects["array"].clear()
    reason = the_reason(whole, carrying(box, away[:1]))
    assert (reason.code, reason.case) == ("not-started", "not-assembled-incomplete")
    reason = the_reason(whole, carrying(box, away))
    assert (reason.code, reason.case) == ("too-many-lost", "")


def test_an_array_that_holds_other_devices_is_not_taken_for_lost(tmp_path: Path) -> None:
    """The layout names new disks, and the old ones are in it still."""
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    found = the_array(box)
    found["members"] = ["partition:x", "partition:y", found["members"][2]]
    assert "too-many-lost" not in {each.code for each in decided(whole, carrying(box)).refusals}
    box = not_started(box)
    codes = {each.code for each in decided(whole, carrying(box, found["members"][:2])).refusals}
    assert "too-many-lost" not in codes


def test_an_array_that_may_not_be_written_to_is_given_no_member(tmp_path: Path) -> None:
    """As it is after it was assembled read-only, so that its content could be looked at."""
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    found = the_array(box)
    found |= {"members": ["missing", *found["members"][1:]], "state": "readonly", "degraded": 1}
    reasons = decided(whole, carrying(box)).refusals
    assert [each.case for each in reasons if each.code in CODES] == ["state"]


def test_mount_brings_up_no_array_without_its_data(tmp_path: Path) -> None:
    made = as_applied(plan_of_rescue(RESCUE), tmp_path)
    (found,) = (each for each in made.state.objects["array"].values() if each["name"].endswith(":boot"))
    found["state"] = "broken"
    assert len(guards(made.plan, "boot")) > 1
    assert [each.code for each in up(made, Wish(degraded=True))][:1] == ["too-many-lost"]
