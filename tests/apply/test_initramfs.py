"""The initramfs made anew by tools that work, fail, do nothing or lie: an image that boots is always in its place."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from raidplan.apply.configuration import initramfs
from raidplan.apply.configuration.initramfs import reasons_not_to_renew
from raidplan.apply.refusal import refusal
from raidplan.apply.world import World
from raidplan.facts.failure import failure
from raidplan.facts.host import read_initramfs
from raidplan.facts.initramfs import arrays_named, images
from raidplan.facts.run import Result
from raidplan.plan.initramfs import INITRAMFS_TOOLS
from raidplan.plan.places import INITRAMFS_ASIDE
from raidplan.plan.step import RenewInitramfs
from raidplan.render.failures import failure_text
from tests.absent import needs_root
from tests.initramfs import UUID, boot, cpio

NAMED = RenewInitramfs((UUID,))
OLD = b"ARRAY /dev/md/old UUID=1:2:3:4\n"
OURS = f"# >>> raidplan h\ncreate names=yes\nARRAY /dev/md/s0 UUID={UUID}\n# <<< raidplan h\n".encode()
NEW = cpio({"etc/mdadm/mdadm.conf": OURS})
TOOLS = {
    "works": 'cp "$root/new" "$2"',
    "fails": "echo 'No space left on device' >&2; exit 1",
    "fails when it is made": 'cp "$root/new" "$2"; echo "a hook failed" >&2; exit 1',
    "fails at the second kernel": 'cp "$root/new" "$2"; [ "$3" = 6.1 ]',
    "does nothing": "echo 'Not updating initramfs.'",
    "does the first kernel only": '[ "$3" != 6.1 ] || cp "$root/new" "$2"',
    "makes it without the lines": 'cp "$root/without" "$2"',
    "makes half of it": 'head -c 200 "$root/new" >"$2"',
    "makes it empty": ': >"$2"',
}
"""What stands in for mkinitramfs."""


def renew(action: RenewInitramfs, world: World, *, keep: bool = True) -> str:
    """Why not, in words."""
    return failure_text(initramfs.renew(action, world, keep=keep))


class Killed(BaseException):
    """The process is dead."""


class Scratch(World):
    """A root in a folder with a tool of our own, killed after the given effect."""

    def __init__(self, root: Path, tool: str = "works", die: int = 0) -> None:
        super().__init__()
        self.root, self.die, self.effects = root, die, 0
        self.tool = root / "mkinitramfs"
        self.tool.write_text(f"#!/bin/sh\nset -e\nroot={root}\n{TOOLS[tool]}\n")
        self.tool.chmod(0o755)

    def path(self, file: str) -> Path:
        return self.root / file.lstrip("/")

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        if argv[0] == "run-parts":
            *words, folder = argv
            return super().run((*words, str(self.path(folder))), stdin)
        assert argv[:2] == ("mkinitramfs", "-o")
        return super().run((str(self.tool), "-o", str(self.path(argv[2])), argv[3]), stdin)

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
    (tmp_path / "etc/mdadm/mdadm.conf").write_bytes(OURS)
    return tmp_path


def hooked(root: Path, hook: str) -> None:
    """Something that is to hear of each image."""
    hooks = root / INITRAMFS_TOOLS.hooks.lstrip("/")
    hooks.mkdir(parents=True, exist_ok=True)
    (hooks / "loader").write_text(f"#!/bin/sh\nset -e\n{hook}\n")
    (hooks / "loader").chmod(0o755)


def aside(root: Path) -> Path:
    return root / INITRAMFS_ASIDE.lstrip("/")


def state(root: Path) -> list[set[str]]:
    return [set(arrays_named(root / f"boot/initrd.img-{kernel}")) for kernel in ("6.1", "6.2")]


def of_before(image: Path) -> Path:
    return image.parent / "raidplan.old" / image.name


def kept(root: Path) -> dict[Path, bytes]:
    """The images of before."""
    return {file: file.read_bytes() for file in (root / "boot/raidplan.old").iterdir()}


def fresh(root: Path) -> object:
    return read_initramfs(root, "6.1")["current"]["fresh"]


@pytest.mark.parametrize("tool", TOOLS)
def test_the_present_images_or_new_ones(tool: str, root: Path) -> None:
    assert not fresh(root)
    before = {file: (file.stat().st_ino, file.read_bytes()) for file in images(root, "6.1", INITRAMFS_TOOLS)}
    problem = renew(NAMED, Scratch(root, tool))
    if tool == "works":
        assert not problem and state(root) == [{UUID}] * 2 and fresh(root)
    else:
        assert "the images in" in problem and "stay as they are" in problem
        after = {file: (file.stat().st_ino, file.read_bytes()) for file in before}
        assert after == before and not fresh(root), "never touched, and the step stays due"
        assert not aside(root).exists(), "nothing is due for its sake"
        assert renew(NAMED, Scratch(root)) == "" and fresh(root)
    assert not aside(root).exists()
    assert {of_before(file): data for file, (_, data) in before.items()} == kept(root)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("fails", "mkinitramfs ended with 1: No space left on device"),
        ("fails at the second kernel", "boot/initrd.img-6.2: /"),
        ("fails when it is made", "mkinitramfs ended with 1: a hook failed"),
        ("does nothing", "raidplan.new/initrd.img-6.1 cannot be read: No such file"),
        ("does the first kernel only", "raidplan.new/initrd.img-6.2 cannot be read"),
        ("makes it without the lines", f"does not hold the ARRAY lines of mdadm.conf for {UUID}"),
        ("makes half of it", "initrd.img-6.1 ends in the middle of an archive"),
        ("makes it empty", "initrd.img-6.1 holds no"),
    ],
)
def test_what_is_missing_is_said(tool: str, said: str, root: Path) -> None:
    assert said in renew(NAMED, Scratch(root, tool))


@pytest.mark.drawn(1)
@pytest.mark.parametrize("tool", ["works", "makes half of it"])
def test_killed_at_every_effect_and_resumed(tool: str, root: Path) -> None:
    hooked(root, f'echo "$1 $2" >>{root}/heard')
    before = {file: file.read_bytes() for file in (root / "boot").iterdir()}
    whole = Scratch(root, tool)
    renew(NAMED, whole)
    for die in range(1, whole.effects + 1):
        shutil.rmtree(root / "boot")  # not written into: a file may have two names
        (root / "boot").mkdir()
        for file, data in before.items():
            file.write_bytes(data)
            os.utime(file, (1, 1))
        with pytest.raises(Killed):
            renew(NAMED, Scratch(root, tool, die))
        assert all(arrays in ({UUID}, {"1:2:3:4"}) for arrays in state(root)), f"killed after effect {die}"
        ended = fresh(root)
        assert ended == (not aside(root).exists() and state(root) == [{UUID}] * 2), f"after effect {die}"
        standing = [file.read_bytes() for file in before]
        assert renew(NAMED, Scratch(root, "fails"))
        assert standing == [file.read_bytes() for file in before] and fresh(root) == ended, (
            f"after effect {die}"
        )
        (root / "heard").unlink(missing_ok=True)
        assert renew(NAMED, Scratch(root, "works")) == "" and state(root) == [{UUID}] * 2
        assert len((root / "heard").read_text().splitlines()) == 2, (
            "also where the images were in place already"
        )
        first = {of_before(file): data for file, data in before.items() if "initrd" in file.name}
        assert (kept(root) == first) is not ended, f"after effect {die}"


@pytest.mark.parametrize("second_name", [True, False], ids=["as a second name", "as a copy"])
def test_the_image_of_before_is_kept_each_time(
    second_name: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fat(path: Path, other: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not second_name:
        monkeypatch.setattr(Path, "hardlink_to", fat)
    image = root / "boot/initrd.img-6.1"
    image.chmod(0o600)
    before = image.stat()
    assert renew(NAMED, Scratch(root)) == ""
    found = of_before(image).stat()
    assert (found.st_ino == before.st_ino) == second_name
    assert (found.st_mode, found.st_mtime) == (before.st_mode, before.st_mtime)
    again = cpio({"etc/mdadm/mdadm.conf": OURS, "more": b""})
    present = image.read_bytes()
    (root / "new").write_bytes(again)
    assert renew(RenewInitramfs(), Scratch(root)) == ""
    assert (of_before(image).read_bytes(), image.read_bytes()) == (present, again)
    assert renew(RenewInitramfs(), Scratch(root), keep=False) == ""
    assert of_before(image).read_bytes() == present


def test_what_somebody_made_after_a_failure_is_kept(root: Path) -> None:
    assert "stay as they are" in renew(NAMED, Scratch(root, "fails"))
    image = root / "boot/initrd.img-6.1"
    theirs = cpio({"etc/mdadm/mdadm.conf": OLD, "driver": b"new"})
    (root / "theirs").write_bytes(theirs)
    (root / "theirs").rename(image)
    assert renew(NAMED, Scratch(root)) == ""
    assert of_before(image).read_bytes() == theirs


def test_what_somebody_made_after_a_kill_is_kept(root: Path) -> None:
    image = root / "boot/initrd.img-6.1"
    theirs = cpio({"etc/mdadm/mdadm.conf": OLD, "driver": b"new"})
    with pytest.raises(Killed):
        renew(NAMED, Scratch(root, die=13))
    assert aside(root).is_dir()
    (root / "theirs").write_bytes(theirs)
    (root / "theirs").rename(image)
    assert renew(NAMED, Scratch(root)) == ""
    assert of_before(image).read_bytes() == theirs


def test_the_images_of_before_make_room(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert renew(NAMED, Scratch(root)) == ""
    size = sum(image.stat().st_size for image in images(root, "6.1", INITRAMFS_TOOLS))
    monkeypatch.setattr(
        initramfs.os,
        "statvfs",
        lambda path: type("Room", (), {"f_bavail": size // 2, "f_frsize": 1, "f_flag": 0}),
    )
    assert list(reasons_not_to_renew(root, "6.1", RenewInitramfs())) == []
    of_before(root / "boot/initrd.img-6.1").unlink()
    of_before(root / "boot/initrd.img-6.1").hardlink_to(root / "boot/initrd.img-6.1")
    assert len(list(reasons_not_to_renew(root, "6.1", RenewInitramfs()))) == 1, (
        "a second name takes no room, and gives none"
    )


@pytest.mark.parametrize("folder", ["raidplan.new", "raidplan.old"])
@pytest.mark.parametrize(
    ("odd", "name"),
    [("touch x", ""), ("ln -s elsewhere x", ""), ("mkdir -p x/initrd.img-6.2", "/initrd.img-6.2"),
     ("mkdir x; ln -s elsewhere x/initrd.img-6.1", "/initrd.img-6.1")],
)  # fmt: skip
def test_what_stands_in_the_way_is_named(odd: str, name: str, folder: str, root: Path) -> None:
    subprocess.run(odd.replace("x", folder), shell=True, cwd=root / "boot", check=True)
    odd_one = refusal("initramfs", "in-the-way", place=f"{root}/boot/{folder}{name}")
    assert odd_one in [*reasons_not_to_renew(root, "6.1", RenewInitramfs())]


def test_what_an_image_lacks_of_our_lines_and_rules(root: Path) -> None:
    (root / "etc/mdadm/mdadm.conf").write_bytes(b"HOMEHOST x\n" + OURS + b"MAILADDR root\n")
    rules = root / "etc/udev/rules.d/65-raidplan-h.rules"
    rules.parent.mkdir(parents=True)
    rules.write_bytes(b"a rule\n")

    def said(**files: bytes) -> str:
        held = {{"conf": "etc/mdadm/mdadm.conf", "rules": "usr/lib/udev/rules.d/65-raidplan-h.rules"}[k]: v for k, v in files.items()}  # fmt: skip
        (root / "new").write_bytes(cpio(held))
        return renew(NAMED, Scratch(root))

    lines = "does not hold the lines of /etc/mdadm/mdadm.conf as they are now"
    assert lines in said(conf=f"ARRAY <ignore> UUID={UUID}\n".encode())
    assert lines in said(conf=OURS.replace(b"create names=yes\n", b""))
    assert lines in said(conf=OURS.replace(b"/dev/md/s0", b"/dev/md127"))
    assert "holds other rules than /etc/udev/rules.d/65-raidplan-h.rules" in said(
        conf=OURS, rules=b"of before\n"
    )
    assert said(conf=OURS, rules=b"a rule\n") == "" and said(conf=b"#HOMEHOST\n" + OURS) == "" and fresh(root)
    rules.unlink()
    assert "holds other rules" in said(conf=OURS, rules=b"a rule\n")


def test_whether_it_is_due_is_told_by_no_clock(root: Path) -> None:
    """An image that another program began before our lines were there, and put in its place after ours."""
    conf = root / "etc/mdadm/mdadm.conf"
    assert not fresh(root) and renew(NAMED, Scratch(root)) == ""
    for seconds in (1, 2**33):
        os.utime(conf, (seconds, seconds))
        assert fresh(root)
    boot(root, "6.2", holds=OLD)
    os.utime(root / "boot/initrd.img-6.2", (2**33, 2**33))
    assert not fresh(root)


def test_a_file_system_where_a_file_has_one_name_needs_room_for_copies(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(image.stat().st_size for image in images(root, "6.1", INITRAMFS_TOOLS))
    monkeypatch.setattr(
        initramfs.os,
        "statvfs",
        lambda path: type("Room", (), {"f_bavail": size * 2, "f_frsize": 1, "f_flag": 0}),
    )
    for kind, refused in (("ext4", False), ("vfat", True)):
        (root / "proc/self").mkdir(parents=True, exist_ok=True)
        (root / "proc/self/mountinfo").write_text(f"1 1 8:1 / {root}/boot rw - {kind} /dev/sda1 rw\n")
        assert len([*reasons_not_to_renew(root, "6.1", RenewInitramfs())]) == refused


def test_the_hooks_hear_of_each_image_that_is_in_its_place(root: Path) -> None:
    hooked(root, f'cmp "{root}$2" {root}/new && echo "$1 $2" >>{root}/heard')
    assert renew(NAMED, Scratch(root)) == ""
    assert (root / "heard").read_text() == "6.1 /boot/initrd.img-6.1\n6.2 /boot/initrd.img-6.2\n"


def test_a_hook_that_fails_is_no_success(root: Path) -> None:
    hooked(root, "echo 'the ESP is full' >&2; false")
    said = renew(NAMED, Scratch(root))
    assert "initrd.img-6.1 is made, and not everything in" in said and "the ESP is full" in said
    assert state(root) == [{UUID}] * 2 and not fresh(root), "in its place, and due again"
    hooked(root, "true")
    assert renew(NAMED, Scratch(root)) == "" and fresh(root)


def test_images_that_need_no_array_can_be_read_at_least(root: Path) -> None:
    (root / "etc/mdadm/mdadm.conf").write_bytes(b"# none\n")
    assert "ends in the middle" in renew(RenewInitramfs(), Scratch(root, "makes half of it"))
    assert renew(RenewInitramfs(), Scratch(root, "makes it without the lines")) == ""
    assert state(root) == [set()] * 2


def test_what_an_upgrade_made_in_the_meantime_stays(root: Path) -> None:
    upgraded = cpio({"etc/mdadm/mdadm.conf": OLD, "driver": b"new"})

    class Upgraded(Scratch):
        def run(self, argv: Sequence[str], stdin: str = "") -> Result:
            result = super().run(argv, stdin)
            if argv[-1] == "6.2":
                (root / "upgraded").write_bytes(upgraded)
                (root / "upgraded").rename(root / "boot/initrd.img-6.1")
            return result

    said = renew(NAMED, Upgraded(root))
    assert "initrd.img-6.1 was changed by somebody else" in said and "6.2 was" not in said
    assert (root / "boot/initrd.img-6.1").read_bytes() == upgraded and not fresh(root)
    assert renew(NAMED, Scratch(root)) == "" and state(root) == [{UUID}] * 2


@needs_root
def test_mode_and_owner_stay(root: Path) -> None:
    (root / "boot/initrd.img-6.1").chmod(0o600)
    os.chown(root / "boot/initrd.img-6.2", 1, 2)
    assert renew(NAMED, Scratch(root)) == ""
    first, second = ((root / f"boot/initrd.img-{kernel}").stat() for kernel in ("6.1", "6.2"))
    assert first.st_mode & 0o777 == 0o600 and (second.st_uid, second.st_gid) == (1, 2)


def test_other_images_are_not_ours_to_make(root: Path) -> None:
    boot(root, "6.1.bak", holds=OLD)
    (root / "lib/modules/6.1.bak").rmdir()
    others = [root / "boot" / name for name in ("initrd.img-6.1.bak", "initramfs-6.1.img", "initrd-6.1")]
    for file in others[1:]:
        file.write_bytes(b"of somebody")
    before = [file.read_bytes() for file in others]
    assert renew(NAMED, Scratch(root)) == "" and state(root) == [{UUID}] * 2
    assert before == [file.read_bytes() for file in others]


def test_what_is_refused_before(root: Path) -> None:
    def why() -> list[tuple[str, str]]:
        return [(each.case, each.place) for each in reasons_not_to_renew(root, "6.1", RenewInitramfs())]

    assert not why()
    tool = root / "usr/sbin/update-initramfs"
    tool.write_text("#!/bin/sh\ndracut --force …\n")
    assert why() == [("other-generator", INITRAMFS_TOOLS.updater)]
    tool.unlink()
    assert why() == [("other-generator", INITRAMFS_TOOLS.updater)]
    boot(root, "6.1")
    assert not why()
    aside(root).mkdir()
    (aside(root) / "notes").touch()
    assert why() == [("foreign-file", f"{aside(root)}/notes")]
    (aside(root) / "notes").rename(root / "boot/notes")
    (root / "boot/initrd.img-6.2").rename(root / "boot/elsewhere")
    (root / "boot/initrd.img-6.2").symlink_to("elsewhere")
    assert ("link", f"{root}/boot/initrd.img-6.2") in why()


def test_a_full_boot_is_found_out_before(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(reasons_not_to_renew(root, "6.1", RenewInitramfs())) == []
    size = (root / "boot/initrd.img-6.1").stat().st_size
    free = size * 2
    monkeypatch.setattr(
        initramfs.os, "statvfs", lambda path: type("Room", (), {"f_bavail": free, "f_frsize": 1, "f_flag": 0})
    )
    (full,) = reasons_not_to_renew(root, "6.1", RenewInitramfs())
    assert (full.case, full.figures["free"], full.figures["images"]) == ("room", free, 2)
    aside(root).mkdir()
    (aside(root) / "initrd.img-6.1").write_bytes(bytes(size))
    assert list(reasons_not_to_renew(root, "6.1", RenewInitramfs())) == [], (
        "what a run that was killed has left goes first"
    )
    (root / "boot/initrd.img-6.1").write_bytes(b"broken")
    (broken,) = reasons_not_to_renew(root, "6.1", RenewInitramfs())
    assert broken.case == "unreadable" and broken.failures == (
        failure("image-no-archive", root / "boot/initrd.img-6.1", byte=0),
    )
    for file in (root / "boot").glob("[iv]*"):
        file.unlink()
    (none,) = reasons_not_to_renew(root, "6.1", RenewInitramfs())
    assert (none.case, none.place) == ("none", f"{root}/boot")


@pytest.mark.parametrize(
    ("text", "refused"),
    [("update_initramfs=no\n", True), (" update_initramfs='no'", True), ("# update_initramfs=no\nupdate_initramfs=all\n", False)],
)  # fmt: skip
def test_a_machine_whose_initramfs_is_not_to_be_made(text: str, refused: bool, root: Path) -> None:
    settings = root / INITRAMFS_TOOLS.settings.lstrip("/")
    settings.parent.mkdir(parents=True)
    settings.write_text(text)
    found = list(reasons_not_to_renew(root, "6.1", RenewInitramfs()))
    off = refusal("initramfs", "switched-off", place=INITRAMFS_TOOLS.settings, setting="update_initramfs=no")
    assert found == [off] * refused


def test_hooks_that_nothing_could_run_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hooked(root, "true")
    assert list(reasons_not_to_renew(root, "6.1", RenewInitramfs())) == []
    monkeypatch.setattr(initramfs, "find_tool", lambda name: "")
    missing = refusal("initramfs", "run-parts-missing", place=INITRAMFS_TOOLS.hooks)
    assert [*reasons_not_to_renew(root, "6.1", RenewInitramfs())] == [missing]


@pytest.mark.parametrize("folder", ["raidplan.old", "raidplan.new"])
def test_what_finds_no_room_leaves_nothing(folder: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        if path.is_file() and path.parent.name == folder:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("raidplan.apply.world._sync", full)
    with pytest.raises(OSError, match="No space left"):
        renew(NAMED, Scratch(root))
    assert state(root) == [{"1:2:3:4"}] * 2 and not [*aside(root).glob("*")]
    assert not [*(root / "boot").glob("*/.*")]
