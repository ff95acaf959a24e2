"""The identity of something planned stands on a disk outside the layout, as after `dd`: the refusal says which, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.journal.past import Past
from raidplan.plan.step import Plan, Step
from tests.apply.sentences import sentences
from tests.apply.stacks import GIB, MIB, Box, decided, plan_of

LAYOUT = """\
version: 1
host: pair
hardware:
  disks:
    d0: {{size: 1TB, serial: PAIR-0, partitions: {{data: {{size: 100GiB}}, more: {{size: 100GiB}}, swap: {{size: 4GiB}}}}}}
filesystems: {{data: {{device: d0.{part}, type: {type}, mount: /srv/data}}}}
swap: {{s: {{device: d0.swap}}}}
"""


def layout(tmp_path: Path, kind: str = "ext4", part: str = "data") -> Plan:
    return plan_of(LAYOUT.format(type=kind, part=part), tmp_path)


def maker(plan: Plan, kind: str) -> Step:
    return next(step for step in plan.steps if step.creates and step.proof and step.proof.kind == kind)


def key(plan: Plan, kind: str) -> str:
    proof = maker(plan, kind).proof
    assert proof
    return proof.key


def other() -> Box:
    return Box().disk("sdb", "PAIR-0").disk("sdz", "OTHER-1")


WAYS = {
    "ext4": "give that one another UUID (tune2fs -U random /dev/sdz1)",
    "xfs": "give that one another UUID (xfs_admin -U generate /dev/sdz1)",
    "btrfs": "give that one another UUID (btrfstune -u /dev/sdz1)",
    "vfat": "wipe it by hand if nobody needs its content",
}


@pytest.mark.parametrize("kind", WAYS)
def test_a_file_system_with_our_uuid_on_a_disk_of_nobody(kind: str, tmp_path: Path) -> None:
    plan = layout(tmp_path, kind)
    uuid = key(plan, "filesystem")
    box = other().partition("sdz").filesystem("sdz1", uuid, "data", kind)
    assert sentences(decided(plan, box).refusals) == (
        f"filesystems.data (line 6): the file system with its UUID {uuid} is on /dev/sdz1, outside the disks of this layout (a "
        "copy, or a disk that was in it before), and a boot could confuse the two: unplug that disk, or " + WAYS[kind],
    )  # fmt: skip


def test_a_file_system_that_this_machine_made_and_that_is_only_on_a_copy_now(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    uuid = key(plan, "filesystem")
    box = other().filesystem("sdz", uuid, "data")
    (said,) = sentences(decided(plan, box, Past(made=frozenset({f"filesystem:{uuid}"}))).refusals)
    assert f"with its UUID {uuid} is on /dev/sdz," in said


def test_swap_with_our_uuid_on_a_disk_of_nobody(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    uuid = key(plan, "swap")
    box = other().put("swap", uuid, type="swap", label="", device="/dev/sdz", active=False)
    (said,) = sentences(decided(plan, box).refusals)
    assert said.startswith(
        f"swap.s (line 7): the swap area with its UUID {uuid} is on /dev/sdz, outside the disks of this layout"
    )
    assert said.endswith("or give that one another UUID (swaplabel --uuid $(uuidgen) /dev/sdz)")


def test_a_partition_table_of_ours_on_a_disk_of_nobody(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    uuid = key(plan, "table")
    box = other().put("table", uuid, disk="/dev/sdz", partitions=["1 1048576 1 x"])
    (said,) = sentences(decided(plan, box).refusals)
    assert (
        f"the partition table with its UUID {uuid} is on /dev/sdz, outside the disks of this layout" in said
    )


def test_what_was_moved_within_the_layout_keeps_the_words_of_a_change(tmp_path: Path) -> None:
    plan = layout(tmp_path, part="more")
    proof = maker(plan, "table").proof
    assert proof
    rows = proof.expect["partitions"]
    assert isinstance(rows, (list, tuple))
    box = other().table("sdb").put("table", proof.key, disk="/dev/sdb", partitions=list(rows))
    for number, row in enumerate(rows, 1):
        uuid, start, size, _ = row.split()
        box.partition("sdb", number, int(start), int(size), uuid)
    box.filesystem("sdb1", key(plan, "filesystem"), "")
    said = sentences(decided(plan, box).refusals)
    assert any("exists already, but not as planned: device is partition:" in words for words in said), said
    assert not any("outside the disks of this layout" in words for words in said)


def test_a_layer_on_a_disk_of_nobody_is_seen_through(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    box = other().partition("sdz", 1, MIB, 10 * GIB).member("sdz1").array("md5", "sdz1")
    (said,) = sentences(decided(plan, box.filesystem("md5", key(plan, "filesystem"), "")).refusals)
    assert " is on /dev/md5, outside the disks of this layout" in said
