"""Disks that lost their partition tables, on which an apply made arrays: nothing is written over them, and the tables come back first."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.decide.lost_tables import tables_lost
from raidplan.apply.decision import Decision, decide, with_devices
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.stages.matching import asked_for, match_disks, match_journal
from raidplan.base.size import MIB
from raidplan.cli import OK, REFUSED
from raidplan.cli.adopt import _record
from raidplan.facts import Machine
from raidplan.facts.machine import PartitionFact, Trace
from raidplan.plan.origin import id_of_stop
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text
from tests.apply.asleep import not_assembled, unchanged, wiping
from tests.apply.cut_off import cut
from tests.apply.earlier import IN_PLACE, plan_of, plan_of_text, set_to, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State
from tests.images import tool

__all__ = ["impatient"]

SERIAL = ("hardware", "disks", "d<0-3>", "serial")
OF = {
    "d0": ("arrays.a", "arrays.b", "arrays.p"),
    "d1": ("arrays.a", "arrays.b", "arrays.p"),
    "d2": ("arrays.a", "arrays.p"),
}
"""The arrays on each disk; d3 has none."""


def zap(state: State, *disks: str) -> None:
    """`mdadm --zero-superblock` and `sgdisk --zap-all`; of no disk, of all."""
    for name in ("a", "b", "p"):
        not_assembled(state, name)
    for kind in ("volume", "volume_group", "physical_volume"):
        state.objects[kind].clear()
    tables = state.objects["table"]
    state.objects["table"] = {
        uuid: found for uuid, found in tables.items() if disks and found["disk"] not in {f"{{{each}}}" for each in disks}
    }  # fmt: skip
    state.content.clear()


@pytest.fixture
def zapped(tmp_path: Path) -> State:
    state = standing(tmp_path, tmp_path / "root")
    zap(state)
    return state


def decided(folder: Path, state: State, change: Callable[..., None] = unchanged) -> Decision:
    plan, root = plan_of(folder, change), folder / "root"
    return decide(plan, Simulated(plan, root, state).read(plan), read_past(root / "var/lib/raidplan"), here=False)  # fmt: skip


@pytest.mark.parametrize("case", ["spare", "no bitmap"])
def test_an_array_that_was_changed_since_is_one_of_ours(case: str, tmp_path: Path) -> None:
    state, change = standing(tmp_path, tmp_path / "root"), IN_PLACE[case][0]
    plan = plan_of(tmp_path, change)
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "done"
    zap(state)
    decision = decided(tmp_path, state, change)
    assert not decision.left.steps and not decision.left.lost
    more = {"d3": ("arrays.p",)} if case == "spare" else {}
    assert {each.place: each.figures["arrays"] for each in decision.refusals} == OF | more


def test_a_disk_that_was_exchanged_since_is_one_of_ours(tmp_path: Path) -> None:
    disks = ", ".join(
        f"d{n}: {{serial: S{n}, size: 4GiB, partitions: {{p: {{size: 1GiB, type: raid}}}}}}" for n in (0, 1)
    )
    layout = f"hardware: {{disks: {{{disks}}}}}\narrays: {{a: {{level: raid1, members: [d0.p, d1.p]}}}}\n"
    plan, later = plan_of_text(layout, tmp_path), plan_of_text(layout.replace("S1", "S2"), tmp_path)
    state, root = machine(tmp_path / "root"), tmp_path / "root"
    assert apply(plan, Simulated(plan, root, state)) == "done"
    (found,) = state.objects["array"].values()
    state.content.pop(found["members"].pop())
    found |= {"members": [*found["members"], "missing"], "degraded": 1, "sync_action": "idle"}
    state.content.pop("{d1}", None)
    state.objects["table"] = {
        uuid: table for uuid, table in state.objects["table"].items() if table["disk"] == "{d0}"
    }
    world = Simulated(later, root, state)
    assert apply(later, world) == "done"
    assert any(
        line.startswith("mdadm") and "/dev/md/a" in line and "--add" in line for line in world.executed
    ), world.executed
    for kind in ("array", "table"):
        state.objects[kind].clear()
    state.content.clear()
    past = read_past(root / "var/lib/raidplan")
    refusals = decide(later, Simulated(later, root, state).read(later), past, here=False).refusals
    assert {(each.code, each.case, each.place) for each in refusals} == {
        ("superblocks-lost", "table", disk) for disk in ("d0", "d1")
    }


@pytest.mark.parametrize("change", [unchanged, wiping])
def test_one_reason_for_each_disk_says_which_command_writes_its_table(
    change: Callable[..., None], zapped: State, tmp_path: Path
) -> None:
    decision = decided(tmp_path, zapped, change)
    assert not decision.left.steps and not decision.left.lost
    assert {each.place: each.figures["arrays"] for each in decision.refusals} == OF
    assert {(each.code, each.case) for each in decision.refusals} == {("superblocks-lost", "table")}
    forget = " --forget ".join(("adopt LAYOUT", *OF["d0"]))
    assert forget in refusal_text(decision.refusals[0])


def test_the_command_writes_the_table_of_then_and_no_data(zapped: State, tmp_path: Path) -> None:
    disk, text = tmp_path / "disk", "Somebody's data."
    with disk.open("wb") as made:
        made.truncate(4 << 30)
        made.seek(MIB)
        made.write(text.encode() * (MIB // len(text)))
    command = str(decided(tmp_path, zapped).refusals[0].figures["command"])
    assert command.endswith(" /dev/d0")
    subprocess.run(["sh", "-c", command.replace("/dev/d0", str(disk))], check=True)
    dump = tool("sfdisk", "--dump", disk).lower()
    table = next(step for step in plan_of(tmp_path).steps if step.id == "disk.d0.partition")
    assert table.proof and f"label-id: {table.proof.key}" in dump
    for row in table.proof.expect["partitions"]:  # type: ignore[union-attr]
        uuid, start, size, *_ = str(row).split()
        (line,) = (line for line in dump.splitlines() if uuid in line)
        assert f"start={int(start) // 512:>12}, size={int(size) // 512:>12}," in line
    with disk.open("rb") as made:
        made.seek(MIB)
        assert made.read(MIB) == text.encode() * (MIB // len(text)) + bytes(MIB % len(text))


def test_of_a_layout_with_another_table_the_kept_plan_has_the_one_of_then(
    zapped: State, tmp_path: Path
) -> None:
    other = set_to("hardware", "disks", "d<0-3>", "partitions", "swap", "size", "256MiB")
    refusals = decided(tmp_path, zapped, other).refusals
    assert {(each.code, each.case) for each in refusals} == {("superblocks-lost", "other-table")}
    kept = tmp_path / "root/var/lib/raidplan/plan.json"
    assert refusals[0].figures["file"] == str(kept) and refusals[0].figures["step"] == "disk.d0.partition"
    assert '"disk.d0.partition"' in kept.read_text()


def test_enough_members_that_are_left_are_no_such_array(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    content = dict(state.content)
    zap(state, "d0")
    members = {name: words for name, words in content.items() if any("raid_member" in word for word in words)}
    gone = {row.split()[0] for found in state.objects["table"].values() for row in found["partitions"]}
    state.content |= {name: words for name, words in members.items() if name.partition(":")[2] in gone}
    assert {each.code for each in decided(tmp_path, state).refusals} == {"not-started"}


def others(data: dict[str, Any]) -> None:
    set_to(*SERIAL, "NEW-<1>")(data)


def test_new_disks_in_the_place_of_all_are_made_anew(zapped: State, tmp_path: Path) -> None:
    decision = decided(tmp_path, zapped, others)
    assert not decision.refusals and "disk.d0.partition" in {step.id for step in decision.left.steps}


def test_disks_that_cannot_be_told_from_new_ones_are_made_anew(tmp_path: Path) -> None:
    """Loop devices of test machines have neither a serial number nor a WWN."""
    plan, root = plan_of(tmp_path), tmp_path / "root"
    plan = with_devices(plan, {disk.name: f"/dev/{disk.name}" for disk in plan.disks})
    state = machine(root)
    assert apply(plan, Simulated(plan, root, state)) == "done"
    zap(state)
    past = read_past(root / "var/lib/raidplan")
    decision = decide(plan, Simulated(plan, root, state).read(plan), past, here=False)
    assert not decision.refusals and decision.left.steps


def found(plan: Plan, read: Machine, past: Past) -> list[str]:
    asked = asked_for(plan)
    matched = match_disks(asked, read)
    past = match_journal(asked, matched, past)
    return [each.place for each in tables_lost(plan, matched.machine, matched.disks, past)]


def test_what_was_given_up_or_is_used_otherwise_is_no_such_disk(zapped: State, tmp_path: Path) -> None:
    plan, past = plan_of(tmp_path), read_past(tmp_path / "root/var/lib/raidplan")
    there = Simulated(plan, tmp_path / "root", zapped).read(plan)
    keys = [step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array"]
    stopped = frozenset(map(id_of_stop, keys))
    assert found(plan, there, past) == [*OF]
    assert not found(plan, there, replace(past, is_open=True, ended=stopped)), "a run takes them apart"
    assert not found(plan, there, Past()), "no journal knows them"
    makers = frozenset(step.id for step in plan.steps if step.id.startswith("array."))
    assert not found(plan, there, replace(past, is_open=True, begun=makers, marks=past.standing)), (
        "a run is making them"
    )
    assert not found(plan, there, replace(past, is_open=True, ended=makers, marks=past.standing)), (
        "the open run made them"
    )
    part = PartitionFact("/dev/d0p1", "somebodys", "", MIB, MIB)
    for case, first in (
        ("other partitions", {"partitions": (part,)}),
        ("a file system on the disk", {"traces": (Trace(0x438, "ext4"),)}),
        ("a disk that cannot be read", {"traces": (Trace(0, "unreadable"),)}),
    ):
        disks = tuple(replace(each, **first) if each.node == "/dev/d0" else each for each in there.disks)
        assert found(plan, replace(there, disks=disks), past) == ["d1", "d2"], case
    for case, first in (
        ("old bytes", {"traces": (Trace(7 * MIB, "data"), Trace(5 * MIB, "linux_raid_member", where="future"))}),
        ("a table without partitions", {"traces": (Trace(512, "gpt"),)}),
        ("partitions that only the kernel has", {"partitions": (replace(part, uuid=""),)}),
    ):  # fmt: skip
        disks = tuple(replace(each, **first) if each.node == "/dev/d0" else each for each in there.disks)
        assert found(plan, replace(there, disks=disks), past) == [*OF], case


def test_a_person_who_gives_them_up_lets_the_journal_forget_them(zapped: State, tmp_path: Path) -> None:
    plan, root = plan_of(tmp_path), tmp_path / "root"
    world, folder = Simulated(plan, root, zapped), root / "var/lib/raidplan"
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    assert _record(plan, named, open_journal(folder, world), ["arrays.a", "arrays.b"]) == REFUSED, "p is left"
    assert {each.figures["arrays"] for each in decided(tmp_path, zapped).refusals} == {("arrays.p",)}
    assert _record(plan, named, open_journal(folder, world), ["arrays.p"]) == OK
    assert not decided(tmp_path, zapped).refusals
    assert apply(plan, Simulated(plan, root, zapped)) == "done"


def test_in_an_open_run_adopt_forgets_nothing_of_them(tmp_path: Path) -> None:
    """The arrays stand, and are used, while the run that made them was cut off later."""
    plan, root = plan_of(tmp_path), tmp_path / "root"
    state = cut(plan, root, "systemctl daemon-reload")
    zap(state)
    world, folder = Simulated(plan, root, state), root / "var/lib/raidplan"
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    before = read_past(folder).ended
    assert "disk.d0.partition" in before
    assert _record(plan, named, open_journal(folder, world)) == REFUSED
    assert read_past(folder).ended == before
    assert _record(plan, named, open_journal(folder, world), ["arrays.a", "arrays.b", "arrays.p"]) == OK
    assert apply(plan, Simulated(plan, root, state)) == "done"
