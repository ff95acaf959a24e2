"""Arrays that an apply made and whose superblocks are gone: nothing is written over them, and the command that brings them back is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decide.create_again import create_again, data_offset
from raidplan.apply.decide.lost_superblocks import superblocks_lost
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.base.identity import md_form
from raidplan.base.size import KIB, MIB
from raidplan.cli import OK, REFUSED
from raidplan.cli.adopt import _mark, _record
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact
from raidplan.facts.match import match
from raidplan.plan.identities import PARTITION, identity_of
from raidplan.plan.origin import id_of_stop
from raidplan.plan.step import Plan, Run, Step
from raidplan.render.refusals import refusal_text
from tests.apply import runs
from tests.apply.asleep import not_assembled, unchanged, wiping
from tests.apply.cut_off import cut
from tests.apply.earlier import IN_PLACE, plan_of, plan_of_text, set_to, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]

LEFT = "data that nothing here recognises from byte 8192 on"


def lost(state: State, name: str) -> tuple[str, list[str]]:
    """Somebody stopped the array and zeroed the superblock of every member; its UUID, and those."""
    (uuid,) = (u for u, found in state.objects["array"].items() if found["name"] == f"pair:{name}")
    not_assembled(state, name)
    devices = [each for each, words in state.content.items() if words == [f"linux_raid_member {uuid}"]]
    state.content |= {each: [] for each in devices}
    return uuid, devices


def read(plan: Plan, root: Path, state: State, left: str = LEFT) -> Machine:
    """With the partitions as block devices, on which those bytes stay."""
    rows = (
        row.split()
        for step in plan.steps
        if step.proof and step.proof.kind == "table"
        for row in step.proof.expect["partitions"]
    )  # type: ignore[union-attr]
    blocks = tuple(
        BlockFact(f"p{number}", f"partition:{uuid}", f"{PARTITION}{uuid}", "partition", int(size), content=(left,) if left else ())
        for number, (uuid, _, size, *_) in enumerate(rows)
    )  # fmt: skip
    return replace(Simulated(plan, root, state).read(plan), blocks=blocks)


def decided(
    folder: Path, state: State, change: Callable[..., None] = unchanged, left: str = LEFT
) -> Decision:
    plan, root = plan_of(folder, change), folder / "root"
    return decide(plan, read(plan, root, state, left), read_past(root / "var/lib/raidplan"), here=False)


@pytest.mark.parametrize("left", [LEFT, ""], ids=["bytes", "blank"])
@pytest.mark.parametrize("change", [unchanged, wiping])
def test_one_reason_says_which_command_brings_it_back(
    change: Callable[..., None], left: str, tmp_path: Path
) -> None:
    """Whatever may be wiped, and where a look at the ends of its members finds nothing."""
    state = standing(tmp_path, tmp_path / "root")
    uuid, devices = lost(state, "p")
    decision = decided(tmp_path, state, change, left)
    (refusal,) = decision.refusals
    assert refusal.code == "superblocks-lost" and refusal.place == "arrays.p" and refusal.line
    assert not decision.left.steps and "wipe" not in refusal_text(refusal) and refusal.case == ""
    nodes = " ".join(each.replace("partition:", PARTITION) for each in devices)
    assert refusal.figures["command"] == (
        "mdadm --create /dev/md/p --readonly --assume-clean --metadata=1.2 --homehost=pair --name=p "
        f"--uuid={md_form(uuid)} --level=raid5 --raid-devices=3 --chunk=512K --layout=left-symmetric --bitmap=internal "
        f"--consistency-policy=bitmap --size=2612224K --data-offset=3072K {nodes}"
    )


def test_a_mirror_with_one_superblock_left_is_assembled_and_not_made(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    uuid, devices = lost(state, "a")
    state.content[devices[0]] = [f"linux_raid_member {uuid}"]
    (refusal,) = decided(tmp_path, state).refusals
    assert (refusal.code, refusal.case) == ("not-started", "not-assembled-incomplete")


def test_a_stripe_with_too_few_superblocks_left_is_made_again(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    uuid, devices = lost(state, "p")
    state.content[devices[0]] = [f"linux_raid_member {uuid}"]
    assert [each.code for each in decided(tmp_path, state).refusals] == ["superblocks-lost"]
    state.content[devices[1]] = [f"linux_raid_member {uuid}"]
    assert [each.code for each in decided(tmp_path, state).refusals] == ["not-started"]


OTHERWISE = {
    "never applied": (set_to("arrays", "p", "chunk", "64KiB"), False),
    "bitmap": (set_to("arrays", "p", "bitmap", "none"), True),
    "spare": (IN_PLACE["spare"][0], True),
}
"""Layouts that have the array in another form, and whether that was applied."""


@pytest.mark.parametrize("left", [LEFT, ""], ids=["bytes", "blank"])
@pytest.mark.parametrize("case", OTHERWISE)
def test_in_another_form_its_command_is_to_be_compared_first(case: str, left: str, tmp_path: Path) -> None:
    state, (change, applied) = standing(tmp_path, tmp_path / "root"), OTHERWISE[case]
    if applied:
        plan = plan_of(tmp_path, change)
        assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "done"
    lost(state, "p")
    (refusal,) = decided(tmp_path, state, change, left).refusals
    assert refusal.code == "superblocks-lost"
    assert refusal.case == ("with-spares" if case == "spare" else "changed")


def test_on_other_disks_its_bytes_decide(tmp_path: Path) -> None:
    state, others = (
        standing(tmp_path, tmp_path / "root"),
        set_to("hardware", "disks", "d<0-3>", "serial", "NEW-<1>"),
    )
    lost(state, "p")
    codes = [[each.code for each in decided(tmp_path, state, others, left).refusals] for left in (LEFT, "")]
    assert "superblocks-lost" in codes[0] and "superblocks-lost" not in codes[1]


@pytest.mark.parametrize("knows_disks", [True, False], ids=["", "earlier journal"])
def test_whole_disks_are_known_by_their_serial_numbers(knows_disks: bool, tmp_path: Path) -> None:
    """Earlier journals have nothing of the disks alone: in another form of the array, its bytes decide there."""
    layout = "hardware: {{disks: {{d<0-1>: {{serial: S<1>, size: 4GiB}}}}}}\narrays: {{a: {{level: raid1, members: [d<0-1>], whole_disks: true, bitmap: {}}}}}\n"
    plan, later = (plan_of_text(layout.format(bitmap), tmp_path) for bitmap in ("internal", "none"))
    root = tmp_path / "root"
    state = machine(root)
    assert apply(plan, Simulated(plan, root, state)) == "done"
    state.objects["array"].clear()
    state.content.clear()
    past = read_past(root / "var/lib/raidplan")
    past = past if knows_disks else replace(past, below={})
    blocks = [BlockFact(f"d{n}", f"/dev/d{n}", f"/dev/d{n}", "disk", 4 << 30) for n in (0, 1)]
    there = replace(Simulated(later, root, state).read(later), blocks=tuple(blocks))
    found = decide(later, there, past, here=False).refusals
    assert [(each.code, each.case) for each in found] == [("superblocks-lost", "changed")] * knows_disks
    assert all(str(each.figures["command"]).endswith(" /dev/d0 /dev/d1") for each in found)


def test_what_udev_made_of_the_members_left_is_stopped_first(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    uuid, devices = lost(state, "p")
    state.content[devices[0]] = [f"linux_raid_member {uuid}"]
    state.objects["array"][uuid] = {
        "name": "pair:p", "node": "/dev/md127", "device": "md127", "links": [], "state": "inactive", "level": "", "size": 0,
        "members": [], "spares": [devices[0]],
    }  # fmt: skip
    (refusal,) = decided(tmp_path, state).refusals
    assert refusal.code == "superblocks-lost"
    assert str(refusal.figures["command"]).startswith(
        "mdadm --stop /dev/md127 && mdadm --create /dev/md/p --readonly "
    )


def test_an_array_that_was_adopted_is_one_of_ours(tmp_path: Path) -> None:
    plan, root = plan_of(tmp_path), tmp_path / "root"
    state = standing(tmp_path, root)
    shutil.rmtree(root / "var/lib/raidplan")
    world = Simulated(plan, root, state)
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    journal = open_journal(root / "var/lib/raidplan", world)
    _mark(journal, plan, match(plan.disks, world.read(plan))[0])
    _record(plan, named, journal)
    lost(state, "p")
    (refusal,) = decided(tmp_path, state, left="").refusals
    assert (refusal.code, refusal.case, refusal.place) == ("superblocks-lost", "changed", "arrays.p")


def test_what_a_run_has_given_up_and_stopped_is_no_such_array(tmp_path: Path) -> None:
    state, plan = standing(tmp_path, tmp_path / "root"), plan_of(tmp_path)
    uuid, _ = lost(state, "p")
    past, machine = read_past(tmp_path / "root/var/lib/raidplan"), read(plan, tmp_path / "root", state)
    assert list(superblocks_lost(plan, machine, past))
    assert not list(superblocks_lost(plan, machine, replace(past, ended=frozenset({id_of_stop(uuid)}))))
    assert not list(superblocks_lost(plan, machine, replace(past, begun=frozenset({"array.p.create"}))))
    assert not list(superblocks_lost(plan, machine, Past())), "no journal knows it"
    assert not list(superblocks_lost(plan, replace(machine, blocks=()), past)), "no device is there"


def test_a_person_who_gives_it_up_lets_the_journal_forget_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state, plan, root = standing(tmp_path, tmp_path / "root"), plan_of(tmp_path), tmp_path / "root"
    lost(state, "p")
    world, folder = Simulated(plan, root, state), root / "var/lib/raidplan"
    named = read(plan, root, state, "").named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    assert _record(plan, named, open_journal(folder, world), ["arrays.a"]) == REFUSED, "it stands"
    assert _record(plan, named, open_journal(folder, world), ["arrays.p"]) == OK
    assert "forgotten: arrays.p" in capsys.readouterr().err
    assert not decided(tmp_path, state, left="").refusals
    # bytes that nobody knows are still not written over
    assert {each.code for each in decided(tmp_path, state).refusals} == {"target-not-blank"}


def test_in_an_open_run_adopt_forgets_nothing_of_it(tmp_path: Path) -> None:
    """The arrays stand, and are used, while the run that made them was cut off later."""
    plan, root = plan_of(tmp_path), tmp_path / "root"
    state = cut(plan, root, "systemctl daemon-reload")
    lost(state, "p")
    world, folder = Simulated(plan, root, state), root / "var/lib/raidplan"
    there = read(plan, root, state, "")
    named = there.named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    before = read_past(folder).ended
    assert "array.p.create" in before
    assert _record(plan, named, open_journal(folder, world)) == REFUSED
    assert read_past(folder).ended == before
    assert [each.code for each in decide(plan, there, read_past(folder), here=False).refusals] == ["superblocks-lost"]  # fmt: skip


def test_a_spare_may_have_taken_any_slot(tmp_path: Path) -> None:
    """md rebuilds onto it without anybody's doing, and no journal hears of that."""
    state, plan = standing(tmp_path, tmp_path / "root"), plan_of(tmp_path)
    lost(state, "a")
    (found,) = decided(tmp_path, state).refusals
    (spare,) = (str(step.guard[2]) for step in plan.steps if step.id == "array.a.create")
    assert (found.code, found.case, found.figures["spares"]) == ("superblocks-lost", "with-spares", (spare,))
    assert str(found.figures["command"]).endswith(f" {spare}")


@pytest.mark.parametrize("example", runs.LAYOUTS)
def test_the_command_has_every_value_that_decides_where_data_lies(example: str) -> None:
    """Against the command that made it, and what is read back of an array of that geometry."""
    for step in runs.plan_of(example).steps:
        if step.proof is None or step.proof.kind != "array" or not step.creates:
            continue
        members = [
            BlockFact(f"m{n}", identity_of(node, {}), node, "partition", 900 * MIB)
            for n, node in enumerate(step.guard)
        ]
        again = create_again(step, members, data_offset(step, members, ()) or 0)
        assert isinstance(step.action, Run)
        for option in ("--metadata", "--uuid", "--level", "--raid-devices", "--chunk", "--layout"):
            assert said(step.action.argv, option) == said(again, option)
        assert {"--readonly", "--assume-clean"} <= {*again} and not {"--run", "--force", "--quiet"} & {*again}
        journal = step.proof.expect.get("journal")
        kept = [node for node in step.guard if identity_of(node, {}) != journal]
        assert [*again[-len(kept) :]] == kept, "in the same order"
        assert bool(said(again, "--data-offset")) == (step.proof.expect["metadata"] in ("1.1", "1.2"))


def said(argv: tuple[str, ...], option: str) -> list[str]:
    return [word for word in argv if word.startswith(f"{option}=")]


def test_the_data_offset_is_that_of_the_size_of_the_first_member(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)

    def offset(step: Step, size: int) -> int:
        members = [BlockFact(f"m{n}", node, node, "partition", size) for n, node in enumerate(step.guard)]
        (word,) = said(create_again(step, members, data_offset(step, members, ()) or 0), "--data-offset")
        return int(word.removeprefix("--data-offset=").removesuffix("K")) * KIB

    step = next(step for step in plan.steps if step.id == "array.p.create")
    assert [offset(step, size) for size in (1 << 30, 1 << 40)] == [2 * MIB, 129 * MIB]
