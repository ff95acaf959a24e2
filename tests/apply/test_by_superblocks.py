"""An array that does not run has the form and the members that its superblocks tell, whatever the layout says by now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.bring_up import Wish, _arrays
from raidplan.apply.decide.not_started import not_started as asleep
from raidplan.apply.decide.too_many_lost import too_many_lost
from raidplan.apply.decision import decide
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks, marks_of_disks
from raidplan.apply.refusal import Refusal
from raidplan.plan.identities import node_of
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text
from tests.apply.drifted import (
    carrying,
    decided,
    not_started,
    plan,
    standing,
    superblocks,
    the_array,
    the_reason,
)
from tests.apply.runs import impatient
from tests.apply.stacks import LAYOUT, Box, plan_of

__all__ = ["impatient"]

HOW = ("inactive", "stopped")


def put_down(box: Box, how: str, away: list[str]) -> Box:
    """The array that was stopped, or that md has assembled and not started."""
    box = not_started(box, away) if how == "inactive" else box
    box = carrying(box, away)
    if how == "stopped":
        box.objects["array"].clear()
    return box


def grown(folder: Path, was: tuple[str, int], now: tuple[str, int], how: str) -> tuple[Plan, Box, list[str]]:
    """An array in the form of then, not running, the layout of now, and its members, those which it has first."""
    whole = plan(folder, *now)
    box = standing(whole)
    members = [*the_array(box)["members"]]
    box = superblocks(box, was[0], dict(enumerate(members[: was[1]])))
    for name, block in box.blocks.items():
        if block.identity in members[was[1] :]:
            box.blocks[name] = replace(block, found=())
    return whole, put_down(box, how, members[was[1] :]), members


GROWN = [
    (("raid0", 2), ("raid0", 4)),
    (("raid5", 2), ("raid5", 4)),
    (("raid5", 3), ("raid5", 4)),
    (("raid1", 2), ("raid5", 4)),
    (("raid5", 3), ("raid6", 4)),
    (("raid1", 2), ("raid1", 3)),
]
each_growth = pytest.mark.parametrize("was, now, how", [(*form, how) for form in GROWN for how in HOW])


@each_growth
def test_what_the_layout_has_added_since_is_not_missing(
    was: tuple[str, int], now: tuple[str, int], how: str, tmp_path: Path
) -> None:
    whole, box, _ = grown(tmp_path, was, now, how)
    reason = the_reason(whole, box)
    assert reason.code == "not-started" and reason.case in ("inactive", "not-assembled")
    assert (reason.figures["there"], reason.figures["devices"]) == (was[1], was[1])
    assert (reason.figures["missing"], reason.figures["lacking"]) == ((), ())


@each_growth
def test_no_superblock_is_written_over_those_of_another_form(
    was: tuple[str, int], now: tuple[str, int], how: str, tmp_path: Path
) -> None:
    """Whatever the journal says: of the layout of then, or of now."""
    whole, box, members = grown(tmp_path, was, now, how)
    (key,) = (
        step.proof.key for step in whole.steps if step.proof and step.proof.kind == "array" and step.creates
    )
    machine = box.machine()
    disks = {
        f"d{n}": next(each for each in machine.disks if each.serial == f"PAIR-{n}")
        for n in range(len(members))
    }
    for made in (plan(tmp_path, *was), whole):
        past = Past(
            made=frozenset({f"array:{key}"}),
            made_at={f"array:{key}": "2026-01-01"},
            standing=marks(made, disks),
            below=marks_of_disks(made, disks),
        )
        decision = decide(whole, machine, past, here=False)
        assert {each.code for each in decision.refusals} >= {"not-started"} and not decision.left.steps
        assert not any("--create" in refusal_text(each) for each in decision.refusals)


@pytest.mark.parametrize("how", HOW)
def test_a_level_of_then_decides_what_may_be_lost(how: str, tmp_path: Path) -> None:
    """A RAID5 of three without two of them, which the layout has as a RAID6 of four by now; a RAID1 without one, now a RAID5."""
    for was, away, code in (("raid5", 2, "too-many-lost"), ("raid1", 2, "not-started")):
        whole = plan(tmp_path, "raid6" if was == "raid5" else "raid5", 4)
        box = standing(whole)
        members = [*the_array(box)["members"]]
        there = dict(enumerate(members[:3]))
        box = put_down(superblocks(box, was, there), how, [*members[:away], members[3]])
        reason = the_reason(whole, box)
        assert (reason.code, reason.figures["level"]) == (code, was)
        names = reason.figures["lost" if code == "too-many-lost" else "lacking"]
        assert names == tuple(f"d{slot}.data (serial PAIR-{slot})" for slot in range(away))


@pytest.mark.parametrize("how", HOW)
def test_mount_brings_up_what_the_superblocks_have(how: str, tmp_path: Path) -> None:
    whole, box, _ = grown(tmp_path, ("raid0", 2), ("raid0", 4), how)
    assert not list(too_many_lost(whole, box.machine(), Past()))
    (command,) = _arrays(whole, box.machine(), Wish())
    assert not isinstance(command, Refusal)
    assert command[:2] == ("mdadm", "--run" if how == "inactive" else "--assemble")


def with_extra(folder: Path, key: str) -> tuple[Plan, Box, list[str], str]:
    """A RAID5 of three and a spare, or a write journal."""
    extra = "spares: [d3]" if key == "spare" else "journal: d3, bitmap: none"
    text = LAYOUT.replace(", wipe: true", "").replace("<0-1>", "<0-3>", 1).replace("raid1", "raid5")
    whole = plan_of(text.replace("members: [d<0-1>]", f"members: [d<0-2>], {extra}"), folder)
    box = standing(whole)
    found = the_array(box)
    other = found["spares"][0] if key == "spare" else found["journal"]
    return (
        whole,
        superblocks(box, "raid5", dict(enumerate(found["members"])), roles={other: key}),
        found["members"],
        other,
    )


@pytest.mark.parametrize("key", ["spare", "journal"])
@pytest.mark.parametrize("how", [*HOW, "running"])
def test_spares_and_journals_have_no_data(key: str, how: str, tmp_path: Path) -> None:
    whole, box, members, other = with_extra(tmp_path, key)
    if how == "running":
        the_array(box)["members"] = ["missing", "missing", members[2]]
        box = carrying(box, members[:2])
    else:
        box = put_down(box, how, members[:2])
    if how == "inactive":
        found = the_array(box)
        found["spares"] = sorted({*found["spares"], other})
    reason = the_reason(whole, box)
    assert (reason.code, reason.case, reason.figures["count"]) == ("too-many-lost", "", 2)


@pytest.mark.parametrize("how", HOW)
def test_a_spare_that_took_a_slot_has_its_data(how: str, tmp_path: Path) -> None:
    """It is taken in the place of the member that left, also where that is back with older data."""
    whole, box, members, other = with_extra(tmp_path, "spare")
    box = superblocks(box, "raid5", {0: members[0], 2: members[2]}, 3, behind=members[:1])
    box = superblocks(box, "raid5", {0: other, 2: members[2]}, 3)
    box.put("superblock", "sdb1", **{**box.objects["superblock"]["sdb1"], "slot": 0, "events": 90})
    box = put_down(box, how, members[1:2])
    if how == "inactive":
        found = the_array(box)
        found["spares"] = sorted({*found["spares"], other})
    reason = the_reason(whole, box)
    assert reason.code == "not-started"
    assert str(reason.figures["unclean"]).endswith(
        f" --force --readonly {node_of(other)} {node_of(members[2])}"
    )


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    "level, members, code",
    [("raid5", 3, "too-many-lost"), ("raid6", 4, "not-started"), ("raid1", 3, "not-started")],
)
def test_what_was_being_rebuilt_when_the_power_went_has_no_data(
    level: str, members: int, code: str, how: str, tmp_path: Path
) -> None:
    """Its superblock is as new as the others: the first member is away, the second was being rebuilt."""
    whole = plan(tmp_path, level, members)
    box = standing(whole)
    there = [*the_array(box)["members"]]
    box = superblocks(box, level, dict(enumerate(there)), roles={there[1]: "rebuilding"})
    reason = the_reason(whole, put_down(box, how, there[:1]))
    assert reason.code == code
    if code == "too-many-lost":
        assert reason.case == "" and "command" not in reason.figures
        assert reason.figures["lost"] == ("d0.data (serial PAIR-0)", "d1.data (serial PAIR-1)")
    else:
        assert reason.figures["left"] == {"raid6": 0, "raid1": 0}[level]
        assert node_of(there[1]) not in str(reason.figures["unclean"])


def test_a_member_that_failed_half_rebuilt_is_no_way_back(tmp_path: Path) -> None:
    """Of two that failed, one whole member is enough; one that was being rebuilt is not."""
    whole = plan(tmp_path, "raid5", 3)
    box = standing(whole)
    found = the_array(box)
    there = [*found["members"]]
    box = superblocks(box, "raid5", dict(enumerate(there)), roles={there[1]: "rebuilding"})
    found |= {"members": ["missing", "missing", there[2]], "faulty": there[:2]}
    assert the_reason(whole, carrying(box)).case == "back", "the first is whole"
    box = superblocks(box, "raid5", dict(enumerate(there)), roles=dict.fromkeys(there[:2], "rebuilding"))
    assert the_reason(whole, carrying(box)).case == ""


@pytest.mark.parametrize("how", HOW)
def test_what_is_behind_is_not_forced_where_the_others_suffice(how: str, tmp_path: Path) -> None:
    whole = plan(tmp_path, "raid6", 4)
    box = standing(whole)
    there = [*the_array(box)["members"]]
    box = superblocks(box, "raid6", dict(enumerate(there)), behind=there[1:2])
    reason = the_reason(whole, put_down(box, how, there[:1]))
    assert reason.code == "not-started" and reason.figures["behind"] == ("d1.data (serial PAIR-1)",)
    assert str(reason.figures["unclean"]).endswith(" ".join(("--readonly", *map(node_of, there[2:]))))


def test_superblocks_of_other_places_are_not_written_over(tmp_path: Path) -> None:
    """Two of a RAID5 of three lost theirs: of the third, only one that tells the layout's form and place is written anew."""
    whole = plan(tmp_path, "raid5", 3)
    (key,) = (
        step.proof.key for step in whole.steps if step.proof and step.proof.kind == "array" and step.creates
    )
    for slots, roles, code in (
        ({2: 2}, {}, "superblocks-lost"),
        ({1: 2}, {}, "too-many-lost"),
        ({2: 2}, {2: "rebuilding"}, "too-many-lost"),
        ({}, {2: "spare"}, "too-many-lost"),
    ):
        box = standing(whole)
        there = [*the_array(box)["members"]]
        told = {slot: there[n] for slot, n in slots.items()}
        box = superblocks(box, "raid5", told, 3, {there[n]: role for n, role in roles.items()})
        for name, block in box.blocks.items():
            if block.identity in there[:2]:
                box.blocks[name] = replace(block, found=(), content=("data",))
        machine = put_down(box, "stopped", there[:2]).machine()
        past = Past(made=frozenset({f"array:{key}"}), made_at={f"array:{key}": "2026-01-01"})
        codes = {each.code for each in decide(whole, machine, past, here=False).refusals}
        assert codes & {"superblocks-lost", "too-many-lost"} == {code}


def test_a_snapshot_of_an_earlier_version_tells_no_superblocks(tmp_path: Path) -> None:
    """A member counts then as one in its place, as those versions counted it."""
    whole = plan(tmp_path, "raid5", 3)
    box = put_down(standing(whole), "stopped", [])
    assert "superblock" not in box.objects
    assert [each.case for each in asleep(whole, box.machine(), Past())] == ["not-assembled"]
    assert not decided(whole, box).left.steps
