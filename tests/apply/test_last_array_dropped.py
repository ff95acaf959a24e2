"""A layout that drops its last array: names=yes of an earlier version stays in our block as long as a line of others needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from raidplan.apply.note import Note
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan, WriteBlock
from tests.apply.recorded_runs import Recorded
from tests.apply.runs import impatient
from tests.apply.stacks import plan_of

__all__ = ["impatient"]

CONF = "etc/mdadm/mdadm.conf"
DISKS = {
    "d<0-1>": {
        "size": "1TB",
        "serial": "PAIR-<1>",
        "partitions": {"data": {"size": "900GB", "type": "raid"}, "swap": {"size": "4GiB"}},
    }
}
FSTAB_LINE = "/dev/md_lab:foreign /srv/theirs ext4 defaults,nofail 0 2\n"


@pytest.fixture
def left(tmp_path: Path) -> Recorded:
    """What an earlier version left, and a line of somebody."""
    return Recorded("create-finished", tmp_path / "left")


@pytest.fixture
def without(left: Recorded, tmp_path: Path) -> Plan:
    """A layout without arrays on the same disks."""
    layout: dict[str, Any] = yaml.safe_load(left.data["layout"])
    for part in ("arrays", "filesystems"):
        layout.pop(part)
    layout["swap"].pop("file")
    layout["hardware"]["disks"] = DISKS
    (tmp_path / "new").mkdir()
    return plan_of(yaml.safe_dump(layout, sort_keys=False), tmp_path / "new")


def stays(left: Recorded, plan: Plan) -> list[Note]:
    return [each for each in left.decide(plan).notes if each.code == "names-stay"]


def test_names_stay_as_long_as_a_line_of_others_needs_them(left: Recorded, without: Plan) -> None:
    conf, fstab = left.root / CONF, left.root / "etc/fstab"
    before = fstab.read_text()
    fstab.write_text(before + FSTAB_LINE)
    (note,) = stays(left, without)
    assert note.figures["node"] == "/dev/md_lab:foreign"
    assert left.apply(without) == "done"
    assert "create names=yes" in conf.read_text() and "ARRAY" not in conf.read_text()
    assert left.apply(without) == "nothing to do" and len(stays(left, without)) == 1
    fstab.write_text(fstab.read_text().replace(FSTAB_LINE, ""))
    (step,) = (step for step in left.decide(without).left.steps if isinstance(step.action, WriteBlock))
    assert step.id == "back.mdadm.conf" and "md127" in step.say and stays(left, without) == []
    assert left.apply(without) == "done" and "names=yes" not in conf.read_text()


def test_a_plan_file_from_before_such_a_line_keeps_them(left: Recorded, without: Plan) -> None:
    conf, fstab = left.root / CONF, left.root / "etc/fstab"
    planned = plan_from_json(plan_to_json(left.decide(without).left))
    fstab.write_text(fstab.read_text() + FSTAB_LINE)
    steps = {step.id: step.action for step in left.decide(planned).left.steps}
    block = steps["back.mdadm.conf"]
    assert isinstance(block, WriteBlock) and block.content == "create names=yes\n" and conf.exists()


def test_a_line_that_names_the_dropped_array_so_keeps_it(left: Recorded, without: Plan) -> None:
    fstab = left.root / "etc/fstab"
    fstab.write_text(fstab.read_text() + FSTAB_LINE.replace("lab:foreign", "data"))
    refused = left.decide(without).refusals
    assert [(each.code, each.case, each.figures["word"]) for each in refused] == [
        ("needed-at-boot", "dropped-name", "/dev/md_data")
    ]
