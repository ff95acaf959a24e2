"""Partitions with `keep: true`: the table stays, the kept ones are proven, and those beside them are used where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.stages.matching import asked_for, match_disks
from raidplan.base.figures import Figure, Figures
from raidplan.base.findings import Severity
from raidplan.cli import run
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import PartitionFact
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan
from raidplan.render.plan_text import render_plan
from raidplan.review import pipeline

GIB = 2**30
LEFT = "5b1f2d3c-0b7e-4d7a-9c54-3f6f0a1b2c3d"
LAYOUT = f"""\
version: 1
host: box
hardware:
  disks:
    sys:
      serial: SYS
      size: 500GB
      partitions:
        os: {{size: 100GiB, keep: true}}
        left: {{size: 300GiB, uuid: {LEFT.upper()}}}
    new: {{serial: NEW, size: 500GB, partitions: {{left: {{size: 300GiB}}}}}}
arrays: {{data: {{level: raid1, members: [sys.left, new.left]}}}}
filesystems:
  root: {{device: sys.os, type: ext4, mount: /}}
  data: {{device: data, type: ext4, mount: /srv}}
"""
PARTS = (
    PartitionFact("/dev/sda1", "u1", "x", 2**20, 100 * GIB, signatures=("ext4 at 0x438",), holds=("ext4",)),
    PartitionFact("/dev/sda2", LEFT, "x", 101 * GIB, 300 * GIB),
)


def loaded(text: str, tmp_path: Path) -> pipeline.Loaded:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    return pipeline.check(str(file))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    made, found = pipeline.plan(loaded(LAYOUT, tmp_path))
    assert made is not None, [item.finding for item in found.findings]
    return made


def refused(plan: Plan, *parts: PartitionFact) -> list[Refusal]:
    disks = (
        DiskFact("/dev/sda", "sda", 500 * 10**9, serial="SYS", partitions=parts),
        DiskFact("/dev/sdb", "sdb", 500 * 10**9, serial="NEW"),
    )
    machine = Machine(disks, {"mount": {"/": {"source": "partition:u1"}}})
    return [*match_disks(asked_for(plan), machine).refusals]


def test_the_table_stays_and_the_partition_beside_is_found_by_its_uuid(plan: Plan) -> None:
    assert [step.id for step in plan.steps if step.phase == "partition"] == ["disk.new.partition"]
    (create,) = (step for step in plan.steps if step.id == "array.data.create")
    assert create.guard[0] == f"/dev/disk/by-partuuid/{LEFT}" and len(create.guard) == 2
    assert not [step for step in plan.steps if {"sys", "sys.os"} & {*step.disks, *step.targets}]
    assert not [step.id for step in plan.steps if "root" in step.id]
    assert plan_from_json(plan_to_json(plan)) == plan
    (kept,) = [line.split() for line in render_plan(plan).splitlines() if line.split()[:1] == ["keep"]]
    assert kept[1] == "1" and "sys.os," in kept


def test_the_kept_partition_and_its_neighbour_are_proven(plan: Plan) -> None:
    (disk,) = (disk for disk in plan.disks if disk.name == "sys")
    rows = [(part.number, part.size, part.holds, part.uuid, part.keep) for part in disk.partitions]
    assert rows == [(1, 100 * GIB, "ext4", "", True), (2, 300 * GIB, "", LEFT, False)]
    assert refused(plan, *PARTS) == []
    left: Figures = {"number": 2, "name": "sys.left"}

    def differs(way: str, **figures: Figure) -> list[Refusal]:
        return [Refusal("kept-differs", way, "sys", figures={**left, **figures})]

    other = replace(PARTS[1], uuid="another")
    assert refused(plan, PARTS[0], other) == differs("uuid", has="another", planned=LEFT)
    small = replace(PARTS[1], size=299 * GIB)
    assert refused(plan, PARTS[0], small) == differs("size", has=299 * GIB, planned=300 * GIB)
    assert refused(plan, PARTS[0]) == differs("none")
    (empty,) = refused(plan, replace(PARTS[0], signatures=(), holds=()), PARTS[1])
    os = {"number": 1, "name": "sys.os", "has": "", "planned": "ext4"}
    assert empty == Refusal("kept-differs", "holds", "sys", figures=os)


@pytest.mark.parametrize("target", ["sys", "sys.os"])
def test_a_plan_that_would_write_to_the_table_or_the_kept_partition_is_refused(
    plan: Plan, target: str
) -> None:
    steps = (replace(plan.steps[0], targets=(target,)), *plan.steps[1:])
    written = refusal("kept-differs", "written", place=target, step=plan.steps[0].id)
    assert refused(replace(plan, steps=steps), *PARTS) == [written]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("members: [sys.left, new.left]", "members: [sys.left, sys.os]", "data stands on sys.os, which is kept, and on sys.left, which is not"),
        ("size: 500GB\n      part", "size: 500GB\n      wipe: true\n      part", "a partition of sys is to be kept and sys may be wiped"),
        (f", uuid: {LEFT.upper()}", "", "the partition table of sys stays as it is, and sys.left has no uuid"),
        ("300GiB, uuid", "rest, uuid", "the partition table of sys stays as it is, and sys.left has no size"),
        (", keep: true", "", "sys.left is made by raidplan, with a UUID of its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_and_made_is_an_error(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in LAYOUT
    text = LAYOUT.replace(old, new)
    if "sys.os]" in new:
        text = text.replace("  root: {device: sys.os, type: ext4, mount: /}\n", "")
    found = [each.finding for each in loaded(text, tmp_path).findings if each.finding.rule == "kept-in-part"]
    assert [each.message for each in found] == [says]


def test_a_uuid_that_is_none_is_told(tmp_path: Path) -> None:
    findings = loaded(LAYOUT.replace(LEFT.upper(), "sda2"), tmp_path).findings
    (finding,) = [each.finding for each in findings if each.finding.path[-1] == "uuid"]
    assert finding.severity is Severity.ERROR and "'sda2'" in finding.message


def test_a_change_of_what_is_kept_is_in_the_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "old.yaml", tmp_path / "new.yaml"]
    files[0].write_text(LAYOUT)
    files[1].write_text(LAYOUT.replace(LEFT.upper(), LEFT.replace("5b", "6c")))
    run(["diff", *map(str, files)])
    said = capsys.readouterr().out
    assert f"partitions.left.uuid: {LEFT} -> {LEFT.replace('5b', '6c')} (" in said
    assert "sfdisk" not in said, "apply refuses the disk until it is so, and names no command either"
    files[1].write_text(LAYOUT.replace(", keep: true", "").replace(f", uuid: {LEFT.upper()}", ""))
    run(["diff", *map(str, files)])
    assert "partitions.os.keep:" in capsys.readouterr().out
