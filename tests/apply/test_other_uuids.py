"""Arrays without their data on partitions that bear other UUIDs than planned, as after other names of the disks in the layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.facts.machine import texts
from tests.apply.drifted import carrying, decided, not_started, standing, the_array
from tests.apply.stacks import LAYOUT, Box, plan_of

RAID5 = LAYOUT.replace(", wipe: true", "").replace("<0-1>", "<0-2>").replace("raid1", "raid5")


def renamed(box: Box) -> Box:
    """Every partition has another UUID in the table, in the array, and as a device."""
    other: dict[str, str] = {}
    for table in box.objects["table"].values():
        rows = [row.split() for row in texts(table["partitions"])]
        other |= {f"partition:{row[0]}": f"partition:{row[0][:-4]}beef" for row in rows}
        table["partitions"] = [" ".join((f"{row[0][:-4]}beef", *row[1:])) for row in rows]
    found = the_array(box)
    found |= {name: [other.get(each, each) for each in found[name]] for name in ("members", "spares")}
    for name, block in box.blocks.items():
        box.blocks[name] = replace(block, identity=other.get(block.identity, block.identity))
    return box


@pytest.mark.parametrize(
    "how", ["failed", "away", "not started", "not started, one away", "superblocks lost"]
)
def test_the_tables_come_first(how: str, tmp_path: Path) -> None:
    """What brings the array back has commands that name its members, which no device bears."""
    whole = plan_of(RAID5, tmp_path)
    box = renamed(standing(whole))
    found = the_array(box)
    members, away = found["members"], []
    if how in ("failed", "away"):
        found |= {"members": ["missing", "missing", members[2]]}
        found["faulty"], away = (members[:2], []) if how == "failed" else ([], members[:2])
    else:
        away = members[: {"not started": 0, "not started, one away": 1}.get(how, 2)]
        box = not_started(box, away)
    decision = decided(whole, carrying(box, away))
    told = [each for each in decision.refusals if each.code != "not-in-journal"]
    assert [(each.code, each.place) for each in told] == [
        ("differs", f"hardware.disks.d{slot}") for slot in range(3)
    ]
    assert not decision.left.steps
    for each in told:
        words = " ".join(texts([*each.figures["commands"]]))  # type: ignore[misc]
        assert "sfdisk --part-uuid" in words and "mdadm" not in words
