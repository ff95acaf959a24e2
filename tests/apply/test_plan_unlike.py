"""A plan in a file whose digest fits, and whose steps are not what any plan of ours is like: refused when it is read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.digest import digest
from raidplan.plan.fault import NotAPlan, fault
from raidplan.plan.step import Plan, Zero
from raidplan.render.losses import loss_texts
from raidplan.render.overview import symbol
from raidplan.render.plan_markdown import plan_markdown
from raidplan.render.plan_text import render_plan
from tests.apply.runs import LAYOUTS
from tests.apply.runs import plan_of as example
from tests.apply.stacks import LAYOUT, Box, decided, old_pair, plan_of

Data = dict[str, Any]
MADE = ("table", "array", "filesystem", "swap", "physical_volume")


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """With a teardown, and with what is cleared because it was made a moment ago."""
    return decided(plan_of(LAYOUT, tmp_path_factory.mktemp("layout")), old_pair()).left


def read(data: Data) -> Plan:
    """As it would be read with a digest that fits."""
    data["digest"] = digest({key: value for key, value in data.items() if key not in ("findings", "digest")})
    return plan_from_json(json.dumps(data))


def both(data: Data) -> Iterator[list[Data]]:
    """The steps that are left, and those of the whole plan."""
    yield from (data[name] for name in ("steps", "whole") if name in data)


def edited(plan: Plan, id: str, **values: Any) -> Data:
    """The plan as plain values, with a step changed wherever it stands; None takes a key away."""
    data: Data = json.loads(plan_to_json(plan))
    for steps in both(data):
        for step in steps:
            if step["id"] == id:
                step |= {key: value for key, value in values.items() if value is not None}
                for key in [key for key, value in values.items() if value is None]:
                    step.pop(key, None)
    return data


def with_step(plan: Plan, **values: Any) -> Data:
    """The plan with a first step more."""
    data: Data = json.loads(plan_to_json(plan))
    lists: Data = {key: [] for key in ("needs", "follows", "destroys", "guard", "awaits", "clears")}
    more = {
        "id": "x",
        "phase": "array",
        "say": "x",
        "because": "arrays",
        "line": 1,
        "targets": ["x"],
        **lists,
    }
    for steps in both(data):
        steps.insert(0, {**more, **values})
    return data


def making(plan: Plan) -> list[str]:
    """The steps that make something on a device; a swap file is on none."""
    steps = [step for step in plan.steps if step.guard and step.phase != "activate"]
    return [step.id for step in steps if step.proof and step.proof.kind in MADE]


def test_f65_a_plan_with_a_teardown_is_taken(torn: Plan) -> None:
    assert read(json.loads(plan_to_json(torn))) == torn
    assert any(isinstance(step.action, Zero) for step in torn.steps)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_f65_what_makes_something_has_a_guard_and_a_proof(layout: str) -> None:
    plan = example(layout)
    assert making(plan)
    for id in making(plan):
        with pytest.raises(NotAPlan, match=f"^unguarded {id} "):
            read(edited(plan, id, guard=[]))
        with pytest.raises(NotAPlan, match=f"^unproven {id} "):
            read(edited(plan, id, proof=None))


def test_f65_a_guard_looks_at_what_is_written_over(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    for id in making(plan):
        with pytest.raises(NotAPlan, match=f"^unguarded-device {id} "):
            read(edited(plan, id, guard=["/dev/disk/by-partuuid/another"]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"zero": "/dev/sdz", "found": None}, "clears-unmade x {'device': '/dev/sdz'}"),
        ({"zero": "{d0}", "found": None}, "clears-unmade x {'device': '{d0}'}"),
        ({"zero": "/dev/md/data", "found": None}, "clears-unmade x {'device': '/dev/md/data'}"),
        ({"zero": "/dev/sdz", "found": []}, "clears-without-reason x {'device': '/dev/sdz'}"),
        ({"zero": "{d0}", "found": []}, "clears-without-reason x {'device': '{d0}'}"),
        ({"zero": "/dev/sdz", "found": [], "phase": "teardown", "clears": ["/dev/sdz"]}, "clears-without-reason x "),
        ({"zero": "/dev/sdz", "found": ["0 0x438 ext4 x"], "id": "array.data.create+forget.x", "destroys": ["x"]}, "clears-without-reason array.data.create+forget.x "),
        ({"argv": ["wipefs", "--all", "/dev/sdz"]}, "clears-unseen x "),
        ({"argv": ["mdadm", "--zero-superblock", "{d0}"], "id": "x+clear.1"}, "clears-unseen x+clear.1 "),
        ({"zero": "{d0}", "found": [], "id": "x+clear.1", "clears": ["{d0}"]}, "clears-without-reason x+clear.1 "),
        ({"argv": ["mkfs.xfs", "/dev/sdz"]}, "unproven x {'kind': 'filesystem'}"),
        ({"argv": ["mkswap", "/dev/sdz"], "proof": {"kind": "swap", "key": "file:/s", "expect": {}}}, "unguarded-device x "),
        ({"argv": ["tool"], "phase": "format", "proof": {"kind": "filesystem", "key": "k", "expect": {}}}, "unguarded x "),
    ],
)  # fmt: skip
def test_f65_what_clears_a_device_has_a_reason_in_the_plan(more: Data, said: str, torn: Plan) -> None:
    if "zero" in more:
        more = {"ranges": [[0, 10**12]], **more}
    with pytest.raises(NotAPlan, match=f"^{re.escape(said)}"):
        read(with_step(torn, **more))


def test_f65_what_is_cleared_in_a_teardown_is_written_over_or_taken_apart(torn: Plan) -> None:
    cleared = [step for step in torn.steps if isinstance(step.action, Zero)]
    assert [step.id.partition(".")[0] for step in cleared] == ["teardown"] * 3 + ["ghosts"]
    for step in cleared:
        with pytest.raises(NotAPlan, match=f"^clears-(unmade|without-reason) {step.id} .*/dev/sdz"):
            read(edited(torn, step.id, zero="/dev/sdz", clears=["/dev/sdz"]))
    ghosts = cleared[-1]
    with pytest.raises(NotAPlan, match=f"^clears-unmade {ghosts.id} "):
        read(edited(torn, ghosts.id, needs=[]))


def test_f65_what_is_cleared_is_listed_although_the_step_does_not_say_what(torn: Plan) -> None:
    again = read(edited(torn, "teardown.d0.zero", destroys=[]))
    assert "whatever is on {d0}" in loss_texts(again.lost) and "whatever is on {d0}" not in loss_texts(
        torn.lost
    )


def test_every_device_that_is_cleared_is_shown_with_its_mark(tmp_path: Path) -> None:
    """Of two disks with the same ranges as well, where other steps are only `like` an earlier one."""
    box = Box()
    for disk, serial in (("sdb", "PAIR-0"), ("sdc", "PAIR-1")):
        box.disk(disk, serial).table(disk)
    plan = decided(plan_of(LAYOUT, tmp_path), box).left
    zeroes = [step for step in plan.steps if isinstance(step.action, Zero)]
    assert len({step.action.ranges for step in zeroes if isinstance(step.action, Zero)}) < len(zeroes)
    text, page = render_plan(plan, every=True), plan_markdown(plan, every=True)
    places = re.findall(r"^\| ([\d, -]+) \| \*\*-\*\* \|", page, re.MULTILINE)
    ranges = [each.partition("-") for place in places for each in place.split(", ")]
    marked = [(int(first), int(last or first)) for first, _, last in ranges]
    for number, step in enumerate(plan.steps, 1):
        if isinstance(step.action, Zero):
            assert symbol(step) == "-"
            assert f"{number:4} - {step.say}\n       write zeroes to {step.action.device}: " in text
            assert any(first <= number <= last for first, last in marked)


def otherwise(step: Data) -> None:
    step["argv"][-1] = step["argv"][-1] + "x"


def harmless(step: Data) -> None:
    step |= {"argv": ["true"], "say": "do nothing", "destroys": []}


def unproven(step: Data) -> None:
    step["proof"]["expect"] = {}


@pytest.mark.parametrize("more", [{"argv": ["update-initramfs", "-u", "-k", "all"]}, {"zero": "/dev/sda"}])
def test_f65_a_step_does_one_thing(more: Data, torn: Plan) -> None:
    """As plans of an earlier raidplan had it: a program, and what it is to be held against."""
    data = json.loads(plan_to_json(torn))
    for step in (*data["steps"], *data["whole"]):
        if step["id"] == "config.initramfs":
            step |= more
    with pytest.raises(NotAPlan) as refused:
        read(data)
    actions = (next(iter(more)), "initramfs")
    assert refused.value.fault == fault("several-actions", "config.initramfs", actions=actions)


@pytest.mark.parametrize(
    ("id", "change"),
    [("config.fstab.reload", otherwise), ("config.fstab.reload", harmless), ("config.initramfs", unproven)],
)
def test_f65_what_is_shown_is_what_is_done(id: str, change: Callable[[Data], None], torn: Plan) -> None:
    """The steps of the file are shown to who reads it; the whole plan is what is held against the machine."""
    data = json.loads(plan_to_json(torn))
    change(next(step for step in data["steps"] if step["id"] == id))
    with pytest.raises(NotAPlan, match=f"^two-ways {id} "):
        read(data)


def test_f65_a_step_that_would_be_done_in_another_way_is_named(torn: Plan) -> None:
    """Of a step that the whole plan does not have, the machine decides."""
    wider = edited(torn, "teardown.d0.zero", ranges=[[0, 10**12]])
    (refused,) = decided(read(wider), old_pair()).refusals
    assert (refused.code, refused.case) == ("not-in-plan", "otherwise")
    assert refused.figures["id"] == "teardown.d0.zero"
    assert decided(read(json.loads(plan_to_json(torn))), old_pair()).refusals == ()
