"""Arrays that an apply made and whose superblocks are gone: nothing is written over them, and the command that brings them back is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decide.lost_superblocks import create_again, superblocks_lost
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.teardown.layers import STOPPED
from raidplan.base.identity import md_form
from raidplan.base.size import KIB, MIB
from raidplan.cli import OK, REFUSED
from raidplan.cli.adopt import _record
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact
from raidplan.plan.identities import PARTITION, identity_of
from raidplan.plan.step import Plan, Run, Step
from raidplan.render.refusals import refusal_text
from tests.apply import runs
from tests.apply.asleep import not_assembled, unchanged, wiping
from tests.apply.earlier import plan_of, set_to, standing
from tests.apply.runs import impatient
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
        f"--consistency-policy=bitmap --data-offset=3072K {nodes}"
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


def test_of_another_shape_or_on_other_disks_its_bytes_decide(tmp_path: Path) -> None:
    """The layout has another chunk now, which the array never had: so the command is to be compared first."""
    state, chunk = standing(tmp_path, tmp_path / "root"), set_to("arrays", "p", "chunk", "64KiB")
    lost(state, "p")
    (refusal,) = decided(tmp_path, state, chunk).refusals
    assert (refusal.code, refusal.case) == ("superblocks-lost", "changed")
    assert not [e for e in decided(tmp_path, state, chunk, left="").refusals if e.code == "superblocks-lost"]


def test_what_a_run_has_given_up_and_stopped_is_no_such_array(tmp_path: Path) -> None:
    state, plan = standing(tmp_path, tmp_path / "root"), plan_of(tmp_path)
    uuid, _ = lost(state, "p")
    past, machine = read_past(tmp_path / "root/var/lib/raidplan"), read(plan, tmp_path / "root", state)
    assert list(superblocks_lost(plan, machine, past))
    assert not list(superblocks_lost(plan, machine, replace(past, ended=frozenset({STOPPED.format(uuid)}))))
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
        again = create_again(step, members)
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
        (word,) = said(create_again(step, members), "--data-offset")
        return int(word.removeprefix("--data-offset=").removesuffix("K")) * KIB

    step = next(step for step in plan.steps if step.id == "array.p.create")
    assert [offset(step, size) for size in (1 << 30, 1 << 40)] == [2 * MIB, 129 * MIB]
