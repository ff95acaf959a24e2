"""A blank disk in place of a lost one: `apply` makes all anew that was on it, and gives its parts to the arrays that lack them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copytree

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.preflight.booting import unreadable
from raidplan.apply.preflight.situation import Situation
from raidplan.base.figures import Figures
from raidplan.plan.step import Plan
from raidplan.render.plan_text import render_plan
from tests.apply.changed import rebuilt
from tests.apply.left import Kills
from tests.apply.new_disk import BY_UEFI, LAYOUT, OF_MIRRORS, TARGET, array, arrays, booted, lose, plan_of
from tests.apply.runs import apply, end, impatient
from tests.apply.simulated import Simulated, State

pytestmark = pytest.mark.in_turn(14)

__all__ = ["impatient"]

DISK = "1"


@pytest.fixture
def stands(tmp_path: Path) -> tuple[Path, State]:
    """A server that has lost a disk of three."""
    root, state = booted(tmp_path / "machine", LAYOUT)
    lose(state, plan_of(LAYOUT), f"a{DISK}")
    return root, state


def replaced(text: str = LAYOUT, target: str = "", which: str = DISK) -> Plan:
    return plan_of(text, target, which)


def decided(plan: Plan, root: Path, state: State) -> Decision:
    world = Simulated(plan, root, state)
    return decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False)


@pytest.mark.parametrize("text", [LAYOUT, BY_UEFI], ids=["bios", "uefi"])
@pytest.mark.parametrize("disk", ["0", "1", "2"])
def test_everything_on_the_new_disk_is_made_anew(text: str, disk: str, tmp_path: Path) -> None:
    root, state = booted(tmp_path, text)
    wanted = end(Simulated(plan_of(text), root, state))
    lose(state, plan_of(text), f"a{disk}")
    plan = replaced(text, which=disk)
    world = Simulated(plan, root, state)
    assert apply(plan, world) == "done"
    assert all(each["sync_action"] == "recover" for each in arrays(state))
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do", "while it rebuilds"
    rebuilt(world)
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"
    for each in arrays(state):
        del each["sync_action"]
    assert end(world) == wanted, "as before the loss"


def test_below_a_target_as_well(tmp_path: Path) -> None:
    """From a rescue system, in which the machine was brought up by `raidplan mount`."""
    root, state = booted(tmp_path, LAYOUT)
    lose(state, plan_of(LAYOUT), "a1")
    plan = replaced(target=TARGET)
    copytree(root / "var/lib/raidplan", tmp_path / "var/lib/raidplan", dirs_exist_ok=True)
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    assert apply(plan, Simulated(plan, tmp_path, state)) == "nothing to do"
    assert all("missing" not in each["members"] for each in arrays(state))


def without_a_member(decision: Decision) -> list[str]:
    """The arrays that are refused because a member is missing, of which nobody knows that it is gone."""
    found = [each for each in decision.refusals if (each.code, each.case) == ("differs", "member-missing")]
    return sorted(each.place for each in found)


def test_each_step_comes_after_what_it_stands_on(stands: tuple[Path, State]) -> None:
    root, state = stands
    plan = replaced()
    decision = decided(plan, root, state)
    by_id = {step.id: step for step in decision.left.steps}
    for name in ("boot", "root", "data"):
        add = by_id[f"array.{name}.create+add"]
        assert "disk.a1.partition" in add.needs and not add.lost
        assert add.because == f"arrays.{name}" and f"a1.{name}" in add.targets and add.phase == "sync"
    assert "disk.a1.partition" in by_id["boot.grub.a1"].needs, "nothing between them is left to do"
    assert "disk.a1.partition" in by_id["filesystem.scratch.make"].needs
    shown = render_plan(decision.left, decision.nodes, every=True)
    assert by_id["array.root.create+add"].say in shown


@pytest.mark.parametrize("text", [LAYOUT, BY_UEFI], ids=["bios", "uefi"])
def test_grub_is_installed_before_there_are_members_that_are_not_whole(text: str, tmp_path: Path) -> None:
    """It reads them all the same, and finds an "unknown filesystem"."""
    root, state = booted(tmp_path, text)
    lose(state, plan_of(text), "a0")
    plan = replaced(text, which="0")
    world = Simulated(plan, root, state)
    assert apply(plan, world) == "done"
    first, *_, last = (
        at for at, line in enumerate(world.executed) if "--add" in line or "grub-install" in line
    )
    assert "grub-install" in world.executed[first] and "--add" in world.executed[last]
    assert not [line for line in world.executed[last:] if "grub" in line]
    ids = [step.id for step in decided(plan, *booted_without(text, tmp_path / "other")).left.steps]
    assert sum(each.endswith("+add") for each in ids[-3:]) == 3


def booted_without(text: str, folder: Path) -> tuple[Path, State]:
    root, state = booted(folder, text)
    lose(state, plan_of(text), "a0")
    return root, state


def test_grub_is_not_installed_from_a_mirror_that_is_rebuilt(stands: tuple[Path, State]) -> None:
    """A person has added the member, say; md begins an array of level 5 with a rebuild, so that is no sign."""
    root, state = stands
    plan = replaced()
    world = Simulated(plan, root, state)
    assert apply(plan, world) == "done"
    loaders = replace(plan, steps=tuple(step for step in plan.steps if step.id.startswith("boot.grub")))
    on_root = replaced(LAYOUT.replace("  boot: {device: boot, type: ext4, mount: /boot}\n", ""))

    def refused(left: Plan, whole: Plan) -> list[tuple[str, str, str]]:
        found = unreadable(Situation(left, world.read(plan), {}, whole))
        return [(each.code, each.case, each.place) for each in found]

    assert refused(loaders, plan) == [("loader-cannot-read", "rebuilt", "arrays.boot")]
    assert refused(loaders, on_root) == [("loader-cannot-read", "rebuilt", "arrays.root")]
    assert not refused(replace(plan, steps=()), plan), "no loader is left to install"
    boots = {note.place: note.figures["boots"] for note in decided(plan, root, state).notes}
    assert boots == {"arrays.boot": True, "arrays.data": False, "arrays.root": False}
    rebuilt(world)
    assert not refused(loaders, plan)


def test_two_members_of_one_array_are_added_by_one_command(tmp_path: Path) -> None:
    root, state = booted(tmp_path, OF_MIRRORS)
    for disk in ("a1", "a2"):
        lose(state, plan_of(OF_MIRRORS), disk)
    plan = replaced(OF_MIRRORS, which="12")
    world = Simulated(plan, root, state)
    assert apply(plan, world) == "done"
    added = [line for line in world.executed if "--add" in line]
    assert [line.count("/dev/disk/by-partuuid/") for line in added] == [2, 2, 2]


def test_an_array_that_has_lost_more_than_it_may_is_left(tmp_path: Path) -> None:
    root, state = booted(tmp_path, LAYOUT)
    for disk in ("a1", "a2"):
        lose(state, plan_of(LAYOUT), disk)
    world = Simulated(replaced(which="12"), root, state)
    (reason,) = decided(world.plan, root, state).refusals
    assert (reason.code, reason.case, reason.place) == ("too-many-lost", "", "arrays.data")
    assert apply(world.plan, world) != "done" and not world.effects


def test_a_rebuild_is_a_note_and_no_refusal(stands: tuple[Path, State]) -> None:
    root, state = stands
    plan = replaced()
    assert apply(plan, Simulated(plan, root, state)) == "done"
    decision = decided(plan, root, state)
    assert not decision.refusals and not decision.left.steps
    assert sorted(note.place for note in decision.notes if note.code == "rebuilds") == [
        "arrays.boot",
        "arrays.data",
        "arrays.root",
    ]


def test_the_member_that_is_merely_away_keeps_its_advice(stands: tuple[Path, State]) -> None:
    """With the old serial number: its disk is back with its table, and every partition has its superblock."""
    root, state = booted(stands[0].parent / "other", LAYOUT)
    for each in arrays(state):
        each["members"][1], each["degraded"] = "missing", 1
    decision = decided(plan_of(LAYOUT), root, state)
    assert without_a_member(decision) == ["arrays.boot", "arrays.data", "arrays.root"]
    (on_root,) = (each for each in decision.refusals if each.place == "arrays.root")
    assert "mdadm /dev/md/root --add" in str(on_root.figures["commands"])


def test_a_superblock_of_the_array_anywhere_else_is_a_member_that_is_away(stands: tuple[Path, State]) -> None:
    root, state = stands
    uuid = next(key for key, found in state.objects["array"].items() if found["name"] == "fresh:root")
    state.content["/dev/sdz1"] = [f"linux_raid_member {uuid}"]
    plan = replaced()
    before = deepcopy(state)
    world = Simulated(plan, root, state)
    assert without_a_member(decided(plan, root, state)) == ["arrays.root"]
    assert apply(plan, world) != "done" and not world.effects and state == before


def test_a_failed_member_is_removed_first(stands: tuple[Path, State]) -> None:
    root, state = stands
    found = array(state, "root")
    found["faulty"] = ["/dev/sdz3"]
    (reason,) = (each for each in decided(replaced(), root, state).refusals if each.place == "arrays.root")
    remove, add = reason.figures["commands"]  # type: ignore[misc]
    assert remove == "mdadm /dev/md/root --remove failed" and str(add).startswith("mdadm /dev/md/root --add ")


def test_a_disk_that_only_looks_blank_is_refused(stands: tuple[Path, State]) -> None:
    root, state = stands
    plan = replaced()
    state.content["{a1}"] = ["ext4 0b0b0b0b-1111-4222-8333-123456789abc"]
    world = Simulated(plan, root, state)
    said = apply(plan, world)
    assert "a1" in said and "ext4" in said and not world.effects


OTHERWISE: dict[str, tuple[Callable[[dict], None], str, Figures]] = {  # type: ignore[type-arg]
    "another member": (lambda found: found.update(members=["partition:x", "missing", found["members"][2]]), "member-missing", {}),
    "syncs": (lambda found: found.update(sync_action="reshape"), "syncing", {"action": "reshape"}),
    "read-only": (lambda found: found.update(state="readonly"), "state", {"state": "readonly"}),
    "a spare": (lambda found: found.update(spares=["/dev/sdz1"]), "member-missing", {}),
    "level": (lambda found: found.update(level="raid10"), "new-array", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_an_array_that_is_not_as_the_layout_says_is_left(name: str, stands: tuple[Path, State]) -> None:
    change, case, figures = OTHERWISE[name]
    root, state = stands
    change(array(state, "data"))
    world = Simulated(replaced(), root, state)
    found = [each for each in decided(world.plan, root, state).refusals if each.place == "arrays.data"]
    assert any(
        (each.code, each.case) == ("differs", case) and each.figures.items() >= figures.items()
        for each in found
    )
    assert apply(world.plan, world) != "done" and not world.effects


def test_what_waits_in_the_array_for_its_slot_is_not_taken_out(stands: tuple[Path, State]) -> None:
    """Between the end of mdadm and md's look at the array."""
    root, state = stands
    plan = replaced()
    assert apply(plan, Simulated(plan, root, state)) == "done"
    found = array(state, "root")
    waiting = found["members"][1]
    found |= {"members": [found["members"][0], "missing", found["members"][2]], "spares": [waiting]}
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"
    found["sync_action"] = "idle"
    (reason,) = decided(plan, root, state).refusals
    assert (reason.code, reason.case, reason.place) == ("differs", "rebuilt", "arrays.root")


def test_a_name_that_leads_to_another_array_by_now_gets_nothing(stands: tuple[Path, State]) -> None:
    root, state = stands
    world = Simulated(replaced(), root, state)
    world.array = lambda node: "0c0c0c0c-1111-4222-8333-123456789abc"  # type: ignore[method-assign]
    said = apply(world.plan, world)
    assert " is no longer the array " in said and not [each for each in world.executed if "--add" in each]


@pytest.mark.drawn(2)
@pytest.mark.slow
@pytest.mark.parametrize("takes_half", [False, True])
@pytest.mark.parametrize("text", [LAYOUT, BY_UEFI], ids=["bios", "uefi"])
def test_killed_at_every_effect_and_gone_on(
    text: str, takes_half: bool, tmp_path: Path, dice: Random | None
) -> None:
    root, state = booted(tmp_path / "once", text)
    lose(state, plan_of(text), "a1")
    plan = replaced(text)
    once = Simulated(plan, root, state)
    once.takes_half = takes_half
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(plan, once) == "done"
    wanted = settled(once)
    for point, left in kills.machines():
        world = Simulated(plan, left.root, left.state)
        assert apply(plan, world) in ("done", "nothing to do"), point
        assert apply(plan, Simulated(plan, left.root, left.state)) == "nothing to do", point
        assert settled(world) == wanted, point


def settled(world: Simulated) -> object:
    """What stands once all arrays have rebuilt."""
    rebuilt(world)
    return end(world)


def test_the_disk_of_before_in_an_interrupted_exchange_is_not_written_to(tmp_path: Path) -> None:
    """The run began to add a partition of the new disk; then the old one came back, with an old superblock."""
    root, state = booted(tmp_path, LAYOUT)
    whole = deepcopy(state)
    lose(state, plan_of(LAYOUT), "a1")
    plan = replaced()
    world = Simulated(plan, root, state)
    line = next(
        " ".join(step.action.argv)  # type: ignore[union-attr]
        for step in decided(plan, root, state).left.steps
        if step.id == "array.root.create+add"
    )
    world.lie = {line: "cut off"}
    assert apply(plan, world).startswith("stopped")
    for found, before in zip(arrays(state), arrays(whole), strict=True):
        found |= {"members": [before["members"][0], "missing", before["members"][2]], "degraded": 1}
        found |= {"spares": [], "sync_action": "idle", "sync_held": False}
    state.content = whole.content
    old = plan_of(LAYOUT)
    later = Simulated(old, root, state)
    assert without_a_member(decided(old, root, state)) == ["arrays.boot", "arrays.data", "arrays.root"]
    assert apply(old, later) != "done" and not later.effects


def test_what_an_open_run_made_and_that_is_gone_is_missed_but_on_a_new_disk(tmp_path: Path) -> None:
    root, state = booted(tmp_path, LAYOUT)
    lose(state, plan_of(LAYOUT), "a1")
    plan = replaced()
    world = Simulated(plan, root, state)
    line = next(
        " ".join(step.action.argv)  # type: ignore[union-attr]
        for step in plan.steps
        if step.id == "filesystem.scratch.mount"
    )
    world.lie = {line: "no effect", "grub-install": ""}
    assert "is gone" not in apply(plan, world) and read_past(root / "var/lib/raidplan").is_open
    scratch = next(key for key, found in state.objects["filesystem"].items() if found["device"].startswith("partition:"))  # fmt: skip
    made = state.objects["filesystem"].pop(scratch)
    state.content.pop(made["device"])
    missed = [(each.code, each.place) for each in decided(plan, root, state).refusals]
    assert ("gone", "filesystems.scratch") in missed
    lose(state, plan, "a1")
    once_more = plan_of(LAYOUT.replace("DISK-1-A", "DISK-1-C"))
    assert apply(once_more, Simulated(once_more, root, state)) == "done"
