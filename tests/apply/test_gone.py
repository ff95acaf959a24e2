"""What an apply made and that has vanished from its disks, long after: it is not made anew as long as a person may want it back."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.adopt import forgettable
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import HEADERS, Past, header_as
from raidplan.apply.journal.step_fingerprints import marks_of_added
from raidplan.apply.recheck_target import Decided
from raidplan.apply.work import Work
from raidplan.apply.world import World
from raidplan.cli import OK
from raidplan.cli.adopt import _record
from raidplan.facts.match import match
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text
from tests.apply.cut_off import Cut
from tests.apply.drifted import plan as array_of
from tests.apply.drifted import standing
from tests.apply.finished import past_of
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated
from tests.apply.stacks import Box, plan_of

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {d0: {size: 1TB, serial: PAIR-0}}
encryption:
  c0: {device: d0, key: ask}
volume_groups:
  vg0: {devices: [c0], volumes: {home: {size: 100GiB}, raw: {size: 100GiB}}}
filesystems:
  data: {device: vg0.home, type: ext4, mount: /srv/data}
swap:
  swap0: {device: vg0.raw}
"""
LEFT = "data that nothing here recognises from byte 29000000000 on"


def on_one_disk(plan: Plan, serial: str = "PAIR-0") -> Box:
    """A disk with the table of the layout, whose partition looks blank."""
    (table,) = (step.proof for step in plan.steps if step.proof and step.proof.kind == "table")
    rows, box = table.expect["partitions"], Box()
    uuid = rows[0].split()[0]  # type: ignore[index, union-attr]
    box.disk("sdb", serial).table("sdb").partition("sdb", uuid=uuid)
    return box.put("table", table.key, disk="/dev/sdb", partitions=rows)


def gone(decision: Decision) -> list[str]:
    return [each.place for each in decision.refusals if each.code == "gone"]


def decided(plan: Plan, box: Box, past: Past) -> Decision:
    return decide(plan, box.machine(), past, here=False)


EVERY = ["encryption.c0", "volume_groups.vg0", "filesystems.data"]


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
def test_what_holds_data_is_missed_after_a_closed_run_as_well(
    closed: bool, wipe: str, tmp_path: Path
) -> None:
    plan = plan_of(LAYOUT.replace("PAIR-0", "PAIR-0" + wipe), tmp_path)
    past = past_of(plan, on_one_disk(plan), tmp_path, closed=closed)
    decision = decided(plan, on_one_disk(plan), past)
    missed = gone(decision)
    for each in decision.refusals:
        assert each.code != "gone" or f"`raidplan adopt LAYOUT --forget {each.place}`" in refusal_text(each)
    assert [each for each in missed if not each.startswith("swap")] == EVERY
    assert ("swap.swap0" in missed) != closed, "swap holds nothing that anybody could want back"
    assert all(past.made_at[made_by(step)] for step in plan.steps if step.because in EVERY and step.creates)


def test_a_new_disk_is_filled(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    past = past_of(plan, on_one_disk(plan), tmp_path)
    exchanged = plan_of(LAYOUT.replace("PAIR-0", "PAIR-1"), tmp_path)
    box = Box().disk("sdb", "PAIR-1")
    decision = decided(exchanged, box, past)
    assert not gone(decision) and "filesystem.data.make" in {step.id for step in decision.left.steps}
    # By hand partitioned as the layout has it, it is new all the same.
    assert not gone(decided(exchanged, on_one_disk(exchanged, "PAIR-1"), past))


def test_on_an_array_that_stands_it_is_missed_whatever_its_disks_are_now(tmp_path: Path) -> None:
    plan = array_of(tmp_path, "raid1", 2)
    past = past_of(plan, standing(plan), tmp_path)
    other = replace(
        plan, disks=tuple(replace(disk, serial=disk.serial.replace("PAIR-1", "NEW")) for disk in plan.disks)
    )
    box = standing(other)
    box.disks["sdc"] = replace(box.disks["sdc"], serial="NEW")
    assert gone(decided(other, box, past)) == ["filesystems.data"]


PARTITION = """\
version: 1
host: pair
hardware:
  disks: {d0: {size: 1TB, serial: PAIR-0, partitions: {p: {size: 900GiB}}}}
"""
ON_IT = "filesystems:\n  data: {device: d0.p, type: ext4, mount: /srv/data}\n"


@pytest.mark.parametrize(
    ("serial", "missed"), [("NEW-0", []), ("PAIR-0", ["filesystems.data"])], ids=["new disk", "same disk"]
)
def test_the_table_of_a_later_run_tells_nothing_of_what_stood_before(
    serial: str, missed: list[str], tmp_path: Path
) -> None:
    """A layout without the file system came between, on another disk or on the same one."""
    for more, on in ((ON_IT, "PAIR-0"), ("", serial)):
        plan = plan_of(PARTITION.replace("PAIR-0", on) + more, tmp_path)
        past = past_of(plan, on_one_disk(plan, on), tmp_path)
    plan = plan_of(PARTITION.replace("PAIR-0", serial) + ON_IT, tmp_path)
    assert gone(decided(plan, on_one_disk(plan, serial), past)) == missed


def test_bytes_that_are_left_of_it_are_listed_as_our_own(tmp_path: Path) -> None:
    """They are cleared by consent, so nothing is missed then; nor after a clearing that was cut off."""
    plan = array_of(tmp_path, "raid1", 2, wipe=True)
    past = past_of(plan, standing(plan), tmp_path)
    box = standing(plan)
    assert gone(decided(plan, box, past)) == ["filesystems.data"], "it looks blank"
    box.blocks["md127"] = replace(box.blocks["md127"], content=(LEFT,), unknown_from=29 * 10**9)
    decision = decided(plan, box, past)
    assert not gone(decision) and [loss.own for loss in decision.left.lost] == [True]
    (clearing,) = (step for step in decision.left.steps if step.clears)
    assert not [loss for loss in decided(plan, box, Past()).left.lost if loss.own]
    disks, _ = match(plan.disks, box.machine())
    journal = open_journal(tmp_path / "journal", World())
    journal.marks = marks_of_added(plan, disks, {clearing.id: clearing.clears})
    journal.origins = {clearing.id: clearing.origin}
    journal.begin(plan_to_json(plan), plan_digest(plan))
    journal.record_intent(clearing.id)
    assert not gone(decided(plan, standing(plan), read_past(journal.folder)))


def test_what_a_person_gives_up_is_forgotten_with_what_stood_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    box = on_one_disk(plan)
    past = past_of(plan, box, tmp_path)
    named = box.machine().named({"/dev/sdb": "d0"})
    above = ["volume_groups.vg0", "filesystems.data", "swap.swap0"]
    assert [*forgettable(plan, named, past, ["encryption.c0"])] == ["encryption.c0", *above]
    assert [*forgettable(plan, named, past, ["filesystems.data"])] == ["filesystems.data"]
    folder = tmp_path / "journal"
    assert _record(plan, named, open_journal(folder, World()), ["encryption.c0"]) == OK
    said = capsys.readouterr().err
    assert all(f"forgotten: {name}" in said for name in ("encryption.c0", *above))
    decision = decided(plan, box, read_past(folder))
    assert not gone(decision) and "encryption.c0.make" in {step.id for step in decision.left.steps}


def test_one_of_two_members_takes_no_array_with_it(tmp_path: Path) -> None:
    plan = array_of(tmp_path, "raid1", 2)
    box = standing(plan)
    past = past_of(plan, box, tmp_path)
    table = next(step for step in plan.steps if step.because == "hardware.disks.d0")
    assert table.proof
    del box.objects["table"][table.proof.key]
    del box.objects["array"]
    named = box.machine().named({"/dev/sdb": "d0", "/dev/sdc": "d1"})
    assert [*forgettable(plan, named, past, ["hardware.disks.d0"])] == ["hardware.disks.d0"]


@pytest.mark.parametrize("program", ["cryptsetup", "pvcreate", "mke2fs"])
@pytest.mark.parametrize("how", ["before", "during", "after"])
def test_what_is_made_anew_after_that_and_cut_off_is_finished(program: str, how: str, tmp_path: Path) -> None:
    plan, root = plan_of(LAYOUT, tmp_path), tmp_path / "root"
    world = Simulated(plan, root, machine(root))
    assert apply(plan, world) == "done"
    state, folder = world.state, root / "var/lib/raidplan"
    for kind in ("mount", "filesystem", "swap", "volume", "volume_group", "physical_volume", "mapping"):
        state.objects[kind].clear()
    ((_, header),) = state.objects.pop("encryption").items()
    state.content = {"{d0}": state.content["{d0}"], header["device"]: []}
    found = decide(plan, Simulated(plan, root, state).read(plan), read_past(folder), here=False)
    assert gone(found) == EVERY
    named = world.read(plan).named({"/dev/d0": "d0"})
    assert _record(plan, named, open_journal(folder, world), ["encryption.c0"]) == OK
    with pytest.raises(Killed):
        apply(plan, Cut(plan, root, state, program, how))
    assert apply(plan, Simulated(plan, root, state)) == "done"


RAW = """\
version: 1
host: pair
hardware:
  disks: {d0: {size: 1TB, serial: PAIR-0}}
volume_groups:
  vg0: {devices: [d0], volumes: {raw: {size: 100GiB}}}
"""
VOLUME = "volume_groups.vg0.volumes.raw"


def on_physical_volume(plan: Plan, box: Box, *, group: bool = True) -> Box:
    """The box with the physical volumes of the plan, and with its group, which has no volume."""
    kinds = ("physical_volume", "volume_group") if group else ("physical_volume",)
    for proof in (step.proof for step in plan.steps if step.proof and step.proof.kind in kinds):
        box.put(proof.kind, proof.key, **proof.expect)
        if proof.kind == "physical_volume":
            box.put("content", str(proof.expect["device"]), carries=[f"LVM2_member {proof.key}"])
    return box


@pytest.mark.parametrize("group", [True, False], ids=["", "its group too"])
def test_a_volume_that_has_nothing_of_the_layout_on_it_is_missed(
    group: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever has it may keep a database or a virtual machine there, and `lvcreate --zero=y` writes over its first 4 KiB."""
    plan = plan_of(RAW, tmp_path)
    past = past_of(plan, on_one_disk(plan), tmp_path)
    box = on_physical_volume(plan, on_one_disk(plan), group=group)
    assert gone(decided(plan, box, past)) == [VOLUME]
    named, folder = box.machine().named({"/dev/sdb": "d0"}), tmp_path / "journal"
    assert _record(plan, named, open_journal(folder, World()), [VOLUME]) == OK
    assert f"forgotten: {VOLUME}" in capsys.readouterr().err
    decision = decided(plan, box, read_past(folder))
    assert not gone(decision) and "volume.vg0.raw.create" in {step.id for step in decision.left.steps}


def test_a_volume_of_the_open_run_that_a_power_cut_took_is_made_again(tmp_path: Path) -> None:
    plan = plan_of(RAW, tmp_path)
    past = past_of(plan, on_one_disk(plan), tmp_path, closed=False)
    decision = decided(plan, on_physical_volume(plan, on_one_disk(plan)), past)
    assert not gone(decision) and "volume.vg0.raw.create" in {step.id for step in decision.left.steps}


def test_on_a_new_physical_volume_there_was_no_volume(tmp_path: Path) -> None:
    """A run on a new disk, killed before lvcreate, or by a layout that had no such volume."""
    plan = plan_of(RAW, tmp_path)
    past_of(plan, on_one_disk(plan), tmp_path)
    new = plan_of(RAW.replace("PAIR-0", "NEW-0"), tmp_path)
    without = replace(new, steps=tuple(step for step in new.steps if step.because != VOLUME))
    for closed in (False, True):
        past = past_of(without, on_one_disk(new, "NEW-0"), tmp_path, closed=closed)
        box = on_physical_volume(new, on_one_disk(new, "NEW-0"))
        assert gone(decided(new, box, past)) == []


def test_a_volume_whose_content_is_of_the_layout_is_told_by_that(tmp_path: Path) -> None:
    plan = plan_of(RAW + "filesystems:\n  data: {device: vg0.raw, type: ext4, mount: /srv/data}\n", tmp_path)
    past = past_of(plan, on_one_disk(plan), tmp_path)
    box = on_physical_volume(plan, on_one_disk(plan))
    assert gone(decided(plan, box, past)) == ["filesystems.data"]


class Reading(World):
    """A device that begins with these bytes."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content

    def bytes_at(self, node: str, offset: int, size: int) -> bytes:
        return self.content


def test_the_copy_of_a_header_stays_beside_that_of_another_one(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    step = next(step for step in plan.steps if step.id == "encryption.c0.make")
    assert step.proof
    folder = tmp_path / HEADERS
    for content in (b"first", b"second", b"second", b"third"):
        world = Reading(content)
        decided = Decided({}, {}, {})
        Work(
            {}, open_journal(tmp_path / "journal", world), world, ExitStack(), frozenset(), decided, folder
        )._keep_header(step)
    name = header_as(step.proof.key)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        f"{name}.1": b"first",
        f"{name}.2": b"second",
        name: b"third",
    }
