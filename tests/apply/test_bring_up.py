"""A machine's storage brought up and down below a folder of a rescue system."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from raidplan.apply.bring_up import Command, Wish, bring_down
from raidplan.facts.run import Result
from raidplan.plan.step import Plan
from tests.apply.rescue import LAYOUT, Rescue, as_applied, down, guards, plan_of, up, without
from tests.apply.runs import impatient

__all__ = ["impatient"]


@pytest.fixture
def plan() -> Plan:
    return plan_of(LAYOUT)


@pytest.fixture
def made(plan: Plan, tmp_path: Path) -> Rescue:
    return as_applied(plan, tmp_path)


def shown(made: Rescue) -> object:
    objects = made.state.objects
    mounts = {point: (found["source"], found["type"]) for point, found in objects["mount"].items()}
    return mounts, deepcopy(objects["volume"]), {*objects["array"]}


def test_down_and_up_again_the_outer_mounts_first(made: Rescue) -> None:
    before = shown(made)
    told: list[Command] = []
    assert bring_down(made.plan, made, told.append) == []
    assert told == made.ran and not made.state.objects["mount"] and not made.state.objects["array"]
    assert [argv[-1] for argv in told if argv[0] == "umount"] == ["/mnt/srv", "/mnt/boot", "/mnt"]
    made.ran.clear()
    assert up(made) == []
    assert next(argv[-1] for argv in made.ran if argv[0] == "mount") == "/mnt"
    assert shown(made) == before
    assert up(made) == [] and len(made.ran) == 8


def test_read_only_writes_to_nothing(made: Rescue) -> None:
    down(made)
    assert up(made, Wish(read_only=True)) == []
    options = {argv[-1]: argv[4] for argv in made.ran if argv[0] == "mount"}
    assert options == {
        "/mnt": "defaults,ro,noload",
        "/mnt/boot": "defaults,ro,noload",
        "/mnt/srv": "noatime,ro,norecovery",
    }
    assert all("--readonly" in argv for argv in made.ran if argv[:2] == ("mdadm", "--assemble"))


def test_an_array_that_lacks_a_member_needs_a_word(made: Rescue) -> None:
    down(made)
    first, second = guards(made.plan, "boot")
    without(made, second)
    lacks, unseen = up(made)
    assert (lacks.case, lacks.figures) == ("incomplete", {"missing": (second,)})
    assert (unseen.case, unseen.place) == ("filesystem", "filesystems.boot")
    assert not [argv for argv in made.ran if "/dev/md/boot" in argv]
    assert {"/", "/srv"} == {*made.state.objects["mount"]}, "what lacks nothing is there"
    assert up(made, Wish(degraded=True)) == []
    assert [argv[-1] for argv in made.ran if argv[:2] == ("mdadm", "--assemble")][-1] == "--run"
    without(made, first)
    down(made)
    (trouble, *_) = up(made, Wish(degraded=True))
    assert trouble.case == "no-members"


def test_swap_in_use_is_not_taken_away(made: Rescue) -> None:
    (step,) = (each for each in made.plan.steps if each.proof and each.proof.kind == "swap" and each.creates)
    assert step.proof
    made.state.objects["swap"][step.proof.key]["active"] = True
    (trouble,) = bring_down(made.plan, made, lambda command: None)
    assert (trouble.case, trouble.place) == ("swap", "swap.area") and trouble.line and not made.ran


def test_a_command_that_fails_ends_it(made: Rescue) -> None:
    made.lie = {"umount /mnt/srv": "failed after all"}
    (failed,) = bring_down(made.plan, made, lambda command: None)
    assert (failed.case, failed.figures["command"]) == ("command", ("umount", "/mnt/srv"))
    assert failed.failures == (Result(("umount",), 1, "", "a lie").failure,)
    assert len(made.ran) == 1
    made.lie = {}
    told: list[Command] = []
    down(made)
    assert up(made, tell=told.append) == []
    down(made)
    made.lie = {" ".join(told[0]): "failed after all"}
    (failed,) = up(made)
    assert (failed.code, failed.figures["command"]) == ("not-mountable", told[0])
    assert failed.failures == (Result(("mdadm",), 1, "", "a lie").failure,)
    assert len(made.ran) == 1
