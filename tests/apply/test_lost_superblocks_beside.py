"""Arrays that have lost their superblocks while a disk below them is a new one: the others may have all of the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks, marks_of_disks
from raidplan.apply.refusal import Refusal
from raidplan.apply.world import World
from raidplan.facts.match import match
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.origin import Origin
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


def killed_behind_tables(plan: Plan, box: Box, folder: Path) -> Past:
    """A further run by the journal of `applied`, which wrote the tables of new disks alone."""
    disks, _ = match(plan.disks, box.machine())
    journal = open_journal(folder / "journal", World())
    journal.marks, journal.disk_marks = marks(plan, disks), marks_of_disks(plan, disks)
    journal.begin(plan_to_json(plan), plan_digest(plan))
    for step in plan.steps:
        if step.phase == "partition" and serial_of(step.guard[0], plan).startswith("NEW"):
            journal.record_intent(step.id)
            journal.record_end(step.id, 0.1, made_by(step))
    return read_past(journal.folder)


def serial_of(word: str, plan: Plan) -> str:
    """The serial number of a disk, by its name in steps."""
    return next(disk.serial for disk in plan.disks if word == f"{{{disk.name}}}")


def with_serials(box: Box, plan: Plan) -> Box:
    for name, disk in zip(sorted(box.disks), plan.disks, strict=True):
        box.disks[name] = replace(box.disks[name], serial=disk.serial)
    return box


@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
@pytest.mark.parametrize(
    ("level", "count", "old"),
    [("raid1", 2, "PAIR-"), ("raid5", 3, "PAIR-"), ("raid0", 2, "PAIR-"), ("raid0", 2, "PAIR-0")],
)
def test_a_run_on_new_disks_that_was_killed_behind_their_tables_goes_on(
    level: str, count: int, old: str, wipe: str, tmp_path: Path
) -> None:
    """The array of before stood on all of the others, or has lost its data with one."""
    first = text(level, count, wipe=wipe)
    applied(plan_of(first, tmp_path), tmp_path)
    plan = plan_of(first.replace(old, old.replace("PAIR", "NEW")), tmp_path)
    box = with_serials(without_superblocks(standing(plan)), plan)
    decision = decide(plan, box.machine(), killed_behind_tables(plan, box, tmp_path), here=False)
    assert {each.code for each in decision.refusals} <= {"module-missing"}
    assert "array.data.create" in {step.id for step in decision.left.steps} and not decision.left.lost


@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
@pytest.mark.parametrize(("level", "count"), [("raid1", 2), ("raid5", 3), ("raid0", 2)])
def test_a_new_disk_that_a_person_has_partitioned_is_no_clean_member(
    level: str, count: int, wipe: str, tmp_path: Path
) -> None:
    applied(plan_of(text(level, count, wipe=wipe), tmp_path), tmp_path)
    plan = plan_of(text(level, count, "NEW-0", wipe), tmp_path)
    box = with_serials(without_superblocks(standing(plan)), plan)
    reason = the_reason(plan, box, read_past(tmp_path / "journal"))
    if level == "raid0":
        assert (reason.code, reason.case) == ("superblocks-lost", "blank")
        assert "command" not in reason.figures and len(reason.figures["blank"]) == 1  # type: ignore[arg-type]
    else:
        assert (reason.code, reason.case) == ("superblocks-lost", "changed")
        assert str(reason.figures["command"]).split()[-count] == "missing"


WHOLE = """\
version: 1
host: pair
hardware:
  disks:
    d0: {size: 1TB, serial: PAIR-0}
    d1: {size: 1TB, serial: PAIR-1}
    d2: {size: 1TB, serial: PAIR-2}
arrays:
  data: {level: LEVEL, members: [d<0-2>], whole_disks: true}
"""


@pytest.mark.parametrize(("level", "new", "case"), [("raid1", 2, "changed"), ("raid5", 1, "changed"), ("raid5", 2, "blank"), ("raid0", 1, "blank")])  # fmt: skip
def test_a_new_whole_disk_is_no_clean_member(level: str, new: int, case: str, tmp_path: Path) -> None:
    def stands(plan: Plan) -> Box:
        box = Box()
        for name, disk in zip(("sdb", "sdc", "sdd"), plan.disks, strict=True):
            box.disk(name, disk.serial)
        return box

    layout = WHOLE.replace("LEVEL", level)
    past = past_of(plan := plan_of(layout, tmp_path), stands(plan), tmp_path)
    for number in range(new):
        layout = layout.replace(f"PAIR-{number}", f"NEW-{number}")
    plan = plan_of(layout, tmp_path)
    reason = the_reason(plan, stands(plan), past)
    assert (reason.code, reason.case) == ("superblocks-lost", case)
    words = str(reason.figures.get("command", "")).split()
    assert words.count("missing") == (new if words else 0) and bool(words) == (case == "changed")


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "cut off behind its effect"])
@pytest.mark.parametrize("earlier", [False, True], ids=["", "earlier journal"])
def test_a_disk_that_apply_gave_to_the_array_is_one_of_its_disks(
    earlier: bool, ended: bool, tmp_path: Path
) -> None:
    """Both members came to it later, one after the other, on new disks. Earlier journals have nothing of the disks of such steps."""
    layout = text("raid1", 2)
    applied(plan_of(layout, tmp_path), tmp_path)
    for number in (0, 1):
        layout = layout.replace(f"PAIR-{number}", f"NEW-{number}")
        plan = plan_of(layout, tmp_path)
        box = with_serials(standing(plan), plan)
        disks, _ = match(plan.disks, box.machine())
        table = next(step for step in plan.steps if step.guard == (f"{{d{number}}}",))
        create = next(step for step in plan.steps if step.id == "array.data.create")
        add, node = create.added("add"), create.guard[number]
        journal = open_journal(tmp_path / "journal", World())
        journal.marks = marks(plan, disks)
        journal.disk_marks = marks_of_disks(plan, disks, {} if earlier else {add: (node,)})
        journal.origins = {add: Origin("change", create.id)}
        journal.begin(plan_to_json(plan), plan_digest(plan))
        for step, made in ((table.id, made_by(table)), (add, "")):
            journal.record_intent(step)
            if ended or made:
                journal.record_end(step, 0.1, made)
        journal.close()
    reason = the_reason(plan, without_superblocks(box), read_past(tmp_path / "journal"))
    assert (reason.code, reason.case) == ("superblocks-lost", "changed")
    assert "missing" not in str(reason.figures["command"])
