"""Storage that a person grew by the commands of a refusal: `apply` finds nothing to do then, whatever is fixed when a thing is made."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.refusal import Refusal
from raidplan.base.filesystems.ext import EXT4
from raidplan.base.filesystems.type import Resized
from raidplan.base.size import KIB, MIB, SECTOR
from raidplan.facts.machine import texts
from raidplan.geometry import luks
from raidplan.plan.changes.contents import front_stays
from raidplan.plan.step import Plan, Proof, Value
from raidplan.review import pipeline
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated

__all__ = ["impatient"]

HARDWARE = "hardware: {disks: {d<0-4>: {serial: S<1>, size: 8GiB, partitions: {p: {size: 2GiB, type: raid}, q: {size: 2GiB, type: lvm}}}}}\n"
VOLUME = f"{HARDWARE}volume_groups: {{vg: {{devices: [d0.q], volumes: {{v: {{size: SIZE}}}}}}}}\nfilesystems: {{f: {{device: vg.v, type: ext4, mount: /f}}}}\n"


def raid5(members: int, rest: str) -> str:
    """A layout with a RAID5 of so many members, and what stands on it."""
    names = ", ".join(f"d{number}.p" for number in range(members))
    return f"{HARDWARE}arrays: {{a: {{level: raid5, members: [{names}]}}}}\n{rest}"


def planned(text: str, folder: Path) -> Plan:
    file = folder / "layout.yaml"
    file.write_text(f"version: 1\nhost: h\n{text}")
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return made


def proof(plan: Plan, kind: str) -> Proof:
    """What the one object of a kind has to be."""
    return next(step.proof for step in plan.steps if step.proof and step.proof.kind == kind and step.creates)


class Grown:
    """A machine on which one layout was applied, and that a person changes by hand for the next one."""

    def __init__(self, folder: Path, before: str, after: str) -> None:
        self.root, self.state, self.next = folder, machine(folder), planned(after, folder)
        first = planned(before, folder)
        assert apply(first, Simulated(first, folder, self.state)) == "done"

    def object(self, kind: str) -> dict[str, Any]:
        (found,) = self.state.objects[kind].values()
        return found

    def takes_member(self) -> None:
        """mdadm --add, --grow --raid-devices."""
        array, expect = self.object("array"), proof(self.next, "array").expect
        for member in {*array["members"]} - {*texts(expect["members"])}:
            self.state.content.pop(member, None)
        array |= {name: expect[name] for name in ("members", "size", "component")}
        for member in array["members"]:
            self.state.content[member] = self.state.content[array["members"][0]]

    def resizes(self) -> None:
        """pvresize."""
        found = self.object("physical_volume")
        extent = self.object("volume_group")["extent"]
        found["extents"] = (self.object("array")["size"] - found["data_start"]) // extent

    def fills(self, size: int, width: int = 0) -> None:
        """resize2fs, tune2fs -E stripe_width: the groups have as many inodes as before."""
        found = self.object("filesystem")
        bpg = 8 * found["block"]
        inodes = found["inodes"] // -(-found["blocks"] // bpg)
        blocks = size // found["block"]
        found |= {"blocks": blocks, "inodes": inodes * -(-blocks // bpg), "reserved_blocks": blocks // 20}
        found |= {"resized": True, **({"stripe_width": width} if width else {})}

    def refused(self) -> tuple[Refusal, ...]:
        world = Simulated(self.next, self.root, self.state)
        past = read_past(self.root / "var/lib/raidplan")
        return decide(self.next, world.read(self.next), past, here=False).refusals

    def ends(self) -> None:
        """One more apply at most, of what it changes by itself; then nothing is left to do."""
        assert self.refused() == ()
        assert apply(self.next, Simulated(self.next, self.root, self.state)) in ("done", "nothing to do")
        assert apply(self.next, Simulated(self.next, self.root, self.state)) == "nothing to do"


@pytest.mark.parametrize(("old", "new"), [(800, 1600), (1600, 800), (400, 800), (800, 400)])
def test_an_ext4_on_a_volume_of_another_size(tmp_path: Path, old: int, new: int) -> None:
    """Below 512 MiB a new one would have smaller blocks, and for its size other inodes."""
    grown = Grown(tmp_path, VOLUME.replace("SIZE", f"{old}MiB"), VOLUME.replace("SIZE", f"{new}MiB"))
    assert {refusal.case for refusal in grown.refused()} <= {
        "commands",
        "commands-after-device",
        "commands-before-content",
    }
    block = grown.object("filesystem")["block"]
    told = next(each for each in grown.refused() if each.place == "filesystems.f").figures["commands"]
    assert told == (("resize2fs /dev/vg/v",) if new > old else (f"resize2fs /dev/vg/v {new * MIB // block}",))
    grown.object("volume")["size"] = new * MIB
    grown.fills(new * MIB)
    grown.ends()


def test_fewer_inodes_than_a_new_one_would_have_are_told(tmp_path: Path) -> None:
    grown = Grown(tmp_path, VOLUME.replace("SIZE", "800MiB"), VOLUME.replace("SIZE", "1600MiB"))
    grown.object("volume")["size"] = 1600 * MIB
    grown.fills(1600 * MIB)
    world = Simulated(grown.next, grown.root, grown.state)
    notes = decide(
        grown.next, world.read(grown.next), read_past(tmp_path / "var/lib/raidplan"), here=False
    ).notes
    (told,) = (note for note in notes if note.code == "inodes-stay")
    assert told.figures == {"count": 95264, "planned": 102544}, "the first as resize2fs 1.47.0 makes it"


def test_lvm_on_an_array_with_more_members(tmp_path: Path) -> None:
    group = "volume_groups: {vg: {devices: [a], volumes: {v: {size: 512MiB}}}}\n"
    grown = Grown(tmp_path, raid5(3, group), raid5(4, group))
    assert {refusal.place for refusal in grown.refused()} == {"arrays.a", "volume_groups.vg"}
    grown.takes_member()
    (told,) = grown.refused()
    assert told.figures["commands"] == ("pvresize /dev/md/a",)
    grown.resizes()
    grown.ends()
    assert grown.object("physical_volume")["data_start"] == MIB


@pytest.mark.parametrize("type", ["ext4", "xfs"])
def test_an_encryption_on_an_array_with_more_members(tmp_path: Path, type: str) -> None:
    """Its data begins earlier than those of a new one, so there is more room for the file system."""
    rest = f"encryption: {{c: {{device: a, key: ask}}}}\nfilesystems: {{f: {{device: c, type: {type}, mount: /f}}}}\n"
    grown = Grown(tmp_path, raid5(3, rest), raid5(4, rest))
    told = [refusal for refusal in grown.refused() if refusal.place != "arrays.a"]
    assert {refusal.place for refusal in told} == {"filesystems.f"}
    assert told[0].figures["commands"][0] == "cryptsetup resize c"  # type: ignore[index]
    grown.takes_member()
    size = grown.object("array")["size"] - luks.HEADER
    if type == "ext4":
        grown.fills(size, width=384)
    else:
        grown.object("filesystem").update(blocks=size // (4 * KIB), sw=3)
    grown.ends()


@pytest.mark.parametrize("type", ["ext4", "xfs"])
@pytest.mark.parametrize(("old", "new"), [(3, 4), (4, 3)])
def test_nothing_is_made_for_another_front_than_there_is(
    tmp_path: Path, old: int, new: int, type: str
) -> None:
    """A file system would be planned for the size behind the bytes in front of a new encryption."""
    encryption = "encryption: {c: {device: a, key: ask}}\n"
    rest = f"{encryption}filesystems: {{f: {{device: c, type: {type}, mount: /f}}}}\n"
    grown = Grown(tmp_path, raid5(old, encryption), raid5(new, rest))
    grown.takes_member()
    assert ("encryption.c", "other") in _places(grown)
    grown.next = planned(raid5(new, encryption), tmp_path)
    grown.ends()


@pytest.mark.parametrize(("old", "new", "fits"), [(3, 4, True), (4, 3, False), (5, 3, False)])
def test_a_new_volume_takes_extents_that_are_there(tmp_path: Path, old: int, new: int, fits: bool) -> None:
    group = "volume_groups: {vg: {devices: [a], extent: 1MiB, volumes: {v: {size: 1GiB}MORE}}}\n"
    more = raid5(new, group.replace("MORE", ", w: {size: 100%free}"))
    grown = Grown(tmp_path, raid5(old, group.replace("MORE", "")), more)
    grown.takes_member()
    grown.resizes()
    if fits:
        grown.ends()
    else:
        assert ("volume_groups.vg", "other") in _places(grown)


def _places(grown: Grown) -> set[tuple[str, str]]:
    return {(refusal.place, refusal.case) for refusal in grown.refused()}


def test_what_no_growth_explains_is_refused(tmp_path: Path) -> None:
    small = VOLUME.replace("SIZE", "800MiB")
    grown = Grown(tmp_path, small, small.replace("ext4", "ext4, inodes: 500000"))
    assert _places(grown) == {("filesystems.f", "new-filesystem")}
    grown.next = planned(small.replace("ext4", "ext4, inode_ratio: 8KiB"), tmp_path)
    assert _places(grown) == {("filesystems.f", "new-filesystem")}
    grown.next = planned(small, tmp_path)
    grown.object("physical_volume")["data_start"] = MIB + 512 * KIB
    assert ("volume_groups.vg", "other") in _places(grown), "a partition has no stripe"


@pytest.mark.parametrize(
    ("front", "chunks", "stays"),
    [(16 * MIB, {512 * KIB}, True), (33 * 512 * KIB, {512 * KIB}, True), (33 * 512 * KIB, set(), False), (17 * MIB + SECTOR, {512 * KIB}, False),
     (15 * MIB, {512 * KIB}, False), (None, {512 * KIB}, False)],
)  # fmt: skip
def test_bytes_in_front_that_some_number_of_members_explains(
    front: int | None, chunks: set[int], stays: bool
) -> None:
    assert front_stays("encryption", front, chunks) is stays


@pytest.mark.parametrize(
    ("size", "old", "new"),
    [("1GiB", ", inode_ratio: 64KiB", ""), ("1GiB", ", inode_ratio: 4KiB", ""), ("1GiB", "", ", inodes: 32768"), ("7GiB", ", inodes: 1000000", ", inodes: 500000"),
     ("7GiB", ", inodes: 1000000", ""), ("7GiB", ", inodes: 500000", ", inodes: 450000")],
)  # fmt: skip
def test_other_inodes_on_a_device_of_the_same_size_are_refused(
    tmp_path: Path, size: str, old: str, new: str
) -> None:
    """No growth explains them: nothing shows that the file system was of another size."""
    text = VOLUME.replace("q: {size: 2GiB", "q: {size: 40GiB").replace("size: 8GiB", "size: 48GiB")
    before, after = (
        text.replace("SIZE", size).replace("type: ext4", f"type: ext4{words}") for words in (old, new)
    )
    grown = Grown(tmp_path, before, after)
    assert _places(grown) == {("filesystems.f", "new-filesystem")}


@pytest.mark.parametrize("type", ["ext2", "ext3", "ext4"])
@pytest.mark.parametrize("size", [9, 100, 511, 513, 1000, 4097, 20000, 300000])
def test_a_new_file_system_does_not_look_resized(tmp_path: Path, size: int, type: str) -> None:
    """Real ones, in sparse files."""
    file = tmp_path / "image"
    with file.open("wb") as image:
        image.truncate(size * MIB)
    _run(*_ext4(size * MIB, file, {"type": type})[0])
    with file.open("rb") as image:
        assert EXT4.read(partial(_at, image.fileno()))["resized"] is False


def test_blocks_smaller_than_a_sector_are_not_kept() -> None:
    """The kernel mounts no such file system."""
    now: Mapping[str, Value] = {"block": KIB, "blocks": 400 * KIB, "inodes": 102400}
    wanted = {
        "block": 4 * KIB,
        "blocks": 200 * KIB,
        "inodes": 51296,
        "reserved_blocks": 0,
        "stride": 0,
        "stripe_width": 0,
    }
    assert EXT4.kept(now, wanted, Resized(800 * MIB, 0, 4 * KIB)) == {}
    assert EXT4.kept(now, wanted, Resized(800 * MIB, 0, 512))["block"] == KIB


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("old", "new", "options"),
    [(800, 1600, {}), (1600, 700, {}), (400, 800, {}), (100, 1025, {}), (300, 1537, {}), (1000, 1025, {}), (513, 3001, {}), (900, 3000, {"inodes": 200000}),
     (283, 1564, {"inodes": 37177}),
     (900, 3000, {"inode_ratio": 8192})],
)  # fmt: skip
def test_what_resize2fs_leaves_is_kept(tmp_path: Path, old: int, new: int, options: dict[str, int]) -> None:
    """Real file systems in sparse files: after a resize no property that no command changes is another than planned."""
    file = tmp_path / "image"
    with file.open("wb") as image:
        image.truncate(old * MIB)
    make, wanted = (_ext4(size * MIB, file, options) for size in (old, new))
    _run(*make[0])
    assert wanted[1]["blocks"] != make[1]["blocks"]
    if new > old:
        os.truncate(file, new * MIB)
    _run("e2fsck", "-f", "-p", str(file))
    _run("resize2fs", str(file), f"{new}M")
    os.truncate(file, new * MIB)
    with file.open("rb") as image:
        found = EXT4.read(partial(_at, image.fileno()))
    assert found["resized"] is True
    planned = wanted[1] | EXT4.kept(found, wanted[1], Resized(new * MIB, 0, 512))
    assert {key for key, value in planned.items() if found[key] != value} <= {"reserved_blocks"}


def _at(file: int, start: int, size: int) -> bytes:
    return os.pread(file, size, start)


def _ext4(size: int, file: Path, options: Mapping[str, object]) -> tuple[tuple[str, ...], dict[str, Value]]:
    """The command that makes one in a file, and what is planned."""
    wanted: Any = SimpleNamespace(type="ext4", label=None, inodes=None, inode_ratio=None, reserved=5)
    for name, value in options.items():
        setattr(wanted, name, value)
    device: Any = SimpleNamespace(name="d", node=str(file), size=size, chunk=0, stripe=0, logical_block=512)
    uuid = "ce29bb75-f4f7-5dea-b896-fe2587fb5747"
    return EXT4.make(wanted, device, uuid), EXT4.expect(wanted, device)
