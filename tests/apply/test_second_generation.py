"""A run on blank disks in the place of those of an earlier, finished run: wherever it is killed, the next one goes on by itself.

The journal has an object of the same name and UUID for each that this run makes, and none of them counts for what it made itself.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from raidplan.base.identity import Identity
from raidplan.base.magic import SignatureAt
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact, texts
from raidplan.plan.partitions import partition_rows
from raidplan.plan.step import Plan
from tests.apply.cut_off import Cut
from tests.apply.left import Kills
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.stacks import GIB, plan_of

pytestmark = pytest.mark.in_turn(3)

__all__ = ["impatient"]


PARTITIONED = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>WIPE, partitions: {a: {size: 10GiB}, b: {size: 20GiB}, c: {size: 30GiB}, e: {size: rest}}}}}
arrays: {m: {level: raid1, members: [d<0-1>.a]}, z: {level: raid0, members: [d<0-1>.b]}}
encryption: {k: {device: d0.c, key: ask}}
volume_groups: {vg: {devices: [d<0-1>.e], volumes: {h: {size: 10GiB}, raw: {size: 10GiB}}}}
filesystems:
  m: {device: m, type: ext4, mount: /m}
  z: {device: z, type: xfs, mount: /z}
  k: {device: k, type: btrfs, mount: /k}
  h: {device: vg.h, type: f2fs, mount: /h}
  v: {device: d1.c, type: vfat, mount: /v}
"""
WHOLE = """\
version: 1
host: pair
hardware: {disks: {d<0-3>: {size: 1TB, serial: PAIR-<1>WIPE}}}
arrays:
  a: {level: raid1, members: [d<0-1>], whole_disks: true}
  b: {level: raid1, members: [d<2-3>], whole_disks: true}
  top: {level: raid0, members: [a, b]}
filesystems: {top: {device: top, type: xfs, mount: /top}}
"""


class WithBlocks(Simulated):
    """The machine in memory, with its block devices: disks, partitions, arrays, opened encryptions and active volumes."""

    def read(self, plan: Plan) -> Machine:
        found = super().read(plan)
        blocks = {f"{{{disk.name}}}": self._block(disk.name, f"/dev/{disk.name}", "disk", disk.size) for disk in plan.disks}  # fmt: skip

        def put(identity: str, size: int, below: list[str], start: int = 0) -> None:
            name = f"b{len(blocks)}"
            under = tuple(blocks[each].name for each in below if each in blocks)
            kind = Identity.read(identity).kind
            blocks[identity] = self._block(name, identity, kind, size, start, under)

        def each(kind: str) -> list[tuple[str, dict[str, object]]]:
            return [(key, dict(of)) for key, of in found.objects.get(kind, {}).items()]

        for _, table in each("table"):
            for row in partition_rows(table["partitions"]):  # type: ignore[arg-type]
                put(row.identity, row.size, [str(table["disk"])], row.start)
        for key, array in each("array"):
            put(f"array:{key}", GIB, texts(array["members"]))  # type: ignore[arg-type]
        for key, mapping in each("mapping"):
            put(f"mapping:{key}", GIB, [str(mapping["device"])])
        groups = dict(each("volume_group"))
        for key, volume in each("volume"):
            if volume.get("active"):
                put(f"volume:{key}", GIB, texts(groups[key.partition("/")[0]]["devices"]))  # type: ignore[arg-type]
        return replace(found, blocks=(*found.blocks, *blocks.values()))

    def _block(
        self, name: str, identity: str, kind: str, size: int, start: int = 0, below: tuple[str, ...] = ()
    ) -> BlockFact:
        words = self.state.content.get(f"{{{name}}}" if kind == "disk" else identity, ())
        signatures = tuple(SignatureAt.read(f"0 0x438 {word}") for word in words if " " in word)
        types = tuple(word.split()[0] for word in words)
        table = kind == "disk" and types == ("gpt",)
        return BlockFact(name, identity, f"/dev/{name}", kind, size, start, below, (), () if table else signatures, () if table else types)  # fmt: skip


def on_new_disks(plan: Plan) -> Plan:
    """The plan for disks with other serial numbers."""
    return replace(plan, disks=tuple(replace(disk, serial=f"NEW-{disk.serial}") for disk in plan.disks))


@pytest.mark.parametrize(
    ("words", "how"), [("cryptsetup open --type luks2", "before"), ("lvcreate", "during")]
)
def test_what_this_run_made_and_did_not_open_yet_holds_nothing(words: str, how: str, tmp_path: Path) -> None:
    first, root = plan_of(PARTITIONED.replace("WIPE", ""), tmp_path), tmp_path / "root"
    assert apply(first, Simulated(first, root, machine(root))) == "done"
    second, state = on_new_disks(first), State()
    with pytest.raises(Killed):
        apply(second, Cut(second, root, state, words, how))
    assert apply(second, Simulated(second, root, state)) == "done"


@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
@pytest.mark.parametrize("layout", [PARTITIONED, WHOLE], ids=["partitioned", "whole disks"])
def test_killed_at_drawn_points_it_goes_on_by_itself(
    layout: str, wipe: str, tmp_path: Path, dice: Random | None
) -> None:
    first, root = plan_of(layout.replace("WIPE", wipe), tmp_path), tmp_path / "root"
    assert apply(first, WithBlocks(first, root, machine(root))) == "done"
    second = on_new_disks(first)
    once = WithBlocks(second, root, State())
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(second, once) == "done"
    for point, left in kills.machines():
        assert apply(second, WithBlocks(second, left.root, left.state)) in ("done", "nothing to do"), point
