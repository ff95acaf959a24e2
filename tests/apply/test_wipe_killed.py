"""A teardown killed before and after every effect, then taken up again: the same end, and nothing is held off any more."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from shutil import copytree, rmtree

import pytest

from raidplan.apply import work
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.sectors import sectors_before
from raidplan.apply.teardown.losses import absent
from raidplan.facts.host import HOLD
from raidplan.facts.machine import Trace
from raidplan.facts.run import Result
from raidplan.plan.step import Zero
from raidplan.render.losses import loss_texts
from tests.apply.left import Kills
from tests.apply.others import Others
from tests.apply.simulated import Killed
from tests.apply.stacks import GIB, LAYOUT, MIB, OLD, TB, plan_of
from tests.apply.wiped import Full, Old, apply, end, machine, undisturbed


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "APPEAR_SECONDS", 0)
    monkeypatch.setattr(work, "LOOK_AGAIN_SECONDS", 0)


class Failing(Old):
    """Every program does its work, and ends with an error."""

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        return replace(super().run(argv, stdin), returncode=1, stderr="failed after all")


def test_killed_at_every_effect_of_a_teardown(tmp_path: Path, dice: Random | None) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    once = Old(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    wanted, agreed = undisturbed(plan, once)
    assert kills.points == 3 * len(once.effects)
    looks_again = [line for line in once.executed if line.startswith("udevadm trigger")][-1]
    for point, left in kills.machines():
        assert left.state.others.hashes() == Others().hashes(), point
        copytree(left.root, failing := tmp_path / "failing")
        fails = Failing(plan, failing, deepcopy(left.state))
        said = apply(plan, fails, agreed)
        assert said.startswith("stopped: ") or not fails.executed, f"{point}: {said}"
        assert not fails.path(HOLD).exists(), f"{point}: what failed holds off automatic assembly"
        rmtree(failing)
        held = left.path(HOLD).exists()
        world = Old(plan, left.root, left.state)
        said = apply(plan, world, agreed)
        assert said in ("done", "nothing to do"), f"{point}: {said}"
        assert end(world) == wanted, point
        assert not world.path(HOLD).exists(), f"{point}: automatic assembly is still held off"
        assert looks_again in world.executed or not held, f"{point}: udev is not told what it passed over"


def test_what_our_own_clearing_leaves_is_on_the_first_list(tmp_path: Path, dice: Random | None) -> None:
    """The member that was cleared is none that is away, and old bytes between the ends of a cleared disk are none of somebody."""
    plan = plan_of(LAYOUT, tmp_path)
    once = Full(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    wanted, agreed = undisturbed(plan, once)
    for point, left in kills.machines():
        world = Full(plan, left.root, left.state)
        said = apply(plan, world, agreed)
        assert said in ("done", "nothing to do"), f"{point}: {said}"
        assert end(world) == wanted, point


@pytest.mark.parametrize(
    ("begins", "wwn", "lost"),
    [
        (7 * GIB, "", set()),
        (MIB, "", {f"data on d0 that nothing here recognises, from byte {MIB} on"}),
        (TB - MIB, "", {f"data on d0 that nothing here recognises, from byte {TB - MIB} on"}),
        (
            7 * GIB,
            "0x5000000000000001",
            {
                f"data on d0 that nothing here recognises, from byte {7 * GIB} on",
                "the array 'old:data': 1 of its 2 members are not in this machine, and may bring it back when they are connected",
            },
        ),
    ],
    ids=["left", "at the front since", "at the end since", "another disk since"],
)
def test_what_came_after_the_kill_is_on_no_list(
    begins: int, wwn: str, lost: set[str], tmp_path: Path
) -> None:
    """The first member was cleared, and then the process was killed."""
    plan = plan_of(LAYOUT, tmp_path)
    state = machine(tmp_path / "killed")
    world = Full(plan, tmp_path / "killed", state)
    agreed = {*loss_texts(decide(plan, world.read(plan), Past(), here=False).left.lost)}

    def dies(when: str, kind: str, what: str) -> None:
        if (when, kind) == ("after", "zero") and what.endswith("/d0"):
            world._die()

    world.watch = dies
    with pytest.raises(Killed):
        apply(plan, world, agreed)
    left = Full(plan, world.root, state)
    left.begins = begins
    found = left.read(plan)
    disks = tuple(replace(disk, wwn=wwn) if disk.kernel_name == "d0" else disk for disk in found.disks)
    past = read_past(left.root / "var/lib/raidplan")
    decision = decide(plan, replace(found, disks=disks), past, here=False)
    assert {*loss_texts(decision.left.lost)} - agreed == lost, decision.refusals
    (clears,) = (step.action for step in decision.left.steps if step.id == "teardown.d0.zero")
    assert isinstance(clears, Zero) and (
        any(at <= begins < at + size for at, size in clears.ranges) == bool(lost)
    )


def test_of_three_members_the_one_that_nobody_cleared_is_away() -> None:
    trace = Trace(4096, "linux_raid_member", 0, TB, uuid=OLD, members=3)
    (loss,) = absent([("d1", trace)], {("d0", OLD): 1})
    assert (loss.kind, loss.uuid, loss.figures) == ("absent", OLD, {"missing": 1, "members": 3})
    assert not [*absent([("d1", trace), ("d2", trace)], {("d0", OLD): 1})]
    assert [*absent([("d1", trace), ("d0", trace)], {("d0", OLD): 1})] == [loss]


@pytest.mark.parametrize("lie", ["no effect", "failed after all"])
def test_a_tool_of_the_teardown_that_lies_is_never_believed(tmp_path: Path, lie: str) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    wanted, agreed = undisturbed(plan, Old(plan, tmp_path / "once", machine(tmp_path / "once")))
    root = tmp_path / "liar"
    state = machine(root)
    liar = Old(plan, root, state, lie={"mdadm --stop /dev/md127": lie})
    if lie == "no effect":
        with pytest.raises(AssertionError, match="running array"):  # as the kernel refuses the exclusive open
            apply(plan, liar, agreed)
    else:
        assert apply(plan, liar, agreed).startswith("stopped: ")
        assert not liar.path(HOLD).exists(), "restored whatever happens"
    world = Old(plan, root, state)
    assert apply(plan, world, agreed) in ("done", "nothing to do")
    assert end(world) == wanted


def test_a_failed_step_ends_the_hold(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    _, agreed = undisturbed(plan, Old(plan, tmp_path / "once", machine(tmp_path / "once")))
    root = tmp_path / "fails"
    world = Old(plan, root, machine(root), lie={"mdadm --stop /dev/md127": "failed after all"})
    assert apply(plan, world, agreed).startswith("stopped: ")
    assert ("remove", str(world.path(HOLD))) in world.effects
    assert world.executed[-1] == "udevadm control --reload"


class Disks(Old):
    """The machine has its disks."""

    def exists(self, node: str) -> bool:
        return node in ("/dev/d0", "/dev/d1") or super().exists(node)


@pytest.mark.parametrize("failing", ["mdadm --stop /dev/md127", "udevadm control --reload", ""])
def test_udev_looks_at_no_old_member_after_a_failed_step(failing: str, tmp_path: Path) -> None:
    """The hold has ended by then: an event of it would assemble an array that nobody has cleared yet."""
    plan = plan_of(LAYOUT, tmp_path)
    _, agreed = undisturbed(plan, Old(plan, tmp_path / "once", machine(tmp_path / "once")))
    root = tmp_path / "fails"
    world = Disks(plan, root, machine(root), lie={failing: "failed after all"} if failing else {})
    assert apply(plan, world, agreed).startswith("stopped: ") == bool(failing)
    assert world.looked_at[0].isdisjoint({"/dev/d0", "/dev/d1"}) == bool(failing)


def test_an_array_that_is_cleared_through_itself_is_in_the_journal_with_its_sectors(tmp_path: Path) -> None:
    """By them the next apply knows what is left in it."""
    plan = plan_of(LAYOUT, tmp_path)
    world = Old(plan, tmp_path / "killed", machine(tmp_path / "killed"))
    world.watch = lambda when, kind, what: (
        world._die() if (when, kind, what) == ("before", "zero", "/dev/md127") else None
    )
    agreed = {*loss_texts(decide(plan, world.read(plan), Past(), here=False).left.lost)}
    with pytest.raises(Killed):
        apply(plan, world, agreed)
    past, step = read_past(world.root / "var/lib/raidplan"), f"teardown.array.{OLD}.zero"
    assert past.begun == {step} and [*past.marks[step]] == ["/dev/md127"] and past.listed[step]
    assert past.sectors[step]


def dies_in_mke2fs(world: Old, when: str, kind: str, what: str) -> None:
    if (when, kind) == ("before", "run") and what.startswith("mke2fs "):
        world._die()


@pytest.mark.parametrize("wipe", [True, False])
def test_what_a_maker_finds_is_in_the_journal_where_old_bytes_can_be(wipe: bool, tmp_path: Path) -> None:
    """On disks to wipe, whose ends alone are cleared, and where it was cut off before."""
    text = LAYOUT if wipe else LAYOUT.replace(", wipe: true", "")
    plan = plan_of(text, tmp_path)
    state = (
        machine(tmp_path / "killed")
        if wipe
        else replace(machine(tmp_path / "killed"), objects={}, content={})
    )
    folder = tmp_path / "killed/var/lib/raidplan"
    for recorded in (wipe, True):
        world = Old(plan, tmp_path / "killed", state)
        world.watch = partial(dies_in_mke2fs, world)
        agreed = {*loss_texts(decide(plan, world.read(plan), read_past(folder), here=False).left.lost)}
        with pytest.raises(Killed):
            apply(plan, world, agreed)
        past = read_past(folder)
        (step,) = past.begun
        assert bool(past.sectors[step]) == recorded
        known = sectors_before(past, step)
        assert (known and known.ranges) == (((0, MIB),) if recorded else None)
