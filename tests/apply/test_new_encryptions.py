"""Encryptions that a run opens on disks that may be wiped: their ends are cleared, and what stands there afterwards is somebody's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks
from raidplan.facts.machine import BlockFact
from raidplan.facts.match import match
from raidplan.plan.step import Plan, Zero
from tests.apply.stacks import Box, behind, decided, order, plan_of
from tests.images import MIB

WHERE = """\
version: 1
host: pair
hardware:
  disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>, wipe: true}}
"""
FORMATTED = "filesystems:\n  data: {device: c0, type: ext4, mount: /srv/data}\n"
ON_A_PARTITION = f"{WHERE}encryption:\n  c0: {{device: d0, key: ask}}\n{FORMATTED}"
ON_A_VOLUME = f"{WHERE}volume_groups:\n  vg: {{devices: [d0], volumes: {{v: {{size: 1GiB}}}}}}\nencryption:\n  c0: {{device: vg.v, key: ask}}\n{FORMATTED}"
RANDOM = f"{WHERE}encryption:\n  c0: {{device: d0, key: random}}\nswap:\n  s0: {{device: c0}}\n"
GHOST = "ghosts.c0"
WIPED = "teardown.d0.zero"


def blank() -> Box:
    return Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")


def opened(plan: Plan, content: tuple[str, ...] = (), begins: int = -1) -> tuple[Box, Past]:
    """A run that was cut off right before the file system, and what shows on the opened encryption since."""
    by_id = {step.id: step for step in plan.steps}
    table, header, mapping = (
        by_id[id].proof for id in ("disk.d0.partition", "encryption.c0.make", "encryption.c0.open")
    )
    assert table and header and mapping
    box = blank().table("sdb").partition("sdb", uuid=table.partitions[0].uuid)
    box.put("table", table.key, disk="/dev/sdb", partitions=table.expect["partitions"])
    box.blocks["sdb1"] = replace(box.blocks["sdb1"], content=("crypto_LUKS",))
    box.put("content", table.partitions[0].identity, carries=[f"crypto_LUKS {header.key}"])
    box.put("encryption", header.key, **header.expect)
    box.put("mapping", mapping.key, node="/dev/mapper/c0", **mapping.expect)
    box.blocks["dm-0"] = BlockFact("dm-0", f"mapping:{mapping.key}", "/dev/mapper/c0", "mapping", 899 * 2**30, below=("sdb1",), content=content, unknown_from=begins)  # fmt: skip
    ids = [step.id for step in plan.steps]
    ended = ids[: ids.index("filesystem.data.make")]
    marked = marks(plan, match(plan.disks, box.machine())[0])
    made = frozenset(made_by(by_id[id]) for id in ended if by_id[id].creates)
    return box, Past(made, is_open=True, ended=frozenset(ended), order=tuple(ended), marks=marked)


@pytest.mark.parametrize("text", [ON_A_PARTITION, ON_A_VOLUME])
def test_the_ends_of_a_new_one_are_cleared_before_anything_is_made_on_it(text: str, tmp_path: Path) -> None:
    decision = decided(plan_of(text, tmp_path), blank())  # read from a file as well
    assert not decision.refusals
    left = decision.left
    done, ghost = order(left), next(step for step in left.steps if step.id == GHOST)
    assert isinstance(ghost.action, Zero) and ghost.action.device == "/dev/mapper/c0"
    assert done.index("encryption.c0.open") < done.index(GHOST)
    assert GHOST in behind(left, "filesystem.data.make")


def test_without_a_header_its_ends_say_nothing(tmp_path: Path) -> None:
    """A random key is another one at the next boot."""
    assert GHOST not in order(decided(plan_of(RANDOM, tmp_path), blank()).left)


def test_nor_are_those_of_one_that_stands(tmp_path: Path) -> None:
    """A boot has closed it in the meantime, and the run only opens it again."""
    plan = plan_of(ON_A_PARTITION, tmp_path)
    box, past = opened(plan)
    del box.blocks["dm-0"], box.objects["mapping"]
    decision = decided(plan, box, past)
    assert "encryption.c0.open" in order(decision.left) and GHOST not in order(decision.left)


@pytest.mark.parametrize(
    ("begins", "cleared", "lost"),
    [
        (0, {WIPED, GHOST}, True),
        (100 * MIB, {WIPED, GHOST}, False),
        (0, {WIPED}, False),
        (100 * MIB, set(), True),
    ],
    ids=["at an end", "between the ends", "never cleared", "on a blank disk"],
)
def test_what_stands_where_this_run_has_cleared_is_listed(
    begins: int, cleared: set[str], lost: bool, tmp_path: Path
) -> None:
    """A raw database that a person put there before mkfs."""
    plan = plan_of(ON_A_PARTITION, tmp_path)
    box, past = opened(plan, (f"data that nothing here recognises from byte {begins} on",), begins)
    decision = decided(plan, box, replace(past, ended=past.ended | cleared))
    assert not decision.refusals
    assert bool(decision.left.lost) == lost
    assert "filesystem.data.make" in order(decision.left)
