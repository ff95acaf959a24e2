"""Mounts that the layout wants otherwise: the way that is named ends in a machine as planned, also where nobody can unmount."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.change.obsolete import Mounted
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.plan.places import RUNS_FROM
from raidplan.plan.step import Plan
from raidplan.render.obsolete import obsolete_text
from raidplan.render.refusals import refusal_text
from tests.apply.new_disk import LAYOUT, TARGET, booted, plan_of
from tests.apply.runs import apply, impatient
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]

AT = {
    "/": "root: {device: root, type: ext4, mount: /}",
    "/usr": "scratch: {device: a1.own, type: ext4, mount: /usr}",
    "/var": "scratch: {device: a1.own, type: ext4, mount: /var}",
    "/boot": "boot: {device: boot, type: ext4, mount: /boot}",
    "/srv": "data: {device: data, type: ext4, mount: /srv}",
}


def layout(point: str, options: str = "") -> str:
    """With a file system at the point; in `/scratch` of the layout where it has none there."""
    text = LAYOUT.replace("mount: /scratch}", f"mount: {point}}}") if point in ("/usr", "/var") else LAYOUT
    assert AT[point] in text
    return text.replace(AT[point], AT[point].replace("}", f", options: [{options}]}}")) if options else text


def decided(plan: Plan, root: Path, state: State) -> Decision:
    world = Simulated(plan, root, state)
    return decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False)


@pytest.mark.parametrize("options", ["errors=remount-ro", "commit=60", "discard"])
@pytest.mark.parametrize(
    ("point", "case"),
    [("/", "options-remounted"), ("/usr", "options-remounted"), ("/var", "options-at-boot")],
)
def test_other_options_of_what_the_system_runs_from_are_written_by_hand(
    point: str, case: str, options: str, tmp_path: Path
) -> None:
    root, state = booted(tmp_path, layout(point))
    plan = plan_of(layout(point, options))
    (found,) = decided(plan, root, state).refusals
    assert (found.code, found.case, found.place) == ("mount-conflict", case, "/etc/fstab")
    if case == "options-remounted":
        command = f"mount --options-source=disable -o remount,{found.figures['options']} {point}"
        assert found.figures["command"] == command
    assert "umount" not in refusal_text(found)
    fstab = root / "etc/fstab"
    (line,) = (line for line in fstab.read_text().splitlines() if f" {point} " in line)
    before, _, after = line.partition(" ext4 ")
    by_hand = f"{before} ext4 {found.figures['options']}{after[after.index(' ') :]}"
    fstab.write_text(fstab.read_text().replace(line, by_hand))
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"


@pytest.mark.parametrize("point", ["/boot", "/srv"])
def test_other_options_of_all_else_come_with_another_mount(point: str, tmp_path: Path) -> None:
    root, state = booted(tmp_path, layout(point))
    plan = plan_of(layout(point, "commit=60"))
    (found,) = decided(plan, root, state).refusals
    assert (found.case, found.figures["mounted"]) == ("options", point)
    del state.objects["mount"][point]
    assert apply(plan, Simulated(plan, root, state)) == "done"
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"


@pytest.mark.parametrize(("point", "where"), [("/", TARGET), ("/srv", f"{TARGET}/srv")])
def test_a_rescue_system_is_told_where_it_has_the_mount(point: str, where: str, tmp_path: Path) -> None:
    _, state = booted(tmp_path, layout(point))
    (found,) = decided(plan_of(layout(point, "commit=60"), TARGET), tmp_path, state).refusals
    assert found.place == f"{TARGET}/etc/fstab"
    words = str(found.figures.get("command", found.figures.get("mounted"))).split()
    assert words[-1] == where


def test_what_the_system_runs_from_is_moved_in_a_rescue_system(tmp_path: Path) -> None:
    root, state = booted(tmp_path, layout("/usr"))
    moved = layout("/usr").replace("mount: /usr}", "mount: /own}")
    here = plan_of(moved)
    assert [(each.code, each.case) for each in decided(here, root, state).refusals] == [
        ("mount-conflict", "point-in-use")
    ]
    there = plan_of(moved, TARGET)
    (found,) = decided(there, tmp_path, state).refusals
    assert (found.case, found.figures["now"]) == ("point", f"{TARGET}/usr")
    del state.objects["mount"]["/usr"]
    assert apply(there, Simulated(there, tmp_path, state)) == "done"


@pytest.mark.parametrize("point", sorted(RUNS_FROM))
def test_nobody_is_told_to_unmount_what_the_system_runs_from(point: str) -> None:
    assert {"/", "/usr", "/var"} <= RUNS_FROM
    assert "umount" not in obsolete_text(Mounted(point)) and "umount" in obsolete_text(
        Mounted(f"/mnt{point}")
    )


def test_a_mount_that_left_the_layout_is_named_as_the_rescue_system_has_it(tmp_path: Path) -> None:
    _, state = booted(tmp_path, LAYOUT)
    gone = LAYOUT.replace("  scratch: {device: a1.own, type: ext4, mount: /scratch}\n", "")
    found = decided(plan_of(gone, TARGET), tmp_path, state).obsolete
    assert Mounted(f"{TARGET}/scratch") in found
