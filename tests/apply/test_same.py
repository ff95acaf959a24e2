"""A disk that was exchanged is not touched through what stands on it, and a link is followed only to what it names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.devices import guard
from raidplan.apply.execute import Outcome, execute
from raidplan.apply.journal.journal import open_journal
from raidplan.apply.journal.past import Past
from raidplan.apply.session import carry_out
from raidplan.facts import DiskFact
from raidplan.facts.run import Result
from raidplan.facts.uses import Use, use
from raidplan.plan.step import Action, Plan, Run, Step, Zero
from tests.apply.record import Record
from tests.apply.runs import impatient, machine
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of
from tests.apply.uses import uses_of

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>}}}
arrays: {data: {level: raid1, members: [d<0-1>]}}
volume_groups: {v: {devices: [data], volumes: {home: {size: 100%free}}}}
filesystems: {data: {device: v.home, type: ext4, mount: /srv/data}}
"""
PARTITION = "/dev/disk/by-partuuid/x"


class Moving(Simulated):
    """After a program the disk d1 is another one of the same name, or it is gone."""

    after, gone, exchanged = "", False, False

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        done = super().run(argv, stdin)
        self.exchanged |= bool(self.after) and self.after in " ".join(argv)
        return done

    def instance(self, node: str) -> tuple[str, int]:
        if self.exchanged and node == "/dev/d1":
            if self.gone:
                raise FileNotFoundError(2, "No such file or directory", node)
            return "2", super().instance(node)[1]
        return super().instance(node)


@pytest.mark.parametrize(
    ("after", "spared"),
    [
        ("--wipe-partitions=never /dev/d1", "mdadm --create"),
        ("sfdisk", "mdadm --create"),
        ("mdadm --create", "pvcreate"),
        ("pvcreate", "vgcreate"),
        ("vgcreate", "lvcreate"),
        ("lvcreate", "mke2fs"),
    ],
)
def test_f12_f50_what_stands_on_a_disk_that_was_exchanged_is_not_touched(
    after: str, spared: str, tmp_path: Path
) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    world = Moving(plan, tmp_path / "root", machine(tmp_path / "root"))
    world.after = after
    outcome = carry(plan, world)
    assert [*uses_of(outcome).values()] == [(use("other-disk", "/dev/d1", disk="d1"),)]
    assert not any(line.startswith(spared) for line in world.executed)


@pytest.mark.parametrize("after", ["mdadm --create", "vgcreate"])
def test_a_disk_that_died_below_an_array_stops_nothing(after: str, tmp_path: Path) -> None:
    """The array goes on without; that it lacks a member is said in the end."""
    plan = plan_of(LAYOUT, tmp_path)
    world = Moving(plan, tmp_path / "root", machine(tmp_path / "root"))
    world.after, world.gone = after, True
    assert carry(plan, world).complete


def carry(plan: Plan, world: Simulated) -> Outcome:
    decision = decide(plan, world.read(plan), Past(), here=False)
    assert not decision.refusals
    return carry_out(decision, open_journal(world.root / "journal", world), lambda event: None, workers=1)


class Linked(Simulated):
    """Below each node there are certain disks; a link can lead elsewhere."""

    below: Mapping[str, frozenset[str]] = {}
    leads = ""

    def disks_below(self, node: str) -> frozenset[str]:
        return self.below.get(node, frozenset())

    def other_partition(self, node: str) -> Use | None:
        return (
            use("other-partition", node, partition=self.leads) if self.leads and node == PARTITION else None
        )


ON_IT: tuple[Action, ...] = (
    Run(("mdadm", "--manage", "/dev/md/data", "--remove", PARTITION)),
    Zero(PARTITION, ((0, 4096),), ()),
    Run(("mke2fs", PARTITION)),
)


@pytest.mark.parametrize("action", ON_IT, ids=["program", "zeroes", "guarded"])
def test_f21_a_partition_is_the_one_that_is_named_and_on_a_disk_of_the_layout(
    action: Action, tmp_path: Path
) -> None:
    guarded = (PARTITION,) if action == ON_IT[-1] else ()
    step = Step("a", "format", "a", action, "x", targets=("x",), guard=guarded)
    plan = Plan("h", "", "", (), (step,))
    world = Linked(plan, tmp_path, State(nodes={PARTITION}))
    disks = {"d0": DiskFact("/dev/d0", "d0", 0)}

    def reasons() -> tuple[Use, ...]:
        record = Record()
        outcome = execute(plan, disks, lambda event: None, record, world)
        assert outcome.complete or (record.lines == [("refused", "a")] and not world.effects)
        return uses_of(outcome).get("a", ())

    world.leads = "sdx1"
    assert reasons() == (use("other-partition", PARTITION, partition="sdx1"),)
    world.leads, world.below = "", {PARTITION: frozenset({"sdz"})}
    assert reasons() == (use("not-of-layout", PARTITION, disk="sdz"),)
    world.below = {PARTITION: frozenset({"d0"}), "/dev/md/data": frozenset({"d0", "sdz"})}
    if isinstance(action, Run):
        world._do = lambda argv: None  # type: ignore[method-assign,misc]
    assert reasons() == (), "an array may have a spare on any disk"


def test_the_disks_below_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sysfs has a volume on an array of two partitions and a whole disk, one of which is gone."""
    sys, numbers = tmp_path / "devices", tmp_path / "dev"
    for name in ("sda/sda1", "sdb/sdb1", "cciss!c0d0", "md0", "dm-0"):
        (sys / name / "slaves").mkdir(parents=True)
    for part in ("sda/sda1", "sdb/sdb1"):
        (sys / part / "partition").touch()
    for upper, lower in (
        ("md0", "sda/sda1"),
        ("md0", "sdb/sdb1"),
        ("md0", "cciss!c0d0"),
        ("md0", "sdc/sdc1"),
        ("dm-0", "md0"),
    ):
        (sys / upper / "slaves" / Path(lower).name).symlink_to(sys / lower)
    number = os.stat("/dev/null").st_rdev
    numbers.mkdir()
    monkeypatch.setattr(guard, "SYS_BLOCK", numbers)
    for name, below in (
        ("dm-0", {"sda", "sdb", "cciss/c0d0"}),
        ("sda/sda1", {"sda"}),
        ("sdb", {"sdb"}),
    ):
        link = numbers / f"{os.major(number)}:{os.minor(number)}"
        link.unlink(missing_ok=True)
        link.symlink_to(sys / name)
        assert guard.disks_below("/dev/null") == below
