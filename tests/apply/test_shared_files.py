"""Files and folders that others write to as well: their lines, their links, their changes at the worst moment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from raidplan.apply.configuration.aliases import BY_ID
from raidplan.apply.configuration.blocks import wanted_text
from raidplan.apply.configuration.files import TRIES, write
from raidplan.apply.execute import execute
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.world import World
from raidplan.base.identity import md_form
from raidplan.facts.failure import Failed
from raidplan.facts.host import HOLD
from raidplan.facts.uses import use
from raidplan.plan.step import Plan, Proof, Run, Step, WriteBlock, WriteFile
from raidplan.render.note_words import note_text
from tests.apply.scratch import Scratch
from tests.apply.stacks import LAYOUT, Box, decided, plan_of
from tests.apply.uses import uses_of

T = TypeVar("T")
MINE = "# mine\nUUID=1 / ext4 defaults 0 1\n"
BLOCK = "UUID=2 /srv/data ext4 defaults 0 2\n"


class Busy(World):
    """Somebody else does something right before certain effects."""

    def __init__(self, kind: str, at: Path, act: Callable[[int], None], times: int = 1) -> None:
        super().__init__()
        self.kind, self.at, self.act, self.left = kind, at, act, times
        self.done = 0

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        if kind == self.kind and Path(what) == self.at and self.left:
            self.left -= 1
            self.done += 1
            self.act(self.done)
        return super().effect(kind, what, act)


@pytest.mark.parametrize("times", [1, 3, TRIES - 1])
@pytest.mark.parametrize("how", ["appended", "replaced", "removed"])
def test_f34_what_somebody_writes_meanwhile_is_kept(times: int, how: str, tmp_path: Path) -> None:
    """Between our reading and our rename: cloud-init, an upgrade, a configuration tool."""
    file = tmp_path / "fstab"
    file.write_text(MINE)

    def other(turn: int) -> None:
        match how:
            case "appended":
                with file.open("a") as opened:
                    opened.write(f"theirs {turn}\n")
            case "replaced":
                beside = tmp_path / "theirs"
                beside.write_text(f"theirs {turn}\n")
                beside.rename(file)
            case "removed" if turn % 2:
                file.unlink()
            case "removed":
                file.write_text(f"theirs {turn}\n")

    world = Busy("rename", file, other, times)
    action = WriteBlock(str(file), BLOCK, "pair")
    assert write(action, world) and world.left == 0
    text = file.read_text()
    before = {
        "appended": MINE + "".join(f"theirs {turn + 1}\n" for turn in range(times)),
        "replaced": f"theirs {times}\n",
        "removed": "",  # every count here is odd
    }[how]
    assert text == wanted_text(action, before)
    assert not [*tmp_path.glob(".*")], "nothing of ours is left beside it"


def test_f34_a_file_that_never_rests_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "fstab"
    file.write_text(MINE)
    world = Busy("rename", file, lambda turn: file.write_text(f"theirs {turn}\n") and None, TRIES)  # type: ignore[func-returns-value]
    with pytest.raises(Failed, match=r"^restless "):
        write(WriteBlock(str(file), BLOCK, "pair"), world)
    assert file.read_text() == f"theirs {TRIES}\n"


def test_a_block_that_is_damaged_in_the_meantime_is_left(tmp_path: Path) -> None:
    """The decision saw it whole; what became of it since is for a person."""
    file = tmp_path / "fstab"
    file.write_text("# >>> raidplan pair\n")
    with pytest.raises(Failed, match=r"^block-lost "):
        write(WriteBlock(str(file), BLOCK, "pair"), World())
    assert file.read_text() == "# >>> raidplan pair\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_f55_owner_mode_and_attributes_stay(tmp_path: Path) -> None:
    file = tmp_path / "fstab"
    file.write_text(MINE)
    file.chmod(0o640)
    os.chown(file, 12, 34)
    os.setxattr(file, "trusted.raidplan", b"label")
    assert write(WriteBlock(str(file), BLOCK, "pair"), World())
    for each in (file, tmp_path / "fstab.raidplan-old"):
        found = each.stat()
        assert (found.st_mode & 0o7777, found.st_uid, found.st_gid) == (0o640, 12, 34)
        assert os.getxattr(each, "trusted.raidplan") == b"label"


@pytest.mark.parametrize(("file", "kept"), [("/etc/fstab", ["fstab.raidplan-old"]), (HOLD, [])])
def test_an_earlier_version_is_kept_but_below_run(file: str, kept: list[str], tmp_path: Path) -> None:
    """An `apply` that goes on takes less apart than the one that was killed, and holds off less with its rule."""
    world = Scratch(tmp_path)
    for content in ("before\n", "after\n"):
        assert write(WriteFile(file, content), world)
    place = world.path(file)
    assert place.read_text() == "after\n"
    assert sorted(each.name for each in place.parent.iterdir()) == [place.name, *kept]


@pytest.mark.parametrize("leftover", ["file", "link"])
def test_f55_f63_what_a_kill_or_somebody_left_beside_is_replaced_not_followed(
    leftover: str, tmp_path: Path
) -> None:
    file, beside, target = tmp_path / "fstab", tmp_path / ".fstab.raidplan-new", tmp_path / "precious"
    file.write_text(MINE)
    target.write_text("precious")
    beside.write_text("half of a") if leftover == "file" else beside.symlink_to(target)  # type: ignore[func-returns-value]
    assert write(WriteBlock(str(file), BLOCK, "pair"), World())
    assert target.read_text() == "precious" and not beside.is_symlink() and not beside.exists()
    assert file.read_text() == wanted_text(WriteBlock("", BLOCK, "pair"), MINE)


def lines(tmp_path: Path, file: str, text: str) -> tuple[Refusal, ...]:
    """Why the pair is not made where a file has such lines."""
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").put("file", file, content=text, size=len(text))
    return decided(plan_of(LAYOUT, tmp_path), box).refusals


def named(file: str, number: int, word: str) -> Refusal:
    """The refusal of a line that names what the layout has."""
    return refusal("lines-conflict", "line", place=file, number=number, word=word)


def ours(tmp_path: Path, file: str) -> list[str]:
    plan = plan_of(LAYOUT, tmp_path)
    action = next(s.action for s in plan.steps if isinstance(s.action, WriteBlock) and s.action.file == file)
    return action.content.splitlines()


def test_f56_every_line_that_speaks_of_the_same_is_named_with_its_number(tmp_path: Path) -> None:
    fstab = next(line for line in ours(tmp_path, "/etc/fstab") if "/srv/data" in line).split()
    array = next(line for line in ours(tmp_path, "/etc/mdadm/mdadm.conf") if line.startswith("ARRAY")).split()
    uuid = next(word for word in array if word.startswith("UUID="))
    for file, line, of in (
        ("/etc/fstab", "/dev/sdx1 /srv/data xfs defaults 0 0", "/srv/data"),
        ("/etc/fstab", f"{fstab[0]} /elsewhere ext4 defaults 0 0", fstab[0]),
        ("/etc/mdadm/mdadm.conf", f"ARRAY /dev/md/other {uuid}", uuid),
        ("/etc/mdadm/mdadm.conf", "array /dev/md/data name=x", "/dev/md/data"),
    ):
        assert named(file, 3, of) in lines(tmp_path, file, f"# a comment on /srv/data\n\n{line}\n")


def test_f56_however_it_is_spelled(tmp_path: Path) -> None:
    """By the grammars of fstab(5) and mdadm.conf(5)."""
    uuid = next(line for line in ours(tmp_path, "/etc/fstab") if "/srv/data" in line).split()[0].removeprefix("UUID=")  # fmt: skip
    array = next(line for line in ours(tmp_path, "/etc/mdadm/mdadm.conf") if line.startswith("ARRAY"))
    digits = array.partition("UUID=")[2].split()[0].replace(":", "")
    dashed = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    for line, word in (
        ("/dev/sdz1 /srv/data ext4", "/srv/data"),
        ("/dev/sdz1\t/srv/data/ ext4 defaults", "/srv/data/"),
        ("/dev/sdz1 /srv//d\\141ta ext4 defaults", "/srv//d\\141ta"),
        (f'UUID="{uuid}" /other ext4 defaults', f'UUID="{uuid}"'),
        (f"UUID={uuid.upper()} /other ext4 defaults", f"UUID={uuid.upper()}"),
        (f"/dev/disk/by-uuid/{uuid} /other ext4 defaults", f"/dev/disk/by-uuid/{uuid}"),
        ("/dev/md/data /other ext4 defaults", "/dev/md/data"),
        (f"{BY_ID}md-uuid-{md_form(digits)} /other ext4", f"{BY_ID}md-uuid-{md_form(digits)}"),
        (f"{BY_ID}md-name-pair:data /other ext4", f"{BY_ID}md-name-pair:data"),
    ):
        assert named("/etc/fstab", 2, word) in lines(tmp_path, "/etc/fstab", f"# x\n{line}\n")
    for text, word in (
        (f"ARRAY /dev/md0\n  UUID={digits}", f"UUID={digits}"),
        (
            f"ARRAY /dev/md0 level=raid1\n\n# x\n\tnum-devices=2 uuid={digits.upper()}",
            f"uuid={digits.upper()}",
        ),
        (f"arr <ignore> UUID={dashed}", f"UUID={dashed}"),
        ('ARRAY "data" UUID=1:2:3:4', "data"),
        ("ARRAY <ignore> name=pair:data", "name=pair:data"),
        ("ARRAY /dev/md/x 'name=data'", "name=data"),
    ):
        conf = "/etc/mdadm/mdadm.conf"
        assert named(conf, 2, word) in lines(tmp_path, conf, f"DEVICE partitions\n{text}\n")


def test_f56_a_volume_by_the_names_of_device_mapper(tmp_path: Path) -> None:
    group = "volume_groups: {v-g: {devices: [data], volumes: {home: {size: 100%free}}}}\nfilesystems:\n"
    text = LAYOUT.replace("filesystems:\n", group).replace("device: data", "device: v-g.home")
    for word in ("/dev/v-g/home", "/dev/mapper/v--g-home", f"{BY_ID}dm-name-v--g-home"):
        box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").put("file", "/etc/fstab", content=f"{word} /other ext4\n", size=50)  # fmt: skip
        assert named("/etc/fstab", 1, word) in decided(plan_of(text, tmp_path), box).refusals


def test_f56_an_address_that_counts_no_more_is_told(tmp_path: Path) -> None:
    """mdadm hears the first MAILADDR only, and ours stands first; that is no reason to refuse Debian's own line."""
    plan = plan_of(LAYOUT + "monitoring: {mail: ops@example.org}\n", tmp_path)
    text = "# x\nMAILADDR root\nAUTO -all\n"
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").put("file", "/etc/mdadm/mdadm.conf", content=text, size=50)  # fmt: skip
    decision = decided(plan, box)
    assert decision.refusals == ()
    said = "/etc/mdadm/mdadm.conf line 2 will be overridden: alarms go to ops@example.org, not to root"
    assert said in map(note_text, decision.notes)
    assert not any(note.code == "alarms-overridden" for note in decided(plan_of(LAYOUT, tmp_path), box).notes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# x\nDEVICE /dev/sda*\n", True),
        ("# x\ndev /dev/sda*\nDEVICE containers\n", True),
        ("DEVICE /dev/sda*\nDEVICE partitions containers\n", False),
        ("# DEVICE /dev/sda*\n", False),
    ],
)
def test_devices_that_mdadm_will_not_look_at_are_told(text: str, told: bool, tmp_path: Path) -> None:
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").put("file", "/etc/mdadm/mdadm.conf", content=text, size=50)  # fmt: skip
    decision = decided(plan_of(LAYOUT, tmp_path), box)
    words = "/etc/mdadm/mdadm.conf line 2 lets mdadm look at /dev/sda* only: no array with members elsewhere is assembled at boot"
    assert decision.refusals == () and (words in map(note_text, decision.notes)) == told


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("/etc/fstab", "# /dev/sdx1 /srv/data xfs defaults 0 0"),
        ("/etc/fstab", "UUID=9 /srv/data2 xfs defaults 0 0"),
        ("/etc/fstab", "/dev/sdx1 none swap sw"),
        ("/etc/fstab", "LABEL=data /other ext4 defaults"),
        ("/etc/mdadm/mdadm.conf", "#ARRAY /dev/md/data"),
        ("/etc/mdadm/mdadm.conf", "ARRAY /dev/md0 # /dev/md/data"),
        ("/etc/mdadm/mdadm.conf", "ARRAY /dev/md/data2 name=other:data"),
        ("/etc/mdadm/mdadm.conf", "DEVICE /dev/md/data"),
        ("/etc/mdadm/mdadm.conf", "MAILADDR other@x"),
        ("/etc/mdadm/mdadm.conf", "AUTO -all"),  # but what is listed, and ours is
        ("/etc/mdadm/mdadm.conf", "ARRAY /dev/md/data2 UUID=1:2:3:4"),
    ],
)
def test_f56_lines_of_others_are_no_conflict(file: str, line: str, tmp_path: Path) -> None:
    assert lines(tmp_path, file, f"{line}\n") == ()


def test_f57_our_words_come_first_and_all_others_stay(tmp_path: Path) -> None:
    """mdadm takes the first MAILADDR and AUTO that it reads: what follows is neither changed nor lost."""
    file = tmp_path / "mdadm.conf"
    others = ["MAILADDR a@b", "PROGRAM /bin/true", "POLICY action=ignore", "# note", "HOMEHOST <none>", "AUTO -all", "", "\tDEVICE partitions"]  # fmt: skip
    for turn in range(len(others)):
        text = "\n".join(others[turn:] + others[:turn]) + "\n"
        file.write_text(text)
        assert write(WriteBlock(str(file), "create names=yes\n", "pair", at_top=True), World())
        assert file.read_text() == "# >>> raidplan pair\ncreate names=yes\n# <<< raidplan pair\n" + text


class Silent:
    """A journal that keeps nothing."""

    def record_intent(self, step: str, sectors: bytes = b"", *, erased: bool = False) -> None: ...
    def record_end(self, step: str, seconds: float, made: str = "") -> None: ...
    def record_failure(self, step: str, message: str) -> None: ...
    def record_refusal(self, step: str, message: str) -> None: ...


@pytest.mark.parametrize("swapped", ["parent", "point", ""])
@pytest.mark.parametrize("kind", ["directory", "mount"])
def test_f64_a_link_that_came_after_the_preflight_is_not_followed(
    kind: str, swapped: str, tmp_path: Path
) -> None:
    """The owner of a folder on the way puts a link there while the arrays are made."""
    parent, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    point = parent / "data"
    if swapped == "parent":
        parent.symlink_to(elsewhere)
    else:
        parent.mkdir()
        if swapped == "point":
            point.symlink_to(elsewhere)
    make = Step("make", "activate", "make", Run(("mkdir", "--parents", str(point))), "x", targets=("a",))
    make = replace(make, proof=Proof(kind, str(point), {}))
    outcome = execute(Plan("h", "", "", (), (make,)), {}, lambda event: None, Silent(), World())
    if swapped:
        link = parent if swapped == "parent" else point
        assert uses_of(outcome) == {"make": (use("link", str(link)),)}
        assert not [*elsewhere.iterdir()]
    else:
        assert outcome.complete and point.is_dir()
