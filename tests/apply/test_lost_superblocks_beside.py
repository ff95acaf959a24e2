"""Arrays that have lost their superblocks while a disk below them is a new one: the others may have all of the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.plan.step import Plan
from tests.apply.drifted import standing
from tests.apply.finished import past_of
from tests.apply.stacks import Box, plan_of

DISK = "    d{}: {{size: 1TB, serial: {}{}}}\n"

FORMATTED = "filesystems:\n  data: {device: data, type: ext4, mount: /srv/data}\n"


def text(level: str, count: int, first: str = "PAIR-0", wipe: str = "", more: str = "") -> str:
    names = [first, *(f"PAIR-{number}" for number in range(1, count))]
    disks = "".join(DISK.format(number, name, wipe) for number, name in enumerate(names))
    if more:
        disks += DISK.format(count, "NEW-0", wipe)
    members = f"[d<0-{count - 1}>]{more}"
    arrays = f"arrays:\n  data: {{level: {level}, members: {members}}}\n"
    return f"version: 1\nhost: pair\nhardware:\n  disks:\n{disks}{arrays}{FORMATTED}"


def applied(plan: Plan, folder: Path) -> tuple[Box, Past]:
    """The machine after a whole run, by a journal of its own."""
    box = standing(plan)
    return box, past_of(plan, box, folder)


def without_superblocks(box: Box, left: str = "") -> Box:
    """Somebody stopped the array and zeroed them; `left`: the bytes that stay behind them, in words."""
    del box.objects["array"], box.blocks["md127"]
    content = (left,) if left else ()
    for name in [each for each in box.blocks if each[-1].isdigit()]:
        box.blocks[name] = replace(box.blocks[name], found=(), content=content)
    for name, disk in box.disks.items():
        traces = tuple(each for each in disk.traces if each.type != "linux_raid_member")
        box.disks[name] = replace(disk, users=(), traces=traces)
    return box


def with_new_disk(box: Box, old: str = "") -> Box:
    """A blank disk, in the place of an old one, if that is named."""
    if old:
        (uuid,) = (key for key, found in box.objects["table"].items() if found["disk"] == f"/dev/{old}")
        del box.objects["table"][uuid], box.blocks[f"{old}1"], box.blocks[old], box.disks[old]
    return box.disk("sdg", "NEW-0")


def the_reason(plan: Plan, box: Box, past: Past) -> Refusal:
    decision = decide(plan, box.machine(), past, here=False)
    (reason,) = (each for each in decision.refusals if each.place == "arrays.data")
    assert not {"array.data.create", "filesystem.data.make"} & {step.id for step in decision.left.steps}
    assert decision.left.lost == ()
    return reason


@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
@pytest.mark.parametrize("left", ["", "data that nothing here recognises from byte 8192 on"])
@pytest.mark.parametrize(("level", "count"), [("raid1", 2), ("raid5", 3)])
def test_the_disk_of_a_member_is_a_new_one(
    level: str, count: int, left: str, wipe: str, tmp_path: Path
) -> None:
    box, past = applied(plan_of(text(level, count, wipe=wipe), tmp_path), tmp_path)
    box = with_new_disk(without_superblocks(box, left), "sdb")
    reason = the_reason(plan_of(text(level, count, "NEW-0", wipe), tmp_path), box, past)
    assert (reason.code, reason.case) == ("superblocks-lost", "changed")
    command = str(reason.figures["command"])
    assert f"--raid-devices={count}" in command and "--readonly --assume-clean" in command
    names = [word for word in command.split() if word == "missing" or word.startswith("/dev/disk/")]
    assert names[0] == "missing" and len(names) == count


@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
def test_a_spare_on_a_new_disk_comes_to_it(wipe: str, tmp_path: Path) -> None:
    box, past = applied(plan_of(text("raid1", 2, wipe=wipe), tmp_path), tmp_path)
    box = with_new_disk(without_superblocks(box))
    reason = the_reason(plan_of(text("raid1", 2, wipe=wipe, more=", spares: [d2]"), tmp_path), box, past)
    assert (reason.code, reason.case) == ("superblocks-lost", "changed")
    command = str(reason.figures["command"])
    assert "spare" not in command and "missing" not in command and command.count("/dev/disk/") == 2


def test_a_stripe_without_one_of_its_disks_is_made_anew(tmp_path: Path) -> None:
    """The stripe has lost a disk, and its data with it."""
    box, past = applied(plan_of(text("raid0", 2), tmp_path), tmp_path)
    box = with_new_disk(without_superblocks(box), "sdb")
    decision = decide(plan_of(text("raid0", 2, "NEW-0"), tmp_path), box.machine(), past, here=False)
    assert "array.data.create" in {step.id for step in decision.left.steps}
    assert "superblocks-lost" not in {each.code for each in decision.refusals}
