"""The initramfs made anew by tools that work, fail, do nothing or lie: an image that boots is always in its place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from raidplan.apply.configuration import initramfs
from raidplan.apply.configuration.initramfs import cannot_be_renewed, renew
from raidplan.apply.world import World
from raidplan.facts.host import read_initramfs
from raidplan.facts.initramfs import BEFORE, arrays_named
from raidplan.run import Result
from tests.initramfs import UUID, boot, cpio

ARGV = ("update-initramfs", "-u", "-k", "all")
OLD = b"ARRAY /dev/md/old UUID=1:2:3:4\n"
NEW = cpio({"etc/mdadm/mdadm.conf": f"ARRAY /dev/md/s0 UUID={UUID}\n".encode()})
TOOLS = {
    "works": 'for image in "$boot"/initrd.img-6.?; do cp "$boot/../new" "$image.new"; mv "$image.new" "$image"; done',
    "writes in place": 'for image in "$boot"/initrd.img-6.?; do cat "$boot/../new" >"$image"; done',
    "fails": "echo 'No space left on device' >&2; exit 1",
    "fails at the second kernel": 'cp "$boot/../new" "$boot/initrd.img-6.1"; exit 1',
    "does nothing": "echo 'Not updating initramfs.'",
    "does the first kernel only": 'cp "$boot/../new" "$boot/initrd.img-6.1"',
    "makes it without the lines": 'for image in "$boot"/initrd.img-6.?; do cp "$boot/../without" "$image"; done',
    "makes half of it": 'for image in "$boot"/initrd.img-6.?; do head -c 200 "$boot/../new" >"$image"; done',
    "makes it empty": 'for image in "$boot"/initrd.img-6.?; do : >"$image"; done',
}
"""What stands in for update-initramfs."""
WORKS = ("works", "writes in place")


class Killed(BaseException):
    """The process is dead."""


class Scratch(World):
    """A root in a folder with a tool of our own, killed after the given effect."""

    def __init__(self, root: Path, tool: str = "works", die: int = 0) -> None:
        super().__init__()
        self.root, self.die, self.effects = root, die, 0
        self.tool = root / "update-initramfs"
        self.tool.write_text(f"#!/bin/sh\nset -e\nboot={root}/boot\n{TOOLS[tool]}\n")
        self.tool.chmod(0o755)

    def path(self, file: str) -> Path:
        return self.root / file.lstrip("/")

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        return super().run((str(self.tool), *argv[1:]), stdin)

    def effect(self, kind, what, act):
        result = act()
        self.effects += 1
        if self.effects == self.die:
            raise Killed
        return result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for image in boot(tmp_path, "6.1", "6.2", holds=OLD):
        os.utime(image, (1, 1))
    (tmp_path / "new").write_bytes(NEW)
    (tmp_path / "without").write_bytes(cpio({"etc/mdadm/mdadm.conf": b"# none\n"}))
    (tmp_path / "etc/mdadm").mkdir(parents=True)
    (tmp_path / "etc/mdadm/mdadm.conf").touch()
    return tmp_path


def state(root: Path) -> list[set[str]]:
    return [set(arrays_named(root / f"boot/initrd.img-{kernel}")) for kernel in ("6.1", "6.2")]


def fresh(root: Path) -> object:
    return read_initramfs(root, "6.1")["current"]["fresh"]


@pytest.mark.parametrize("tool", TOOLS)
def test_the_old_images_or_the_new_ones(tool: str, root: Path) -> None:
    assert not fresh(root)
    problem = renew(ARGV, [UUID], Scratch(root, tool))
    if tool in WORKS:
        assert not problem and state(root) == [{UUID}] * 2 and fresh(root)
    else:
        assert "the machine boots as before" in problem
        assert state(root) == [{"1:2:3:4"}] * 2 and not fresh(root), "the step stays due"
    assert not list(root.glob(f"boot/*{BEFORE}*"))


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("fails", "update-initramfs ended with 1: No space left on device"),
        ("does nothing", f"initrd.img-6.1 does not hold the ARRAY lines of mdadm.conf for {UUID}"),
        ("does the first kernel only", "initrd.img-6.2 does not hold the ARRAY lines"),
        ("makes half of it", "initrd.img-6.1 ends in the middle of an archive"),
    ],
)
def test_what_is_missing_is_said(tool: str, said: str, root: Path) -> None:
    assert said in renew(ARGV, [UUID], Scratch(root, tool))


@pytest.mark.parametrize("tool", ["works", "makes half of it"])
def test_killed_at_every_effect_and_resumed(tool: str, root: Path) -> None:
    before = {file: file.read_bytes() for file in (root / "boot").iterdir()}
    whole = Scratch(root, tool)
    renew(ARGV, [UUID], whole)
    for die in range(1, whole.effects + 1):
        for file in (root / "boot").iterdir():
            file.unlink()
        for file, data in before.items():
            file.write_bytes(data)
            os.utime(file, (1, 1))
        with pytest.raises(Killed):
            renew(ARGV, [UUID], Scratch(root, tool, die))
        old = [root / f"boot/initrd.img-{kernel}{BEFORE}" for kernel in ("6.1", "6.2")]
        ended = not any(file.exists() for file in old)
        assert fresh(root) == (ended and state(root) == [{UUID}] * 2), f"killed after effect {die}"
        # What the first run kept is what a second one puts back.
        assert renew(ARGV, [UUID], Scratch(root, "fails"))
        assert not list(root.glob(f"boot/*{BEFORE}"))
        assert all(arrays in ({UUID}, {"1:2:3:4"}) for arrays in state(root)), f"killed after effect {die}"
        assert renew(ARGV, [UUID], Scratch(root, "works")) == "" and state(root) == [{UUID}] * 2


def test_what_an_upgrade_made_since_the_kill_is_the_earlier_image_now(root: Path) -> None:
    with pytest.raises(Killed):
        renew(ARGV, [UUID], Scratch(root, "makes half of it", die=9))
    kept = [*root.glob(f"boot/*{BEFORE}")]
    assert len(kept) == 2
    first, second = (root / f"boot/initrd.img-{kernel}" for kernel in ("6.1", "6.2"))
    assert first.read_bytes() == second.read_bytes() == NEW[:200]
    upgraded = cpio({"etc/mdadm/mdadm.conf": OLD, "driver": b"new"})
    first.write_bytes(upgraded)
    assert "the machine boots as before" in renew(ARGV, [UUID], Scratch(root, "fails"))
    assert first.read_bytes() == upgraded, "made to its end, and knows every array that the earlier one knew"
    assert second.read_bytes() == cpio({"etc/mdadm/mdadm.conf": OLD}), "half of one is put back"


@pytest.mark.parametrize("made", [{"etc/mdadm/mdadm.conf": b"# none\n"}, {"microcode": b"early"}])
def test_which_image_is_better_is_asked_where_nobody_knows(made: dict[str, bytes], root: Path) -> None:
    with pytest.raises(Killed):
        renew(ARGV, [UUID], Scratch(root, "makes half of it", die=9))
    image = root / "boot/initrd.img-6.1"
    image.write_bytes(cpio(made))
    before = {file: file.read_bytes() for file in (root / "boot").iterdir()}
    world = Scratch(root)
    said = renew(ARGV, [UUID], world)
    assert "does not name all arrays that the other names: keep the one that boots" in said
    assert not world.effects and before == {file: file.read_bytes() for file in (root / "boot").iterdir()}
    image.with_name(image.name + BEFORE).unlink()
    assert renew(ARGV, [UUID], Scratch(root)) == "" and state(root) == [{UUID}] * 2


def test_a_full_boot_is_found_out_before(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(cannot_be_renewed(root, "6.1")) == []
    size = (root / "boot/initrd.img-6.1").stat().st_size
    free = size * 3
    monkeypatch.setattr(
        initramfs.os, "statvfs", lambda path: type("Room", (), {"f_bavail": free, "f_frsize": 1, "f_flag": 0})
    )
    (said,) = cannot_be_renewed(root, "6.1")
    assert "has 1.5 KiB free, and the initramfs of 2 kernels" in said and "apt autoremove" in said
    for kernel in ("6.1", "6.2"):
        World().keep_beside(root / f"boot/initrd.img-{kernel}", root / f"boot/initrd.img-{kernel}{BEFORE}")
    assert list(cannot_be_renewed(root, "6.1")) == [], "the copies of a run that was killed are there already"
    (root / "boot/initrd.img-6.1").write_bytes(b"broken")
    (said,) = cannot_be_renewed(root, "6.1")
    assert "holds no archive" in said
    for file in (root / "boot").iterdir():
        file.unlink()
    (said,) = cannot_be_renewed(root, "6.1")
    assert "there is no initramfs in" in said


def test_a_copy_that_finds_no_room_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", full)
    with pytest.raises(OSError, match="No space left"):
        renew(ARGV, [UUID], Scratch(root))
    assert state(root) == [{"1:2:3:4"}] * 2 and not [*root.glob("boot/.*"), *root.glob(f"boot/*{BEFORE}")]
