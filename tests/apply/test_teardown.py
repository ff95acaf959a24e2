"""What is in the way is listed, and cleared from the top; what is in use or shared is refused, with what and where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.facts.host import HOLD
from raidplan.facts.machine import Machine, Trace
from raidplan.plan.codec import plan_digest, plan_from_json, plan_to_json
from raidplan.plan.loss import loss
from raidplan.plan.step import Plan, Proof, Run, WriteBlock, WriteFile, Zero
from raidplan.render.losses import loss_texts
from tests.apply.finished import past_of
from tests.apply.sentences import sentences
from tests.apply.stacks import (
    GIB,
    GROUP,
    LAYOUT,
    MIB,
    OLD,
    OTHER,
    PHOTOS,
    TB,
    Box,
    behind,
    commands,
    decided,
    old_pair,
    order,
    plan_of,
)  # fmt: skip

CAREFUL = LAYOUT.replace(", wipe: true", "")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def test_blank_disks_need_no_teardown(plan: Plan, tmp_path: Path) -> None:
    blank = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")
    done = {"prepare.md_mod", "prepare.raid1"}
    for text, more in ((CAREFUL, set()), (LAYOUT, {"ghosts.data"})):
        plan = plan_of(text, tmp_path)
        left = decided(plan, blank).left
        assert {step.id for step in left.steps} == {step.id for step in plan.steps} - done | more
        assert left.lost == ()


def test_a_new_device_is_cleared_before_the_next_is_made(tmp_path: Path) -> None:
    """A run that stops at a later step has cleared it."""
    wide = LAYOUT.replace("d<0-1>: {size", "d<0-3>: {size").replace(
        "arrays:\n", "arrays:\n  alone: {level: raid1, members: [d<2-3>]}\n"
    )
    box = Box()
    for place in range(4):
        box.disk(f"sd{'bcde'[place]}", f"PAIR-{place}")
    ids = [step.id for step in decided(plan_of(wide, tmp_path), box).left.steps]
    cleared = [ids.index("ghosts.data"), ids.index("ghosts.alone")]
    assert [ids[place - 1] for place in cleared] == ["array.data.open", "array.alone.open"]


def test_f25_what_nobody_can_see_on_a_disk_is_cleared_once_it_shows(tmp_path: Path) -> None:
    """A file system deep inside a disk that looks blank, just where the array's data will begin."""
    done = order(decided(plan_of(LAYOUT, tmp_path), Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")).left)
    assert done.index("array.data.open") < done.index("ghosts.data") < done.index("filesystem.data.make")


def test_without_the_word_of_the_layout_everything_stays(tmp_path: Path) -> None:
    decision = decided(plan_of(CAREFUL, tmp_path), old_pair())
    blank = decision.refusals[0]
    assert (blank.code, blank.place, blank.figures["node"]) == ("disk-not-blank", "d0", "/dev/sdb")
    assert "linux_raid_member 'old:data' (raid1 of 2, metadata 1.2)" in str(blank.figures["found"])
    assert not any(step.phase == "teardown" for step in decision.left.steps)


def test_the_word_for_one_disk_is_not_for_the_other(tmp_path: Path) -> None:
    text = LAYOUT.replace("d<0-1>: {size: 1TB, serial: PAIR-<1>, wipe: true}", "d0: {size: 1TB, serial: PAIR-0, wipe: true}, d1: {size: 1TB, serial: PAIR-1}")  # fmt: skip
    decision = decided(plan_of(text, tmp_path), old_pair())
    shared, member, blank = decision.refusals
    assert (shared.code, shared.figures["others"]) == ("shared", ("partition 1 of d1",))
    assert (member.code, member.case, member.place) == ("shared", "member", "d1")
    assert (member.figures["part"], member.figures["name"]) == ("partition 1", "old:data")
    assert (blank.code, blank.place, blank.figures["node"]) == ("disk-not-blank", "d1", "/dev/sdc")


def test_f27_a_running_array_goes_from_the_top(plan: Plan) -> None:
    decision = decided(plan, old_pair())
    assert decision.refusals == ()
    assert commands(decision.left, "teardown") == [
        f"write {HOLD}",
        "udevadm control --reload",
        "zero /dev/md127",
        "mdadm --stop /dev/md127",
        "zero {d0}",
        "zero {d1}",
        "udevadm trigger --settle --action=change --name-match {d0} --name-match {d1}",
    ]
    array, size = "the array 'old:data' (/dev/md127)", decision.left.lost[0].figures["size"]
    member = {"place": "partition 1", "label": "old:data", "detail": "raid1 of 2, metadata 1.2"}
    assert decision.left.lost == (
        loss("layer", array, content="ext4 'photos'", size=size),
        loss("array", array, level="raid1", members=2, size=size),
        loss("table", "d0", format="gpt"),
        loss("member", "d0", **member),
        loss("table", "d1", format="gpt"),
        loss("member", "d1", **member),
    )


@pytest.mark.parametrize("tables", ["theirs", "as planned"])
def test_what_is_made_waits_until_all_is_cleared(tables: str, plan: Plan) -> None:
    left = decided(plan, old_pair() if tables == "theirs" else own_machine(plan)).left
    zeroes = {step.id for step in left.steps if step.id.startswith("teardown.") and isinstance(step.action, Zero)}  # fmt: skip
    assert len(zeroes) >= 2 and behind(left, "teardown.settle") >= zeroes
    made = {step.id for step in left.steps if step.guard}
    assert made >= {"array.data.create", "filesystem.data.make"}
    assert ("disk.d0.partition" in made) == (tables == "theirs")
    assert [id for id in made if "teardown.settle" not in behind(left, id)] == []


def test_f25_what_shows_in_a_new_array_is_cleared_through_it(plan: Plan) -> None:
    left = decided(plan, old_pair()).left
    done = order(left)
    ghosts = next(step for step in left.steps if step.id == "ghosts.data")
    assert (
        isinstance(ghosts.action, Zero)
        and ghosts.action.device == "/dev/md/data"
        and ghosts.action.found is None
    )
    assert done.index("array.data.open") < done.index("ghosts.data") < done.index("filesystem.data.make")
    assert "filesystem.data.make" in done, "a file system that shows through never stands for ours"


def test_f27_an_array_that_is_assembled_and_not_started(plan: Plan) -> None:
    box = old_pair().array("md127", "sdb1", "sdc1", state="inactive")
    box.objects["filesystem"].clear()
    assert commands(decided(plan, box).left, "teardown")[2:4] == ["mdadm --stop /dev/md127", "zero {d0}"]


@pytest.mark.parametrize("state", ["read-auto", "clean", "active"])
def test_f27_an_array_in_any_state_that_can_be_written(plan: Plan, state: str) -> None:
    box = old_pair()
    box.blocks["md127"] = replace(box.blocks["md127"], state=state)
    assert "zero /dev/md127" in commands(decided(plan, box).left, "teardown")


def test_f27_a_read_only_array_is_stopped_as_it_is(plan: Plan) -> None:
    box = old_pair()
    box.blocks["md127"] = replace(box.blocks["md127"], state="readonly")
    assert "zero /dev/md127" not in commands(decided(plan, box).left, "teardown")


def test_f27_lvm_on_an_array_goes_first(plan: Plan) -> None:
    box = (
        old_pair()
        .group("vg0", "md127")
        .volume("dm-0", "vg0", "home", "md127")
        .volume("dm-1", "vg0", "tmp", "md127")
    )
    box.objects["filesystem"].clear()
    box.filesystem("dm-0", label="home")
    left = decided(plan, box).left
    select = f"--select vg_uuid={GROUP}"
    assert commands(left, "teardown")[2:8] == [
        "zero /dev/disk/by-id/dm-uuid-LVM-" + "home" * 8,
        "zero /dev/disk/by-id/dm-uuid-LVM-" + "tmp" * 8,
        f"vgchange --activate n {select}",
        f"vgremove --yes --force {select}",
        "zero /dev/md127",
        "mdadm --stop /dev/md127",
    ]
    assert "ext4 'home', 100 GiB, on the volume vg0/home" in loss_texts(left.lost)
    lost = loss_texts(left.lost)
    assert {"the volume vg0/home, 100 GiB", "the volume vg0/tmp, 100 GiB", "the volume group 'vg0'"} < {*lost}
    del box.objects["volume"]["vg0/home"], box.blocks["dm-0"]
    assert {*loss_texts(decided(plan, box).left.lost)} < {*lost}, "vgremove takes one after the other"


def test_f27_a_group_that_does_not_run_is_removed_too(plan: Plan) -> None:
    left = decided(plan, old_pair().group("vg0", "md127")).left
    assert commands(left, "teardown")[2] == f"vgremove --yes --force --select vg_uuid={GROUP}"


def test_a_group_of_which_a_part_is_missing_is_only_deactivated(plan: Plan) -> None:
    box = old_pair().group("vg0", "md127", missing=1).volume("dm-0", "vg0", "home", "md127")
    assert not [line for line in commands(decided(plan, box).left, "teardown") if line.startswith("vgremove")]


def test_an_array_on_arrays_goes_first(plan: Plan) -> None:
    box = old_pair().array("md126", "md127", uuid=OTHER, name="old:top")
    done = order(decided(plan, box).left)
    assert done.index(f"teardown.array.{OTHER}.stop") < done.index(f"teardown.array.{OLD}.zero")


@pytest.mark.parametrize("use", ["mounted at /", "mounted at /home", "swap", "part of the mounted btrfs x", "behind /dev/loop0"])  # fmt: skip
@pytest.mark.parametrize("where", ["md127", "sdb1", "sdc"])
def test_f32_f22_what_is_in_use_is_refused_with_what_and_where(plan: Plan, use: str, where: str) -> None:
    called = {"md127": "the array 'old:data' (/dev/md127)", "sdb1": "partition 1 of d0", "sdc": "d1"}[where]
    assert refusal("in-use", place=called, use=use) in decided(plan, old_pair().use(where, use)).refusals


def test_f27_something_that_nobody_here_understands_is_refused(plan: Plan) -> None:
    box = old_pair()
    box.blocks["dm-0"] = replace(box.blocks["md127"], name="dm-0", identity="/dev/dm-0", kind="cryptdata", below=("md127",), uses=())  # fmt: skip
    layer = refusal("not-understood", "layer", place="/dev/dm-0", disks=("d0", "d1"))
    assert layer in decided(plan, box).refusals


def test_firmware_raid_is_refused(plan: Plan) -> None:
    box = old_pair().array("md127", "sdb1", "sdc1", metadata="external:imsm")
    (refused,) = decided(plan, box).refusals
    assert (refused.code, refused.case, refused.figures) == (
        "not-understood",
        "external",
        {"metadata": "external:imsm"},
    )


def test_f28_a_running_array_with_a_member_elsewhere_is_refused(plan: Plan) -> None:
    box = old_pair().disk("sdd", "OTHER").table("sdd").partition("sdd").member("sdd1")
    box.array("md127", "sdb1", "sdc1", "sdd1").filesystem("md127")
    where = refusal("shared", place="the array 'old:data' (/dev/md127)", others=("partition 1 of /dev/sdd",))
    assert where in decided(plan, box).refusals


def test_f28_an_array_that_does_not_run_with_a_member_elsewhere_is_refused(plan: Plan) -> None:
    box = Box()
    for disk, serial in (("sdb", "PAIR-0"), ("sdc", "PAIR-1"), ("sdd", "OTHER")):
        box.disk(disk, serial).member(disk, members=3, level="raid5")
    where = refusal("shared", "member", place="/dev/sdd", part="", kind="array", name="old:data", uuid=OLD)
    assert where in decided(plan, box).refusals


def test_f28_a_volume_group_with_a_part_elsewhere_is_refused(plan: Plan) -> None:
    box = old_pair().disk("sdd", "OTHER").partition("sdd").group("vg0", "md127", "sdd1")
    where = refusal("shared", place="the volume group 'vg0'", others=("partition 1 of /dev/sdd",))
    assert where in decided(plan, box).refusals


def test_f28_a_physical_volume_that_lvm_does_not_show_is_refused(plan: Plan) -> None:
    """Left out by its devices file, say: the other half of its group may be anywhere."""
    volume = Trace(0x218, "LVM2_member", 0, TB, uuid=GROUP)
    box = Box().disk("sdb", "PAIR-0", volume).disk("sdc", "PAIR-1")
    assert decided(plan, box).refusals == (refusal("hidden-from-lvm", place="d0", uuid=GROUP),)
    assert decided(plan, box.put("physical_volume", GROUP, device="/dev/sdb", group="")).refusals == ()
    box = Box().disk("sdb", "PAIR-0", volume).disk("sdc", "PAIR-1").member("sdb", members=1)
    assert decided(plan, box).refusals == (), "inside of an array that does not run it is nobody's"


def test_f28_a_btrfs_with_a_device_elsewhere_is_refused(plan: Plan) -> None:
    box = Box()
    for disk, serial in (("sdb", "PAIR-0"), ("sdc", "PAIR-1"), ("sdd", "OTHER")):
        box.disk(disk, serial, Trace(0x10040, "btrfs", 0, TB, uuid=PHOTOS, label="pool"))
    where = refusal("shared", "member", place="/dev/sdd", part="", kind="btrfs", name="pool", uuid=PHOTOS)
    assert where in decided(plan, box).refusals


def test_f29_members_that_are_away_are_told(plan: Plan) -> None:
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").member("sdb", members=4, level="raid5")
    decision = decided(plan, box)
    assert decision.refusals == ()
    assert loss("absent", "the array 'old:data'", missing=3, members=4) in decision.left.lost


def taken(uuid: str, node: str) -> Refusal:
    return refusal("name-taken", "array", place="pair:data", uuid=uuid, node=node)


def test_f30_the_name_of_an_array_elsewhere_is_taken(plan: Plan) -> None:
    box = old_pair().disk("sdd", "OTHER").array("md5", "sdd", uuid=OTHER, name="other:data")
    assert taken(OTHER, "/dev/md5") in decided(plan, box).refusals


def test_f30_the_link_of_an_array_elsewhere_is_taken(plan: Plan) -> None:
    """Metadata 0.90 stores no name; what /dev/md/data leads to says a line of mdadm.conf."""
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").disk("sdd", "OTHER").array("md5", "sdd", uuid=OTHER, name="")  # fmt: skip
    assert decided(plan, box).refusals == ()
    box.objects["array"][OTHER]["links"] = ["data"]
    assert decided(plan, box).refusals == (taken(OTHER, "/dev/md5"),)


def test_f30_the_name_of_an_array_that_is_given_up_is_free(plan: Plan) -> None:
    assert decided(plan, old_pair()).refusals == ()  # it is called data as well, of another host


def planned(plan: Plan, kind: str) -> Proof:
    return next(step.proof for step in plan.steps if step.creates and step.proof and step.proof.kind == kind)


@pytest.mark.parametrize("where", ["sdd", "sdd1"])
def test_f30_a_member_elsewhere_with_the_uuid_of_a_new_array(plan: Plan, where: str) -> None:
    """It stood in this place of the layout before, and its superblock counts more events."""
    uuid = planned(plan, "array").key
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").disk("sdd", "OTHER").partition("sdd")
    part = "" if where == "sdd" else "partition 1"
    double = refusal("uuid-taken", "member", place="/dev/sdd", part=part, uuid=uuid, mark="serial OTHER")
    assert decided(plan, box.member(where, array=uuid)).refusals == (double,)
    assert decided(plan, Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").disk("sdd", "OTHER").member("sdd")).refusals == ()  # fmt: skip


def test_f30_a_partition_elsewhere_with_the_uuid_of_a_new_one(plan: Plan) -> None:
    uuid = planned(plan, "table").expect["partitions"][0].split()[0]  # type: ignore[index, union-attr]
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").disk("sdd", "OTHER").partition("sdd", uuid=uuid)
    mark = "serial OTHER"
    double = refusal("uuid-taken", "partition", place="/dev/sdd1", uuid=uuid, mark=mark)
    assert decided(plan, box).refusals == (double,)


@pytest.mark.parametrize("kind", ["filesystem", "table"])
def test_f16_what_is_ours_and_a_copy_of_it_cannot_be_told_apart(plan: Plan, kind: str) -> None:
    """Of somebody else's, as a snapshot of LVM is, both are no matter; a disk of the plan is ours whatever is on it."""
    where, word = {"filesystem": ("device", "file system UUID"), "table": ("disk", "disk GUID")}[kind]
    ours = next(step.proof.key for step in plan.steps if step.proof and step.proof.kind == kind)
    more = {"partitions": []} if kind == "table" else {}

    def copies(uuid: str, one: str, other: str) -> list[Refusal]:
        found = (
            Box()
            .disk("sdb", "PAIR-0")
            .disk("sdc", "PAIR-1")
            .put(kind, uuid, **{where: one, "also": [other]}, **more)
        )
        return [
            each for each in decided(plan, found).refusals if (each.code, each.case) == ("uuid-taken", "copy")
        ]

    (copy,) = copies(ours, "volume:vg/home", "volume:vg/copy")
    assert copy.figures["devices"] == ("volume:vg/home", "volume:vg/copy")
    assert (copy.figures["name"], copy.figures["uuid"]) == (word, ours) and copy.figures["command"]
    assert copies(OTHER, "volume:vg/home", "volume:vg/copy") == []
    disk = "/dev/sdb"
    assert len(copies(OTHER, disk, "/dev/sdz")) == len(copies(OTHER, "/dev/sdz", disk)) == 1


def test_f30_what_an_earlier_run_made_on_our_own_disks_is_no_double(plan: Plan) -> None:
    uuid, rows = planned(plan, "array").key, planned(plan, "table").expect["partitions"]
    box = Box().disk("sdb", "PAIR-0").partition("sdb", uuid=rows[0].split()[0]).member("sdb1", array=uuid)  # type: ignore[index, union-attr]
    refusals = decided(plan, box.disk("sdc", "PAIR-1")).refusals
    assert "uuid-taken" not in {each.code for each in refusals}, refusals


def test_f31_unreadable_is_refused_and_not_written_over(plan: Plan) -> None:
    box = (
        Box()
        .disk("sdb", "PAIR-0", Trace(0, "unreadable", 0, TB, detail="Input/output error"))
        .disk("sdc", "PAIR-1")
    )
    figures = {"node": "/dev/sdb", "part": "", "byte": 0, "error": "Input/output error"}
    assert refusal("disk-unreadable", place="d0", **figures) in decided(plan, box).refusals


def test_f31_what_nobody_recognises_is_listed(plan: Plan) -> None:
    box = Box().disk("sdb", "PAIR-0", Trace(7 * GIB, "data", 0, TB)).disk("sdc", "PAIR-1")
    decision = decided(plan, box)
    assert decision.refusals == ()
    assert decision.left.lost == (loss("data", "d0", offset=7 * GIB),)


def test_f31_what_nobody_recognises_is_listed_of_each_partition(plan: Plan) -> None:
    """As two partitions of plain dm-crypt look; where one of them begins again is no news."""
    first, second = (
        Trace(at * GIB, "data", start * GIB, 400 * GIB, f"partition {number}", where="partition")
        for number, start, at in ((1, 1, 1), (2, 401, 402))
    )
    box = Box().disk("sdb", "PAIR-0").table("sdb").disk("sdc", "PAIR-1")
    box.partition("sdb", 1, GIB, 400 * GIB).partition("sdb", 2, 401 * GIB, 400 * GIB)
    box.trace("sdb", first, replace(first, offset=5 * GIB), second)
    assert [each for each in decided(plan, box).left.lost if each.kind == "data"] == [
        loss("data", "d0", place="partition 1", offset=1 * GIB),
        loss("data", "d0", place="partition 2", offset=402 * GIB),
    ]


def test_f31_what_nobody_recognises_is_listed_once_for_the_disk_and_its_future_partitions(plan: Plan) -> None:
    """Whatever the ranges are called."""
    future = Trace(9 * GIB, "data", 8 * GIB, GIB, "a new partition", where="future")
    box = Box().disk("sdb", "PAIR-0", Trace(7 * GIB, "data", 0, TB), future).disk("sdc", "PAIR-1", future)
    assert decided(plan, box).left.lost == (
        loss("data", "d0", offset=7 * GIB),
        loss("data", "d1", place="a new partition", offset=9 * GIB),
    )


def test_a_disk_that_cannot_be_written_is_refused(plan: Plan) -> None:
    box = old_pair()
    box.disks["sdb"] = replace(box.disks["sdb"], read_only=True)
    assert refusal("disk-unreadable", "read-only", place="d0", node="/dev/sdb") in decided(plan, box).refusals


def test_f56_a_line_for_a_file_system_that_will_be_gone_is_refused(plan: Plan) -> None:
    box = old_pair().put(
        "file", "/etc/fstab", content=f"# x\nUUID={PHOTOS} /photos ext4 defaults 0 2\n", size=50
    )
    assert any("/etc/fstab line 2" in words for words in sentences(decided(plan, box).refusals))


@pytest.mark.parametrize(
    ("name", "what", "word"),
    [
        ("photos.mount", f"/dev/disk/by-uuid/{PHOTOS}", f"/dev/disk/by-uuid/{PHOTOS}"),
        ("dev-md127.swap", "", "/dev/md127"),
    ],
)
def test_f56_a_unit_for_what_will_be_gone_is_refused(plan: Plan, name: str, what: str, word: str) -> None:
    file = f"/etc/systemd/system/{name}"
    said = f"{file} mounts {word}, which this plan would destroy: remove that unit first"
    assert said in sentences(decided(plan, old_pair().put("unit_file", file, what=what)).refusals)
    other = old_pair().put("unit_file", "/etc/systemd/system/photos.mount", what="/dev/sdx1")
    assert decided(plan, other).refusals == ()


def test_places_that_are_cleared(plan: Plan) -> None:
    left = decided(plan, old_pair()).left
    action = next(step.action for step in left.steps if step.id == "teardown.d0.zero")
    assert isinstance(action, Zero)

    def covered(offset: int, size: int) -> bool:
        return any(start <= offset and offset + size <= start + length for start, length in action.ranges)

    new = next(step for step in left.steps if step.new_partitions).new_partitions[0]
    for start, room in ((0, TB), (MIB, 900 * GIB), new):
        end = start + room
        for at, size in ((start, 5 * MIB), (end - 128 * 1024, 128 * 1024), (end - 34 * 512, 34 * 512)):
            assert covered(at, size), (start, room, at)


# What this layout made itself


def own_machine(plan: Plan) -> Box:
    """As the layout says, but for the metadata of the array: nothing that anybody wants destroyed by habit."""
    steps = {step.id: step for step in plan.steps}
    array = steps["array.data.create"].proof
    assert array is not None
    box = Box()
    names = ("sdb", "sdc", "sdd")[: sum(step.phase == "partition" for step in plan.steps)]
    for n, disk in enumerate(names):
        table = steps[f"disk.d{n}.partition"]
        assert table.proof is not None
        ((start, size),) = table.new_partitions
        uuid = table.awaits[0].rpartition("/")[2]
        box.disk(disk, f"PAIR-{n}").table(disk).partition(disk, start=start, size=size, uuid=uuid)
        box.put("table", table.proof.key, **{**table.proof.expect, "disk": f"/dev/{disk}"})
        box.member(f"{disk}1", array.key, "pair:data")
    box.array("md_data", *(f"{disk}1" for disk in names), uuid=array.key, name="pair:data")
    box.put("array", array.key, **{**array.expect, "metadata": "1.1", "node": "/dev/md_data"})
    return box.filesystem("md_data", "6f5c7073-8756-5b5a-9d95-9940a233da63", "", "ext4")


def test_what_this_layout_made_is_marked_in_the_list(plan: Plan) -> None:
    tables = frozenset(made_by(step) for step in plan.steps if step.phase == "partition")
    decision = decided(plan, own_machine(plan), Past(made=tables))
    assert decision.refusals == ()
    assert len(decision.left.own) == 4, decision.left.lost
    assert not any(words.startswith("the partition table") for words in loss_texts(decision.left.lost)), (
        "the tables are as planned"
    )


@pytest.mark.parametrize("closed", [True, False])
def test_an_array_of_ours_that_is_cleared_has_lost_nothing(closed: bool, plan: Plan, tmp_path: Path) -> None:
    """It is only imagined without its superblocks, and not refused as one that lost them; nor is what the open run made on it."""
    box = own_machine(plan)
    decision = decided(plan, box, past_of(plan, box, tmp_path, closed=closed))
    (create,) = (step for step in plan.steps if step.id == "array.data.create")
    assert decision.refusals == () and create.proof
    assert f"teardown.array.{create.proof.key}.stop" in {step.id for step in decision.left.steps}


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("now", [(0, 2), (2, 1), ("missing", 1), (1, 0), (2, "missing")])
def test_an_array_of_ours_with_other_members_is_never_made_anew(
    now: tuple[int | str, ...], closed: bool, tmp_path: Path
) -> None:
    """md fills the slot of a member that fails with a spare, which is no wish of anybody for an array without the data."""
    refusals = []
    for text in (LAYOUT, CAREFUL):
        plan = plan_of(text.replace("<0-1>", "<0-2>").replace("[d<0-2>]", "[d<0-1>], spares: [d2]"), tmp_path)
        box = finished(plan)
        ((uuid, array),) = box.objects["array"].items()
        devices = [*array["members"], *array["spares"]]
        slots = [each if isinstance(each, str) else devices[each] for each in now]
        spares = [each for each in array["spares"] if each not in slots]
        box.put(
            "array", uuid, **{**array, "members": slots, "spares": spares, "degraded": slots.count("missing")}
        )
        folder = tmp_path / str(len(refusals))
        decision = decided(plan, box, past_of(plan, box, folder, closed=closed))
        assert decision.left.lost == () and not [step.id for step in decision.left.steps if step.creates]
        assert "superblocks-lost" not in {each.code for each in decision.refusals}
        refusals.append([(each.code, each.case, each.figures) for each in decision.refusals])
    assert refusals[0] == refusals[1]
    assert {code for code, *_ in refusals[0]} == {"differs"}


def test_only_the_partitions_are_cleared_where_the_table_is_as_planned(plan: Plan) -> None:
    left = decided(plan, own_machine(plan)).left
    zeroed = [step.action.device for step in left.steps if isinstance(step.action, Zero)]
    assert len([device for device in zeroed if device.startswith("/dev/disk/by-partuuid/")]) == 2
    assert "{d0}" not in zeroed and not [step for step in left.steps if step.phase == "partition"]


def test_a_finished_machine_is_left_alone_whatever_wipe_says(plan: Plan) -> None:
    assert decided(plan, finished(plan)).left.steps == ()


def finished(plan: Plan) -> Box:
    """All that the plan makes."""
    objects: dict[str, dict[str, dict[str, object]]] = {}
    files: dict[str, dict[str, object]] = {}
    for step in plan.steps:
        if step.proof:
            objects.setdefault(step.proof.kind, {}).setdefault(step.proof.key, {}).update(step.proof.expect)
        if isinstance(step.action, WriteBlock | WriteFile):
            text = step.action.content
            if isinstance(step.action, WriteBlock):
                text = f"# >>> raidplan pair\n{text}# <<< raidplan pair\n"
            files[step.action.file] = {"content": text, "size": len(text)}
    box = own_machine(plan)
    box.objects = {**objects, "file": files}  # type: ignore[assignment]
    for n, disk in enumerate(box.disks.values()):
        key = next(step.proof.key for step in plan.steps if step.proof and step.id == f"disk.d{n}.partition")
        box.objects["table"][key]["disk"] = disk.node
    box.objects["array"][next(iter(box.objects["array"]))]["sync_held"] = False
    return box


# The hold


def test_f37_the_hold_names_what_is_taken_apart_and_what_is_made(plan: Plan) -> None:
    left = decided(plan, old_pair()).left
    rule = next(step.action.content for step in left.steps if isinstance(step.action, WriteFile) and step.action.file == HOLD)  # fmt: skip
    assert OLD in rule and "8e0cf817:530a5cf8:a537b986:2c188df6" in rule
    assert all(
        node.rpartition("/")[2] in rule for step in left.steps if step.new_partitions for node in step.awaits
    )


def test_the_hold_is_ended_after_all_new_devices(plan: Plan) -> None:
    done = order(decided(plan, old_pair()).left)
    assert done.index("ghosts.data") < done.index("release.remove") < done.index("release.reload") < done.index("release.trigger")  # fmt: skip


def test_a_hold_that_was_left_behind_is_removed_even_if_nothing_else_is_to_do(plan: Plan) -> None:
    """And udev looks at all that the run which was killed had made."""
    left = decided(plan, finished(plan).put("file", HOLD, content="x", size=1)).left
    assert [step.id for step in left.steps] == ["release.remove", "release.reload", "release.trigger"]
    made = {node for step in plan.steps if step.phase in ("partition", "array") for node in step.awaits}
    assert len(made) >= 3 and made < set(commands(left, "configure")[-1].split())


def test_a_refusal_names_the_hold_that_was_left_behind(plan: Plan) -> None:
    box = old_pair().use("md127", "swap").put("file", HOLD, content="x", size=1)
    assert any(HOLD in words for words in sentences(decided(plan, box).refusals))


# Everything from a disk is hostile text

HOSTILE = (
    "a\nb",
    "\x1b[2J",
    "$(reboot)",
    "`id`",
    "'; rm -rf / #",
    "|<img>`@all",
    "::error::x",
    "\u202etxt",
    "-rf",
    "x" * 32,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_f68_names_reach_no_command_no_file_and_no_terminal(plan: Plan, text: str) -> None:
    from raidplan.render.plan_markdown import plan_markdown
    from raidplan.render.plan_shell import plan_shell
    from raidplan.render.plan_text import render_plan

    box = old_pair().group(text, "md127", uuid=GROUP)
    box.objects["array"][OLD]["name"] = text
    box.filesystem("sdb1", label=text)
    for disk in ("sdb", "sdc"):
        traces = tuple(replace(one, label=text) for one in box.disks[disk].traces)
        box.disks[disk] = replace(box.disks[disk], traces=traces)
    left = decided(plan, box).left
    assert left.lost
    for step in left.steps:
        if isinstance(step.action, Run):
            assert not any(text in word for word in step.action.argv)
        if isinstance(step.action, WriteFile | WriteBlock):
            assert text not in step.action.content
        if isinstance(step.action, Zero):
            assert text not in step.action.device and not any(
                text in line for line in step.action.found or ()
            )
        assert all(words.isprintable() for words in (step.say, *loss_texts(step.destroys)))
    for shown in (render_plan(left), render_plan(left, every=True), plan_markdown(left), plan_shell(left)):
        assert all(line.isprintable() for line in shown.replace("\t", " ").splitlines())


def test_an_array_that_no_command_can_name_is_refused(plan: Plan) -> None:
    box = old_pair()
    box.blocks["md127"] = replace(box.blocks["md127"], node="")
    array = "the array 'old:data' (/dev/md127)"
    assert refusal("not-understood", "name", place=array) in decided(plan, box).refusals


def test_uuids_that_are_none_reach_no_rule(plan: Plan) -> None:
    box = old_pair()
    bad = Trace(MIB, "LVM2_member", MIB, GIB, "partition 1", 'x", RUN+="/bin/sh', "")
    box.trace("sdb", bad)
    rule = next(
        step.action.content for step in decided(plan, box).left.steps if isinstance(step.action, WriteFile)
    )
    assert "RUN" not in rule


# The plan as a value


def test_the_plan_with_its_teardown_travels_as_json(plan: Plan) -> None:
    left = decided(plan, old_pair()).left
    again = plan_from_json(plan_to_json(left))
    assert again == left and plan_digest(again) == plan_digest(left)


def test_the_digest_is_of_what_is_lost(plan: Plan) -> None:
    one, two = (
        decided(plan, old_pair()).left,
        decided(plan, old_pair().filesystem("sdb1", OTHER, "more")).left,
    )
    assert plan_digest(one) != plan_digest(two)
    assert plan_digest(one) == plan_digest(decided(plan, old_pair()).left)


def test_a_plan_that_was_made_with_its_teardown_is_made_anew(plan: Plan) -> None:
    left = decided(plan, old_pair()).left
    again = decided(left, old_pair())
    assert again.refusals == () and [step.id for step in again.left.steps] == [step.id for step in left.steps]
    assert any(
        "was" in words for words in sentences(decided(left, old_pair().filesystem("sdb1", OTHER)).refusals)
    )


def test_a_snapshot_keeps_everything_that_decides(plan: Plan) -> None:
    box = old_pair()
    machine = Machine.from_data(box.machine().to_data())
    assert machine == box.machine()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_stack_is_taken_apart_whole_or_refused(plan: Plan, data: st.DataObject) -> None:
    """Nothing that is mounted or stands elsewhere is ever cleared; what is cleared was free before."""
    box = Box()
    names = [("sdb", "PAIR-0"), ("sdc", "PAIR-1"), ("sdd", "OTHER"), ("sde", "MORE")]
    for disk, serial in names:
        box.disk(disk, serial).table(disk).partition(disk)
    free = [f"{disk}1" for disk, _ in names]
    uuids = iter(f"{n:08x}-1111-4222-8333-123456789abc" for n in range(20))
    for number in range(data.draw(st.integers(0, 3))):
        if len(free) < 2:
            break
        members = data.draw(st.lists(st.sampled_from(free), min_size=1, max_size=2, unique=True))
        free = [name for name in free if name not in members]
        uuid, kernel = next(uuids), f"md{120 + number}"
        for name in members:
            if box.blocks[name].kind == "partition":
                box.member(name, uuid, f"h:a{number}", len(members))
        box.array(kernel, *members, uuid=uuid, name=f"h:a{number}")
        free.append(kernel)
    used = data.draw(st.sampled_from([None, *box.blocks]))
    if used:
        box.use(used, "mounted at /x")
    decision = decided(plan, box)
    stack = box.blocks

    def base(name: str) -> set[str]:
        return (
            {name} if not stack[name].below else {one for below in stack[name].below for one in base(below)}
        )

    touched = {"sdb", "sdc"}
    shared = [name for name in stack if base(name) & touched and base(name) - touched]
    in_use = used is not None and bool(base(used) & touched)
    assert bool(sentences(decision.refusals)) == bool(shared or in_use), (
        sentences(decision.refusals),
        shared,
        used,
    )
    if decision.refusals:
        return
    steps = {step.id: step for step in decision.left.steps}
    done = order(decision.left)
    stopped: set[str] = set()
    for id in done:
        match steps[id].action:
            case Run(("mdadm", "--stop", node)):
                name = node.removeprefix("/dev/")
                assert not [one for one in stack if name in stack[one].below and one not in stopped], (
                    "from the top"
                )
                stopped.add(name)
            case Zero(device) if device in ("{d0}", "{d1}"):
                disk = "sdb" if device == "{d0}" else "sdc"
                held = [one for one in stack if stack[one].kind == "array" and disk in base(one)]
                assert set(held) <= stopped
    assert stopped <= {name for name in stack if base(name) <= touched}


@pytest.mark.parametrize(
    "kind", ["isw_raid_member", "ddf_raid_member", "promise_fasttrack_raid_member", "bcache"]
)
@pytest.mark.parametrize("uuid", ["", "abc1"])
def test_f28_what_does_not_run_and_has_a_part_elsewhere_is_refused(plan: Plan, kind: str, uuid: str) -> None:
    """libblkid tells no UUID of most of them, so that every other one may be its partner."""
    box = Box().disk("sdb", "PAIR-0", Trace(TB - 1024, kind, 0, TB, uuid=uuid)).disk("sdc", "PAIR-1")
    box.disk("sdd", "FOREIGN", Trace(TB - 1024, kind, 0, TB, uuid=uuid))
    found = [each for each in decided(plan, box).refusals if (each.code, each.place) == ("firmware", "d0")]
    assert [each.figures for each in found] == [{"format": kind, "others": ("/dev/sdd",)}]


def test_f28_a_member_of_an_array_of_firmware_is_refused_also_alone(plan: Plan) -> None:
    isw = Trace(TB - 1024, "isw_raid_member", 0, TB)
    box = Box().disk("sdb", "PAIR-0", isw).disk("sdc", "PAIR-1", isw)
    assert decided(plan, box).refusals == tuple(
        refusal("firmware", "raid", place=disk, format="isw_raid_member", others=()) for disk in ("d0", "d1")
    )
    cache = Trace(0x1018, "bcache", 0, TB)
    alone = decided(plan, Box().disk("sdb", "PAIR-0", cache).disk("sdc", "PAIR-1", cache))
    assert alone.refusals == () and "bcache, 931.3 GiB, on d0" in loss_texts(alone.left.lost)


@pytest.mark.parametrize(
    "source",
    [
        f"UUID={PHOTOS.upper()}", f'UUID="{PHOTOS}"', f"/dev/disk/by-uuid/{PHOTOS}", "LABEL=photos", "/dev/disk/by-label/photos",
        "/dev/md127", "/dev/md/data", "/dev//md/data", "/dev/disk/by-id/md-name-old:data", "PARTUUID=91sdb", "PARTUUID=91SDB",
        "/dev/disk/by-partuuid/91sdc", "/dev/sdb1", "/dev/disk/by-id/wwn-0x5-part1", "/dev/sdc",
    ],
)  # fmt: skip
def test_f56_a_line_for_what_will_be_gone_is_seen_by_every_name(plan: Plan, source: str) -> None:
    box = old_pair()
    box.disks["sdb"] = replace(box.disks["sdb"], links=("/dev/disk/by-id/wwn-0x5",))
    box.put("file", "/etc/fstab", content=f"# x\n{source}\t/photos ext4\n", size=50)
    line = refusal("needed-at-boot", "mount", place="/etc/fstab", number=2, word=source)
    assert line in decided(plan, box).refusals


def test_f56_lines_for_what_stays_are_nobodys_business(plan: Plan) -> None:
    text = f"UUID={OTHER} / ext4\nLABEL=photos2 /x ext4\n/dev/md/data2 /y ext4\n#/dev/md127 /z ext4\nserver:/a /b nfs\ntmpfs /tmp tmpfs\n"
    box = old_pair().disk("sdd", "OTHER").put("file", "/etc/fstab", content=text, size=50)
    assert decided(plan, box).refusals == ()


@pytest.mark.parametrize(
    "source", [f"UUID={OTHER}", f"/dev/disk/by-uuid/{OTHER}", "/dev/sdb", "/dev/disk/by-id/wwn-0x5"]
)
def test_f56_a_line_of_crypttab_for_what_will_be_gone_is_refused(plan: Plan, source: str) -> None:
    """The next boot would wait for a device that never comes."""
    luks = Trace(0, "crypto_LUKS", 0, TB, uuid=OTHER)
    box = Box().disk("sdb", "PAIR-0", luks).disk("sdc", "PAIR-1").disk("sdd", "OTHER")
    box.disks["sdb"] = replace(box.disks["sdb"], links=("/dev/disk/by-id/wwn-0x5",))
    others = f"# name {source}\n\nname\n{source} /dev/sdd none\nswap /dev/sdd /dev/urandom swap\n"
    box.put("file", "/etc/crypttab", content=others, size=50)
    assert decided(plan, box).refusals == ()
    box.put("file", "/etc/crypttab", content=f"{others}safe\t{source} none luks\n", size=50)
    line = refusal("needed-at-boot", "crypttab", place="/etc/crypttab", number=6, word=source)
    assert decided(plan, box).refusals == (line,)


def test_f56_volumes_and_names_of_partitions_too(plan: Plan) -> None:
    box = old_pair().group("vg-0", "md127").volume("dm-0", "vg-0", "home", "md127")
    part = replace(box.disks["sdb"].partitions[0], name="old data")
    box.disks["sdb"] = replace(box.disks["sdb"], partitions=(part,))
    sources = ["/dev/mapper/vg--0-home", "/dev/vg-0/home", "/dev/disk/by-id/dm-name-vg--0-home", "/dev/dm-0",
               "PARTLABEL=old\\040data", "/dev/disk/by-partlabel/old\\x20data"]  # fmt: skip
    box.put("file", "/etc/fstab", content="".join(f"{each} /x ext4\n" for each in sources), size=50)
    lines = [words for words in sentences(decided(plan, box).refusals) if words.startswith("/etc/fstab line")]
    assert len(lines) == len(sources)
