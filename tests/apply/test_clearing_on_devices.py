"""Real signatures on loop devices, cleared as the plan says; the disk beside them keeps every byte."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.decision import Decision, with_devices
from raidplan.apply.devices import zero
from raidplan.apply.execute import execute
from raidplan.apply.refusal import refusal
from raidplan.facts import in_use
from raidplan.facts.failure import Failed
from raidplan.plan.loss import loss
from raidplan.plan.step import Plan, Zero
from raidplan.render.losses import loss_texts
from tests.apply.loop_devices import LAYOUT, SIZE, Here, Loops, decided, nothing_left, opened
from tests.apply.sentences import not_cleared, sentences, words_of
from tests.apply.stacks import plan_of
from tests.apply.uses import uses_of
from tests.images import MIB, PLACES, image, member, put, superblock, tool

pytestmark = [
    pytest.mark.in_turn(8),
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices"),
]
GPT = "label: gpt\nsize=100MiB,type=raid\nsize=64MiB\n"


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[Loops]:
    made = Loops(tmp_path)
    yield made
    assert made.hash(2) == made.before, "the decoy was written to"
    made.close()


@pytest.fixture
def plan(tmp_path: Path, loops: Loops) -> Plan:
    return with_devices(plan_of(LAYOUT, tmp_path), {"d0": loops.nodes[0], "d1": loops.nodes[1]})


SMALL = 12 * MIB


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A file and the loop device over it, every byte of which can be compared."""
    file = image(tmp_path, SMALL)
    node = tool("losetup", "--find", "--show", file).strip()
    yield file, node
    tool("losetup", "--detach", node)


class Silent:
    """A journal that keeps nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **more: None


def torn_down(plan: Plan, root: Path) -> Decision:
    """Only the teardown is done, for real."""
    decision = decided(plan)
    assert decision.refusals == ()
    steps = [step for step in decision.left.steps if step.phase == "teardown"]
    known = {step.id for step in steps}
    only = Plan("pair", "", "", (), tuple(step.among(known) for step in steps))
    outcome = execute(only, decision.disks, lambda event: None, Silent(), Here(root))
    assert outcome.complete, outcome.failed
    return decision


@pytest.mark.parametrize("version", PLACES)
def test_f23_superblocks_on_disks(plan: Plan, loops: Loops, tmp_path: Path, version: str) -> None:
    for number in (0, 1):
        member(loops.files[number], version, slot=number)
    decision = torn_down(plan, tmp_path)
    assert any(
        each.kind == "member" and str(each.figures["detail"]).endswith(f"metadata {version}")
        for each in decision.left.lost
    )
    nothing_left(loops)


@pytest.mark.parametrize("version", PLACES)
def test_f23_superblocks_on_partitions(plan: Plan, loops: Loops, tmp_path: Path, version: str) -> None:
    for number in (0, 1):
        tool("sfdisk", "--quiet", "--no-reread", loops.nodes[number], stdin=GPT)
        loops.parts(number)
        member(loops.files[number], version, start=MIB, size=100 * MIB, slot=number)
    decision = torn_down(plan, tmp_path)
    assert any("on partition 1 of d1" in words for words in loss_texts(decision.left.lost))
    nothing_left(loops)
    for file in loops.files[:2]:
        part = tmp_path / "part"
        tool("dd", f"if={file}", f"of={part}", "bs=1M", "skip=1", "count=100", "conv=sparse", "status=none")
        assert "Magic" not in subprocess.run(["mdadm", "--examine", part], capture_output=True, text=True, check=False).stdout  # fmt: skip


def test_f23_f26_everything_at_once(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    for number in (0, 1):
        tool("sfdisk", "--quiet", "--no-reread", loops.nodes[number], stdin=GPT)
        for version in PLACES:
            member(loops.files[number], version, start=MIB, size=100 * MIB, slot=number)
            member(loops.files[number], version, start=101 * MIB, size=64 * MIB, slot=number)
        member(loops.files[number], "1.0", slot=number)
        # Of the table in front only the backup is left.
        put(loops.files[number], 0, bytes(34 * 512))
        member(loops.files[number], "1.2", slot=number)
    torn_down(plan, tmp_path)
    nothing_left(loops)


@pytest.mark.parametrize("version", PLACES)
def test_f24_superblocks_that_mdadm_does_not_take(
    plan: Plan, loops: Loops, tmp_path: Path, version: str
) -> None:
    bad = bytearray(superblock(version, SIZE))
    bad[40] ^= 0xFF
    put(loops.files[0], PLACES[version](SIZE), bytes(bad))
    decision = torn_down(plan, tmp_path)
    assert any("bad checksum" in words for words in loss_texts(decision.left.lost))
    nothing_left(loops)
    tool("cmp", f"--bytes={SIZE}", loops.files[0], "/dev/zero")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("mke2fs", "-q", "-t", "ext4", "-L", "home"), "ext4 'home', 300 MiB, on d0"),
        (("mkfs.xfs", "-q", "-L", "home"), "xfs 'home', 300 MiB, on d0"),
        (("mkfs.btrfs", "--quiet", "--label", "home"), "btrfs 'home', 300 MiB, on d0"),
        (("mkfs.vfat", "-F", "32", "-n", "HOME"), "vfat 'HOME', 300 MiB, on d0"),
        (("mkswap", "--quiet", "--label", "home"), "swap 'home', 300 MiB, on d0"),
    ],
)
def test_f25_what_stands_on_a_disk(
    plan: Plan, loops: Loops, tmp_path: Path, argv: tuple[str, ...], words: str
) -> None:
    tool(*argv, loops.nodes[0])
    decision = torn_down(plan, tmp_path)
    assert words in loss_texts(decision.left.lost)
    nothing_left(loops)


def test_f25_inside_old_members(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    for number in (0, 1):
        tool(
            "mke2fs",
            "-q",
            "-t",
            "ext4",
            "-L",
            "ghost",
            "-E",
            f"offset={10 * MIB}",
            loops.nodes[number],
            "64m",
        )
        member(loops.files[number], "1.2", slot=number, data_offset=10 * MIB)
    decision = torn_down(plan, tmp_path)
    assert any(
        (each.figures.get("label"), each.figures.get("inside"), each.where) == ("ghost", 1, "d0")
        for each in decision.left.lost
    )
    with loops.files[0].open("rb") as opened:
        opened.seek(10 * MIB)
        assert opened.read(2 * MIB) == bytes(2 * MIB)


def test_f27_a_volume_group(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    tool("pvcreate", "--yes", "--quiet", loops.nodes[0], loops.nodes[1])
    tool("vgcreate", "--quiet", f"raidplan-{os.getpid()}", loops.nodes[0], loops.nodes[1])
    decision = torn_down(plan, tmp_path)
    assert f"the volume group 'raidplan-{os.getpid()}'" in loss_texts(decision.left.lost)
    assert f"raidplan-{os.getpid()}" not in tool("vgs")
    nothing_left(loops)


def test_f28_a_volume_group_that_reaches_the_decoy_is_refused(
    plan: Plan, loops: Loops, tmp_path: Path
) -> None:
    extra = tmp_path / "extra"
    with extra.open("wb") as made:
        made.truncate(SIZE)
    node = tool("losetup", "--find", "--show", extra).strip()
    try:
        tool("pvcreate", "--yes", "--quiet", loops.nodes[0], node)
        tool("vgcreate", "--quiet", f"raidplan-{os.getpid()}", loops.nodes[0], node)
        assert any(f"also on {node}" in words for words in sentences(decided(plan).refusals))
    finally:
        tool("vgremove", "--yes", f"raidplan-{os.getpid()}")
        tool("losetup", "--detach", node)


def test_f28_a_member_beside_is_refused(plan: Plan, loops: Loops) -> None:
    member(loops.files[0], "1.2", array="deadbeef-1111-4222-8333-123456789abc")
    assert ("shared", "member", loops.nodes[2]) in {
        (each.code, each.case, each.place) for each in decided(plan).refusals
    }


def test_f31_random_bytes(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    put(loops.files[0], 0, random.Random(31).randbytes(64 * MIB))
    decision = torn_down(plan, tmp_path)
    assert decision.left.lost == (loss("data", "d0", offset=0),)
    nothing_left(loops)


def test_f31_erased_flash_is_blank(plan: Plan, loops: Loops) -> None:
    put(loops.files[0], 0, b"\xff" * SIZE)
    decision = decided(plan)
    assert (sentences(decision.refusals), decision.left.lost) == ((), ())


def test_f32_mounted(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    tool("mke2fs", "-q", "-t", "ext4", loops.nodes[0])
    (tmp_path / "point").mkdir()
    tool("mount", loops.nodes[0], tmp_path / "point")
    mounted = refusal("in-use", place="d0", use=f"mounted at {tmp_path}/point")
    assert mounted in decided(plan).refusals


def test_f32_swapped(plan: Plan, loops: Loops) -> None:
    tool("mkswap", "--quiet", loops.nodes[0])
    if subprocess.run(["swapon", loops.nodes[0]], capture_output=True, check=False).returncode:
        pytest.skip("no swap can be switched on here")
    try:
        assert refusal("in-use", place="d0", use="swap") in decided(plan).refusals
    finally:
        tool("swapoff", loops.nodes[0])


def test_f32_mounted_in_another_namespace(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    tool("mke2fs", "-q", "-t", "ext4", loops.nodes[0])
    (tmp_path / "point").mkdir()
    script = f"mount {loops.nodes[0]} {tmp_path}/point && echo ready && read line"
    other = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
        refusals = sentences(decided(plan).refusals)
        assert any(
            f"{loops.nodes[0]} is mounted at {tmp_path}/point for process " in words for words in refusals
        )
    finally:
        other.communicate("\n")


def test_f32_open_for_writing_by_another_process(plan: Plan, loops: Loops) -> None:
    tool("mke2fs", "-q", "-t", "ext4", loops.nodes[0])
    with opened(loops.nodes[0]) as other:
        words = f"{loops.nodes[0]} is open for writing by process {other} (python"
        assert any(refusal.startswith(words) for refusal in sentences(decided(plan).refusals))


@pytest.mark.parametrize("wipe", [True, False])
def test_f32_a_blank_disk_that_another_process_has_open_for_writing(wipe: bool, plan: Plan, loops: Loops) -> None:  # fmt: skip
    """As the disk of a virtual machine is before its guest has written to it: nothing on it, and nobody has claimed it."""
    plan = replace(plan, disks=tuple(replace(disk, wipe=wipe) for disk in plan.disks))
    with opened(loops.nodes[1]) as other:
        (refused,) = decided(plan).refusals
        (written,) = refused.uses
        assert (written.kind, written.place) == ("written", loops.nodes[1])
        assert written.figures["process"] == other and str(written.figures["program"]).startswith("python")
    with opened(loops.nodes[1], "O_RDONLY"):
        assert decided(plan).refusals == ()


def test_f32_a_writer_that_comes_after_the_decision_is_seen_right_before_the_step(
    plan: Plan, loops: Loops, tmp_path: Path
) -> None:
    decision = decided(plan)
    step = next(step for step in decision.left.steps if "{d1}" in step.guard)
    left = replace(decision.left, steps=(step.among(()),))
    with opened(loops.nodes[1]) as other:
        outcome = execute(
            left, decision.disks, lambda e: None, Silent(), Here(tmp_path), overwrites=decision.overwrites
        )
        (written,) = uses_of(outcome)[step.id]
        assert (written.kind, written.place, written.figures["process"]) == ("written", loops.nodes[1], other)
    assert not any(loops.files[1].read_bytes())


def test_all_blank_disks_take_one_look_at_the_processes(
    plan: Plan, loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    monkeypatch.setattr(in_use, "processes", lambda: looks.append(1) or [])
    assert decided(plan).refusals == () and len(looks) == 1


def test_a_reader_is_no_writer(loops: Loops) -> None:
    with open(loops.nodes[0], "rb"):
        assert words_of(in_use.used_by_others(loops.nodes[0])) == []


def test_what_came_after_the_plan_is_never_cleared(plan: Plan, loops: Loops, tmp_path: Path) -> None:
    member(loops.files[0], "1.2", slot=0)
    decision = decided(plan)
    action = next(step.action for step in decision.left.steps if step.id == "teardown.d0.zero")
    assert isinstance(action, Zero)
    tool("mke2fs", "-q", "-F", "-t", "ext4", loops.nodes[0])
    before = loops.hash(0)
    with not_cleared("new", loops.nodes[0], found=tuple(map(str, zero.found_on(loops.nodes[0])))):
        zero.zero(loops.nodes[0], action)
    assert loops.hash(0) == before


def test_a_device_in_use_is_never_cleared(
    loops: Loops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zero, "BUSY_SECONDS", 0)
    tool("mke2fs", "-q", "-t", "ext4", loops.nodes[0])
    (tmp_path / "point").mkdir()
    tool("mount", loops.nodes[0], tmp_path / "point")
    with pytest.raises(OSError, match="busy"):
        zero.zero(loops.nodes[0], Zero(loops.nodes[0], ((0, MIB),)))


@pytest.mark.parametrize(
    ("ranges", "cleared"),
    [
        (((0, MIB),), [(0, MIB)]),
        (((-MIB, MIB),), [(SMALL - MIB, SMALL)]),
        (((SMALL - 512, MIB), (5 * MIB, 512)), [(SMALL - 512, SMALL), (5 * MIB, 5 * MIB + 512)]),
        (((-2 * SMALL, SMALL + MIB), (SMALL, 5)), [(0, MIB)]),
        ((), []),
    ],
)
def test_exactly_the_ranges_are_cleared(
    small: tuple[Path, str], ranges: Any, cleared: list[tuple[int, int]]
) -> None:
    file, node = small
    full = bytearray(b"x" * SMALL)
    put(file, 0, bytes(full))
    zero.zero(node, Zero(node, ranges))
    for start, end in cleared:
        full[start:end] = bytes(end - start)
    assert file.read_bytes() == bytes(full)


def test_a_file_is_no_device(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * MIB)
    with not_cleared("no-device", str(tmp_path / "file")):
        zero.zero(str(tmp_path / "file"), Zero("", ((0, MIB),)))
    assert (tmp_path / "file").read_bytes() == b"x" * MIB


def test_f47_writes_that_a_disk_drops_are_found_out(
    plan: Plan, loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it has written; what is read back past the page cache says otherwise."""
    put(loops.files[0], 5 * MIB, b"old")
    monkeypatch.setattr(zero.os, "pwrite", lambda descriptor, data, at: len(data))
    with pytest.raises(Failed, match=f"^not-zero .*{5 * MIB}"):  # fmt: skip
        zero.zero(loops.nodes[0], Zero(loops.nodes[0], ((5 * MIB, 512),)))
    with pytest.raises(Failed, match=r"^not-kept .*: 0}"):
        zero.put_back(loops.nodes[1], {0: b"x" * 512})


def test_f48_a_disk_that_turned_read_only(plan: Plan, loops: Loops) -> None:
    tool("blockdev", "--setro", loops.nodes[0])
    assert any(
        "read-only" in words or "cannot be written" in words for words in sentences(decided(plan).refusals)
    ), "before"
    with pytest.raises(
        OSError, match=r"Read-only|not permitted|denied"
    ):  # at the open, in the middle of a run
        zero.zero(loops.nodes[0], Zero(loops.nodes[0], ((0, 512),)))
    tool("blockdev", "--setrw", loops.nodes[0])
