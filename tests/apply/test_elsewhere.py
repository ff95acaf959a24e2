"""The identity of something planned stands on a disk outside the layout, as after `dd`: the refusal says which, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.plan.step import Plan, Step
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


WAYS = {"ext4": "tune2fs -U random", "xfs": "xfs_admin -U generate", "btrfs": "btrfstune -u", "vfat": ""}
"""The command that gives a copy another UUID."""


def copy(place: str, line: int, kind: str, uuid: str, device: str, command: str) -> Refusal:
    """The refusal of an object with our UUID on a device of nobody."""
    figures: Figures = {"kind": kind, "uuid": uuid, "device": device, "command": command}
    return Refusal("differs", "copy" if command else "copy-without-command", place, line, figures)


@pytest.mark.parametrize("kind", WAYS)
def test_a_file_system_with_our_uuid_on_a_disk_of_nobody(kind: str, tmp_path: Path) -> None:
    plan = layout(tmp_path, kind)
    uuid = key(plan, "filesystem")
    box = other().partition("sdz").filesystem("sdz1", uuid, "data", kind)
    there = copy("filesystems.data", 6, "file system", uuid, "/dev/sdz1", WAYS[kind])
    assert decided(plan, box).refusals == (there,)


def test_a_file_system_that_this_machine_made_and_that_is_only_on_a_copy_now(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    uuid = key(plan, "filesystem")
    box = other().filesystem("sdz", uuid, "data")
    there = copy("filesystems.data", 6, "file system", uuid, "/dev/sdz", WAYS["ext4"])
    assert decided(plan, box, Past(made=frozenset({f"filesystem:{uuid}"}))).refusals == (there,)


def test_swap_with_our_uuid_on_a_disk_of_nobody(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    uuid = key(plan, "swap")
    box = other().put("swap", uuid, type="swap", label="", device="/dev/sdz", active=False)
    there = copy("swap.s", 7, "swap area", uuid, "/dev/sdz", "swaplabel --uuid $(uuidgen)")
    assert decided(plan, box).refusals == (there,)


def test_a_partition_table_of_ours_on_a_disk_of_nobody(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    uuid = key(plan, "table")
    box = other().put("table", uuid, disk="/dev/sdz", partitions=["1 1048576 1 x"])
    (found,) = decided(plan, box).refusals
    there = copy(found.place, found.line, "partition table", uuid, "/dev/sdz", "")
    assert found == there and found.place == "hardware.disks.d0"


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
    found = [each for each in decided(plan, box).refusals if each.code == "differs"]
    moved = [one for each in found for one in each.deviations if one.name == "device"]
    assert moved and all(str(one.found).startswith("partition:") for one in moved)
    assert not any(each.case.startswith("copy") for each in found)


def test_a_layer_on_a_disk_of_nobody_is_seen_through(tmp_path: Path) -> None:
    plan = layout(tmp_path)
    box = other().partition("sdz", 1, MIB, 10 * GIB).member("sdz1").array("md5", "sdz1")
    (found,) = decided(plan, box.filesystem("md5", key(plan, "filesystem"), "")).refusals
    assert (found.case, found.figures["device"]) == ("copy", "/dev/md5")
