"""What was there before is proven blank at every place, also where libblkid is silent; what our own run made is not doubted."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decide.stale_signatures import with_old_bytes
from raidplan.apply.decision import Decision, decide, with_devices
from raidplan.apply.devices.guard import not_blank
from raidplan.apply.execute import execute
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks
from raidplan.apply.reading import read_for
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.world import World
from raidplan.facts.device_stack import Stack
from raidplan.facts.match import match
from raidplan.facts.uses import Use
from raidplan.plan.identities import PARTITION
from raidplan.plan.step import Plan, Run
from raidplan.render.losses import loss_texts
from tests.apply.sentences import failures, sentences, words_of
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import GROUP, LAYOUT, Box, decided, order, plan_of
from tests.images import MIB, put, tool

CAREFUL = LAYOUT.replace(", wipe: true", "")
DATA = "data that nothing here recognises from byte 4096 on"


def made_before(plan: Plan, content: tuple[str, ...] = (DATA,), begins: int = 4096) -> tuple[Box, Past]:
    """The array of an earlier apply, whose layout had no file system yet; `content` as it was read since."""
    box = Box()
    for disk, name, serial in (("sdb", "d0", "PAIR-0"), ("sdc", "d1", "PAIR-1")):
        table = next(step for step in plan.steps if step.new_partitions and step.targets[0] == name)
        assert table.proof
        ((start, size),) = table.new_partitions
        box.disk(disk, serial).partition(disk, 1, start, size, table.awaits[0].removeprefix(PARTITION))
        box.put("table", table.proof.key, partitions=table.proof.expect["partitions"], disk=f"/dev/{disk}")
    array = next(step.proof for step in plan.steps if step.proof and step.proof.kind == "array")
    box.array("md127", "sdb1", "sdc1", uuid=array.key)
    box.objects["array"][array.key] |= {**array.expect, "node": "/dev/md127"}
    box.blocks["md127"] = replace(box.blocks["md127"], content=content, unknown_from=begins)
    finished = (step for step in plan.steps if not step.id.startswith("filesystem."))
    return box, Past(frozenset(f"{s.proof.kind}:{s.proof.key}" for s in finished if s.proof and s.creates))


def linked(box: Box, plan: Plan, name: str) -> Box:
    """What udev calls its array below /dev/md."""
    uuid = next(step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array")
    box.objects["array"][uuid] |= {"device": "md127", "links": [name]}
    return box


def interrupted(plan: Plan, past: Past, box: Box) -> Past:
    ended = frozenset(step.id for step in plan.steps if step.id.startswith(("disk.", "array.", "prepare.")))
    marked = marks(plan, match(plan.disks, box.machine())[0])
    return replace(past, is_open=True, ended=ended, marks=marked)


def refused(decision: Decision) -> list[Refusal]:
    return [each for each in decision.refusals if each.code in ("target-not-blank", "disk-not-blank")]


def on_array(found: str) -> Refusal:
    """The refusal of the array, which has something on it."""
    return refusal("target-not-blank", place="/dev/md/data", found=(found,))


def test_data_on_an_array_is_not_written_over(tmp_path: Path) -> None:
    plan = plan_of(CAREFUL, tmp_path)
    box, past = made_before(plan)
    assert refused(decided(plan, box, past)) == [on_array(DATA)]
    # Nor is it where the run that made it is not closed: a person can use it in the meantime.
    assert refused(decided(plan, box, interrupted(plan, past, box))) == [on_array(DATA)]
    blank, past = made_before(plan, ())
    decision = decided(plan, blank, past)
    assert (decision.refusals, decision.overwrites) == ((), frozenset({"/dev/md/data"}))


def test_what_stands_on_an_array_is_seen_whatever_its_name_is_now(tmp_path: Path) -> None:
    """There is no /dev/md/data yet: a boot has assembled it as md127, and the plan is to give it its name."""
    plan = plan_of(CAREFUL, tmp_path)
    for add, words in (
        (lambda box: box.filesystem("md127"), "ext4 'photos'"),
        (lambda box: box.use("md127", "mounted at /mnt"), "mounted at /mnt"),
        (lambda box: box.group("gold", "md127").volume("dm-0", "gold", "vault", "md127"), "held by the volume gold/vault"),
    ):  # fmt: skip
        for name in ("127", "data"):
            box, past = made_before(plan, ())
            add(linked(box, plan, name))
            assert refused(decided(plan, box, past)) == [on_array(words)]


def test_what_this_layout_made_on_it_is_no_reason(tmp_path: Path) -> None:
    plan = plan_of(CAREFUL, tmp_path)
    box, past = made_before(plan, ())
    linked(box, plan, "127")
    made = next(step.proof for step in plan.steps if step.id == "filesystem.data.make")
    assert made
    box.filesystem("md127", made.key, label="")
    box.put("filesystem", made.key, **made.expect)
    decision = decided(plan, box, replace(past, made=past.made | {f"filesystem:{made.key}"}))
    assert decision.refusals == () and not [step for step in decision.left.steps if step.creates]
    assert "array.data.create+name.link" in {step.id for step in decision.left.steps}


def test_an_array_has_its_name_before_what_stands_on_it_is_cleared(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    box, past = made_before(plan, ())
    linked(box, plan, "127").group("gold", "md127").volume("dm-0", "gold", "vault", "md127").filesystem(
        "dm-0"
    )
    decision = decided(plan, box, past)
    assert decision.refusals == ()
    assert any("ext4 'photos'" in words for words in loss_texts(decision.left.lost))
    gone, steps = f"teardown.group.{GROUP}.remove", {step.id: step for step in decision.left.steps}
    assert gone in steps
    assert "array.data.create+name.link" in steps["teardown.data.zero"].needs
    assert order(decision.left) and "teardown.settle" in steps["filesystem.data.make"].needs


def test_where_the_layout_says_so_it_is_named_and_cleared(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    box, past = made_before(plan)
    decision = decided(plan, box, past)
    assert decision.refusals == ()
    assert [words.partition(", ")[0] for words in loss_texts(decision.left.lost)] == [DATA]
    assert "teardown.data.zero" in {step.id for step in decision.left.steps}
    assert decision.overwrites == frozenset(), "it is cleared, at its ends, by this plan itself"


def test_what_shows_through_in_what_this_run_made_is_no_data(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    box, past = made_before(plan)
    past = replace(interrupted(plan, past, box), begun=frozenset({"teardown.d0.zero"}))
    decision = decided(plan, box, past)
    assert (sentences(decision.refusals), decision.left.lost, decision.overwrites) == ((), (), frozenset())
    # What libblkid knows is another matter, whoever made the array.
    box.filesystem("md127")
    assert decided(plan, box, past).left.lost


def test_what_shows_through_disks_that_were_blank_is_of_somebody(tmp_path: Path) -> None:
    """The layout would have them wiped, but there was nothing to wipe: whatever stands there has come since."""
    plan = plan_of(LAYOUT, tmp_path)
    deep = f"data that nothing here recognises from byte {100 * MIB} on"
    for content, begins in ((DATA, 4096), (deep, 100 * MIB)):
        box, past = made_before(plan, (content,), begins)
        decision = decided(plan, box, interrupted(plan, past, box))
        assert [words.partition(", ")[0] for words in loss_texts(decision.left.lost)] == [content]
        assert decision.refusals == ()
    blank, past = made_before(plan, ())
    decision = decided(plan, blank, interrupted(plan, past, blank))
    assert (decision.left.lost, decision.overwrites) == ((), frozenset({"/dev/md/data"}))


def test_bytes_are_old_on_what_was_cleared_on_what_stands_on_it_and_where_md_may_have_copied_them(
    tmp_path: Path,
) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    box, past = made_before(plan, ())
    past = replace(interrupted(plan, past, box), begun=frozenset({"teardown.d0.zero"}))
    disks = match(plan.disks, box.machine())[0]

    def old(past: Past, plan: Plan = plan) -> set[str]:
        return {*with_old_bytes(plan, Stack(box.machine(), disks), past)}

    assert old(past) == {"sdb", "sdb1", "md127"}
    assert old(replace(past, begun=past.begun | {"array.data.create"})) == {"sdb", "sdb1", "sdc1", "md127"}
    assert old(replace(past, begun=frozenset())) == set()
    # The same id, of another device: of a volume with the name of that disk, or of the disk that was there before.
    of_another = replace(past, marks={**past.marks, "teardown.d0.zero": {"/dev/kv/d0": "a"}})
    assert old(of_another) == set()
    assert old(replace(of_another, ours={"teardown.d0.zero": frozenset({"{d0}"})})) == {
        "sdb",
        "sdb1",
        "md127",
    }
    assert old(past, plan_of(CAREFUL, tmp_path)) == set()


def test_what_stands_where_this_run_has_cleared_is_of_somebody_else(tmp_path: Path) -> None:
    """Cut off between mdadm and mkfs, and used in between without a signature, as plain dm-crypt does."""
    plan = plan_of(LAYOUT, tmp_path)
    deep = f"data that nothing here recognises from byte {100 * MIB} on"
    for content, begins, wanted in (
        (DATA, 4096, [DATA]),
        (deep, 100 * MIB, []),
        ("cannot be read", -1, ["cannot be read"]),
    ):
        box, past = made_before(plan, (content,), begins)
        past = interrupted(plan, past, box)
        past = replace(past, ended=past.ended | {"teardown.d0.zero", "ghosts.data"})
        decision = decided(plan, box, past)
        assert [words.partition(", ")[0] for words in loss_texts(decision.left.lost)] == wanted
        assert decision.refusals == ()


def test_what_stands_at_the_end_of_a_partition_whose_place_this_run_has_cleared_is_of_somebody_else(
    tmp_path: Path,
) -> None:
    """Cut off between sfdisk and mdadm. Where the disk was blank, nothing was cleared, and all has come since."""
    plan = plan_of(LAYOUT.replace("wipe: true", "wipe: true, partitions: {s0: {size: 900GB}}").replace("members: [d<0-1>]", "members: [d<0-1>.s0]"), tmp_path)  # fmt: skip
    deep = f"data that nothing here recognises from byte {100 * MIB} on"
    for content, begins, cleared, wanted in (
        (DATA, 4096, True, [DATA]),
        (deep, 100 * MIB, True, []),
        (DATA, 4096, False, [DATA]),
        (deep, 100 * MIB, False, [deep]),
    ):
        box, past = made_before(plan, ())
        del box.blocks["md127"], box.objects["array"]
        for name in ("sdb", "sdc"):
            box.disks[name] = replace(box.disks[name], users=())
        box.blocks["sdb1"] = replace(box.blocks["sdb1"], content=(content,), unknown_from=begins)
        made = Past(frozenset(each for each in past.made if each.startswith("table:")))
        past = interrupted(plan, made, box)
        tables = frozenset(step for step in past.ended if not step.startswith("array."))
        past = replace(past, ended=tables | ({"teardown.d0.zero"} if cleared else set()))
        decision = decided(plan, box, past)
        assert [words.partition(", ")[0] for words in loss_texts(decision.left.lost)] == wanted
        assert decision.refusals == ()


def test_right_before_a_step_old_devices_are_read_and_new_ones_are_asked_about(tmp_path: Path) -> None:
    asked: dict[str, bool] = {}

    class Asked(Simulated):
        def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
            asked.update(dict.fromkeys(devices, everywhere))
            return []

    plan = plan_of(CAREFUL, tmp_path)
    blank = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")
    decision = decided(plan, blank)
    assert decision.overwrites == {"{d0}", "{d1}"}
    world = Asked(plan, tmp_path / "root", State())
    world.path("/etc").mkdir(parents=True)
    steps = tuple(replace(step, needs=()) for step in decision.left.steps if step.guard)
    disks = {
        name: replace(disk, node=f"/dev/{name}", kernel_name=name, instance="")
        for name, disk in decision.disks.items()
    }
    world.state.nodes |= {node for step in plan.steps for node in (*step.awaits, "/dev/d0", "/dev/d1")}
    only = replace(decision.left, steps=steps)
    done = execute(only, disks, lambda event: None, Nothing(), world, overwrites=decision.overwrites)
    assert not done.failed, done.failed
    assert {device for device, everywhere in asked.items() if everywhere} == {"/dev/d0", "/dev/d1"}
    assert len(asked) == 5 and not asked["/dev/md/data"]


class Nothing:
    """A record that keeps nothing."""

    def record_intent(self, step: str, sectors: bytes = b"", *, erased: bool = False) -> None: ...
    def record_end(self, step: str, seconds: float, made: str = "") -> None: ...
    def record_failure(self, step: str, message: str) -> None: ...
    def record_refusal(self, step: str, message: str) -> None: ...


PARTITIONED = """\
version: 1
host: testhost
hardware:
  disks:
    d0: {serial: ZZTOP12345, size: 64MiB, partitions: {data: {size: rest}}}
"""
FORMATTED = PARTITIONED + "filesystems:\n  data: {device: d0.data, type: ext4, mount: /srv/zz-data, label: zzdata}\n"  # fmt: skip


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A loop device that an earlier apply partitioned, and the partition's link."""
    if os.geteuid() != 0:
        pytest.skip("needs root for loop devices")
    file = tmp_path / "disk"
    with file.open("wb") as made:
        made.truncate(64 * MIB)
    node = tool("losetup", "--find", "--show", "--partscan", file).strip()
    plan = plan_of(PARTITIONED, tmp_path)
    make = next(step for step in plan.steps if step.new_partitions)
    link = Path(make.awaits[0])
    link.parent.mkdir(parents=True, exist_ok=True)
    try:
        assert isinstance(make.action, Run)
        tool("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", node, stdin=make.action.stdin)
        subprocess.run(["partx", "--add", node], capture_output=True, check=False)
        if not Path(f"{node}p1").exists():
            pytest.skip("this kernel shows no partitions of loop devices")
        if link.resolve() != Path(f"{node}p1"):
            link.unlink(missing_ok=True)  # of a run of this test that was killed
            link.symlink_to(f"{node}p1")
        yield node, str(link)
    finally:
        link.unlink(missing_ok=True)
        subprocess.run(["partx", "--delete", node], capture_output=True, check=False)
        tool("losetup", "--detach", node)


@pytest.mark.root
def test_raw_bytes_on_an_old_partition_are_seen_before_and_at_the_last_moment(disk: tuple[str, str], tmp_path: Path) -> None:  # fmt: skip
    node, link = disk
    plan = with_devices(plan_of(FORMATTED, tmp_path), {"d0": node})
    table = next(step.proof for step in plan.steps if step.new_partitions)
    past = Past(frozenset({f"table:{table.key}"})) if table else Past()
    before = decide(plan, read_for(plan), past)
    assert refused(before) == [] and before.overwrites == {link}
    assert words_of(not_blank(link, everywhere=True)) == []

    put(Path(f"{node}p1"), 0, random.Random(4).randbytes(8 * MIB))
    what = "data that nothing here recognises from byte 0 on"
    used = refusal("target-not-blank", place=link, found=(what,))
    assert refused(decide(plan, read_for(plan), past)) == [used]
    assert words_of(not_blank(link, everywhere=False)) == []  # libblkid knows nothing of it

    # What was decided before those bytes came is not done either.
    class Careful(World):
        def run(self, argv, stdin=""):  # type: ignore[no-untyped-def]
            pytest.fail(f"{argv} was run")

    make = next(step for step in before.left.steps if step.creates)
    only = replace(before.left, steps=(make.among(()),))
    outcome = execute(only, before.disks, lambda event: None, Nothing(), Careful(), overwrites=before.overwrites)  # fmt: skip
    assert failures(outcome) == {make.id: f"not done, because {link} is not blank: {what}"}
