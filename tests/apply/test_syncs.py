"""What goes on when every step has ended, read from a sysfs of our own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.syncs import Sync, syncs
from raidplan.facts import Machine
from raidplan.plan.step import Plan, Proof, Run, Step
from raidplan.render.syncs import NO_RESTART, sync_text
from tests.apply.scratch import Scratch

STEP = Step(
    "array.x", "array", "make x", Run(("mdadm",)), "arrays.x", guard=("{d0}",), proof=Proof("array", "u", {})
)
MACHINE = Machine(objects={"array": {"u": {"device": "md_x"}}})
PLAN = Plan("h", "", "", (), (STEP,))


def found(root: Path, action: str, completed: str, speed: str, *, new: bool = True) -> tuple[Sync, ...]:
    md = root / "sys/block/md_x/md"
    md.mkdir(parents=True)
    for name, text in (("sync_action", action), ("sync_completed", completed), ("sync_speed", speed)):
        (md / name).write_text(f"{text}\n")
    return syncs(PLAN, MACHINE, Scratch(root), ["array.x"] if new else [])


@pytest.mark.parametrize(
    ("action", "completed", "speed", "new", "said"),
    [
        (
            "resync",
            "117187500 / 3906250000",
            "117188",
            True,
            "initial sync 3 % at 120 MB/s, 4 h 29 min left; goes on in the background",
        ),
        ("resync", "none", "none", True, "initial sync 0 %; goes on in the background"),
        ("resync", "0 / 2000", "0", True, "initial sync 0 %; goes on in the background"),
        (
            "recover",
            "1000 / 2000",
            "1",
            False,
            "rebuild 50 % at 0 MB/s, 8 min 20 s left; goes on in the background; its redundancy is whole again only then",
        ),
        (
            "recover",
            "delayed",
            "none",
            True,
            "the rebuild waits for that of another array on the same disks; it begins by itself; its redundancy is whole again only then",
        ),
        (
            "check",
            "2000 / 2000",
            "5000",
            True,
            "check 100 % at 5 MB/s, 0 s left; goes on in the background",
        ),
    ],
)
def test_said(tmp_path: Path, action: str, completed: str, speed: str, new: bool, said: str) -> None:
    (sync,) = found(tmp_path, action, completed, speed, new=new)
    assert sync_text(sync) == f"md_x: {said}"


@pytest.mark.parametrize(("action", "warned"), [("recover", True), ("resync", False), ("check", False)])
def test_who_restarts_while_grub_reads_a_member_that_is_not_whole_is_warned(
    tmp_path: Path, action: str, warned: bool
) -> None:
    made = Step("fs.x.make", "format", "make it", Run(("mke2fs",)), "fs.x", needs=("array.x",), proof=Proof("filesystem", "f", {}), guard=("/dev/md/x",))  # fmt: skip
    mount = Step(
        "fs.x.mount", "activate", "mount it", Run(("mount",)), "fs.x", proof=Proof("mount", "/boot", {})
    )
    grub = Step("boot.grub.d0", "activate", "install it", Run(("grub-install", "/dev/x")), "boot.grub")
    for steps, boots in (((STEP, made, mount, grub), warned), ((STEP, made, mount), False)):
        md = tmp_path / f"{boots}{len(steps)}/sys/block/md_x/md"
        md.mkdir(parents=True)
        (md / "sync_action").write_text(f"{action}\n")
        (sync,) = syncs(replace(PLAN, steps=steps), MACHINE, Scratch(md.parents[3]), ())
        assert sync.boots is boots
        assert (NO_RESTART in sync_text(sync)) is boots


@pytest.mark.parametrize("action", ["idle", "frozen", ""])
def test_nothing_goes_on(tmp_path: Path, action: str) -> None:
    assert found(tmp_path, action, "none", "none") == ()


def test_an_array_that_is_not_there(tmp_path: Path) -> None:
    assert syncs(PLAN, Machine(), Scratch(tmp_path)) == ()
