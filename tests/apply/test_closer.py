"""What is on the devices of a step that was cut off, read from the devices: here from files in their place."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.apply.decide import recheck
from raidplan.apply.decide.create_again import default_offset, places_of_data
from raidplan.apply.decide.leftovers import NotOurs, carries_ours
from raidplan.apply.decide.recheck import look_closer
from raidplan.apply.journal import sectors
from raidplan.apply.journal.past import Past, sectors_as
from raidplan.apply.journal.sectors import Beneath, digest_of, sectors_beneath, unpacked
from raidplan.apply.recheck_target import Decided
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import BlockFact
from raidplan.facts.traces import places_read
from raidplan.facts.uses import Use, use
from raidplan.plan.step import Plan, Proof, Run, Step
from tests.apply.stacks import OTHER, plan_of
from tests.apply.superblocks import superblock
from tests.images import tool

MIB, GIB = 2**20, 2**30
UNREADABLE = f"what cannot be read ({os.strerror(errno.EIO)})"
LAYOUT = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 64MiB, serial: PAIR-<1>, partitions: {data: {size: 48MiB}}}}}
arrays: {data: {level: raid1, members: [d<0-1>.data]}}
filesystems: {data: {device: data, type: ext4, mount: /srv/data}}
swap: {file: {file: /srv/data/swapfile, size: 1MiB}}
"""
LARGE, LARGE_LAYOUT = 40 * GIB, LAYOUT.replace("64MiB", "41GiB").replace("48MiB", "40GiB")


class Devices:
    """Files called as devices are."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan, self.used = folder, plan, list[Use]()
        self.steps = {step.id: step for step in plan.steps}

    def make(self, name: str, size: int, *pieces: tuple[int, bytes]) -> None:
        with (self.folder / name).open("wb") as opened:
            opened.truncate(size)
            for at, data in pieces:
                opened.seek(at)
                opened.write(data)

    def read_at(self, node: str, offset: int, size: int) -> bytes:
        file = self.folder / Path(node).name
        if not file.exists():
            raise OSError(5, "Input/output error")
        with file.open("rb") as opened:
            opened.seek(offset)
            return opened.read(size)

    def amiss(
        self, step: str, kind: str, key: str, blocks: list[BlockFact], past: Any = None, **objects: Any
    ) -> dict[str, Any]:
        """What is added to an object for a step that was begun."""
        found = self.steps[step]
        journal = Past(
            is_open=True, begun=frozenset({step}), ours={step: frozenset(found.guard)}, **(past or {})
        )
        disk = DiskFact("/dev/d0", "d0", 64 * MIB)
        machine = Machine((disk,), objects, blocks=tuple(blocks))
        looked = look_closer(self.plan, machine, {"d0": disk}, journal)
        return dict(looked.observe(kind, key) or {})


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Devices:
    return shown(LAYOUT, tmp_path, monkeypatch)


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Devices:
    """Disks that may be wiped, with members that are not read as a whole."""
    return shown(LARGE_LAYOUT.replace("PAIR-<1>", "PAIR-<1>, wipe: true"), tmp_path, monkeypatch)


def shown(layout: str, folder: Path, patch: pytest.MonkeyPatch) -> Devices:
    found = Devices(folder, plan_of(layout, folder))
    patch.setattr(recheck, "read_at", found.read_at)
    patch.setattr(recheck, "used_by_others", lambda *nodes: [*found.used])
    return found


def block(name: str, identity: str, size: int) -> BlockFact:
    return BlockFact(name, identity, f"/dev/{name}", "any", size)


def sectors_found(devices: Devices, create: Step, size: int) -> dict[str, Any]:
    """What the journal has of the sectors that both members have when an array is made of them."""
    places = places_of_data(create, [size] * 2)
    found = sectors_beneath([Beneath(partial(devices.read_at, f"d{n}p1"), size, places[n]) for n in range(2)])
    (devices.folder / sectors_as(digest_of(found))).write_bytes(found)
    return {"sectors": {create.id: digest_of(found)}, "folder": str(devices.folder)}


def with_array(create: Step, size: int, room: int) -> list[BlockFact]:
    """Both members, and the array that they are."""
    assert create.proof
    parts = [f"partition:{node.rpartition('/')[2]}" for node in create.guard]
    return [
        *(
            replace(block(f"d{n}p1", part, size), kind="partition", below=(f"d{n}",))
            for n, part in enumerate(parts)
        ),
        replace(block("md127", f"array:{create.proof.key}", room), kind="array", below=("d0p1", "d1p1")),
    ]


def with_table(devices: Devices) -> list[tuple[int, bytes]]:
    """The sectors that sfdisk writes for the disk d0, with their places."""
    action = devices.steps["disk.d0.partition"].action
    assert isinstance(action, Run)
    devices.make("d0", 64 * MIB)
    tool("sfdisk", "--quiet", devices.folder / "d0", stdin=action.stdin)
    disk = (devices.folder / "d0").read_bytes()
    return [(at, disk[at : at + 512]) for at in range(0, len(disk), 512) if any(disk[at : at + 512])]


def test_a_disk_with_a_table_only(devices: Devices) -> None:
    disk = [block("d0", "{d0}", 64 * MIB)]
    table = with_table(devices)
    (first,) = devices.steps["disk.d0.partition"].new_partitions
    for piece, said in (
        ((0, b""), ""),
        ((first[0] + 5 * 4096, b"theirs"), f"data that nothing here recognises from byte {first[0] + 5 * 4096} on"),
        ((first[0] + 1080, b"\x53\xef"), "ext"),
        ((40 * MIB + 77, b"theirs"), f"data that nothing here recognises from byte {40 * MIB + 77} on"),
    ):  # fmt: skip
        devices.make("d0", 64 * MIB, *table, piece)
        stain = devices.amiss("disk.d0.partition", "content", "{d0}", disk)["stain"]
        assert stain.startswith(said) and bool(stain) == bool(said), stain


def test_what_is_left_of_a_half_written_table(devices: Devices) -> None:
    """A power cut in sfdisk, or in what clears it, can leave any of its sectors without the others."""
    disk, step = [block("d0", "{d0}", 64 * MIB)], "disk.d0.partition"
    table = with_table(devices)
    assert len(table) == 5
    for number in (1, 2, 6, 9, 16, 24, 30):
        left = [sector for bit, sector in enumerate(table) if number >> bit & 1]
        devices.make("d0", 64 * MIB, *left)
        assert devices.amiss(step, "content", "{d0}", disk)["stain"] == "", number
    inside = [start + at for start, _ in table for at in (20, 500)]
    for at in (34 * 512, MIB - 1, 64 * MIB - 33 * 512 - 1, 1024 + 600, *inside):
        byte = next((data[at - start] for start, data in table if 0 <= at - start < 512), 0)
        devices.make("d0", 64 * MIB, *table, (at, bytes([byte ^ 1])))
        assert devices.amiss(step, "content", "{d0}", disk)["stain"], at


def test_a_member_with_a_superblock_only(devices: Devices) -> None:
    create = devices.steps["array.data.create"]
    assert create.proof
    identity = f"partition:{create.guard[0].rpartition('/')[2]}"
    member = [block("d0p1", identity, 48 * MIB)]
    head = (4096, superblock(create.proof.key, MIB, 47 * MIB))
    bits = b"bitm" + bytes(4) + bytes.fromhex(create.proof.key.replace("-", "")) + bytes(232) + b"\xff" * 256
    devices.make("d0p1", 48 * MIB, head, (8192, bits))
    assert devices.amiss(create.id, "content", identity, member)["stain"] == ""
    for at in (0, 4096 + 300, 5120, 100 * 512):
        devices.make("d0p1", 48 * MIB, head, (8192, bits), (at, b"theirs"))
        assert f"from byte {at} on" in devices.amiss(create.id, "content", identity, member)["stain"]
    devices.make("d0p1", 48 * MIB, head, (MIB + 4096, b"theirs"))
    assert f"from byte {MIB + 4096} on" in devices.amiss(create.id, "content", identity, member)["stain"]
    key = f"array:{create.proof.key}"
    devices.make("md127", 47 * MIB, (0, b"theirs"))
    array = [block("md127", key, 47 * MIB)]
    assert "from byte 0 on" in devices.amiss(create.id, "content", key, array)["stain"]


def test_a_member_that_mdadm_never_reached(devices: Devices) -> None:
    create = devices.steps["array.data.create"]
    assert create.proof
    identity = f"partition:{create.guard[0].rpartition('/')[2]}"
    member = [block("d0p1", identity, 48 * MIB)]
    for at in (0, 5 * 4096, 48 * MIB - 512):
        devices.make("d0p1", 48 * MIB, (at, b"a raw database"))
        assert f"from byte {at} on" in devices.amiss(create.id, "content", identity, member)["stain"]
    devices.make("d0p1", 48 * MIB, (4096, superblock(OTHER, MIB, 47 * MIB)))
    assert "linux_raid_member" in devices.amiss(create.id, "content", identity, member)["stain"]
    devices.make("d0p1", 48 * MIB)
    assert devices.amiss(create.id, "content", identity, member)["stain"] == ""


def test_a_member_of_a_disk_that_may_be_wiped(devices: Devices, tmp_path: Path) -> None:
    """Its ends were cleared; what lies between may be as old as the disk."""
    devices.plan = plan_of(LAYOUT.replace("PAIR-<1>", "PAIR-<1>, wipe: true"), tmp_path)
    create = devices.steps["array.data.create"]
    identity = f"partition:{create.guard[0].rpartition('/')[2]}"
    member = [replace(block("d0p1", identity, 48 * MIB), kind="partition", below=("d0",))]
    sample = 48 * MIB // 33 // 4096 * 4096 * 9
    devices.make("d0p1", 48 * MIB, (sample, b"old"))
    cleared = {"ended": frozenset({"teardown.d0.zero"})}
    assert devices.amiss(create.id, "content", identity, member, past=cleared)["stain"] == ""
    assert devices.amiss(create.id, "content", identity, member)["stain"], "the disk was blank"
    devices.make("d0p1", 48 * MIB, (100, b"new"))
    assert "from byte 100 on" in devices.amiss(create.id, "content", identity, member, past=cleared)["stain"]


def test_the_data_of_a_large_member_of_a_disk_that_may_be_wiped(large: Devices) -> None:
    """It begins behind the end that was cleared: what is there may be as old as the disk, also a file system of somebody, if that is as
    it was."""
    devices, create, size = large, large.steps["array.data.create"], LARGE
    assert create.proof
    data = default_offset(create, size)
    assert data == 33 * MIB
    identity = f"partition:{create.guard[0].rpartition('/')[2]}"
    member = [replace(block("d0p1", identity, size), kind="partition", below=("d0",))]
    head = (4096, superblock(create.proof.key, data, size - data))
    old, filesystem = (data, b"old"), (data + 1080, b"\x53\xef")
    cleared = {"ended": frozenset({"teardown.d0.zero"})}

    def stain(*pieces: tuple[int, bytes], past: Any = cleared) -> str:
        devices.make("d0p1", size, head, *pieces)
        return str(devices.amiss(create.id, "content", identity, member, past=past)["stain"])

    assert stain(old) == ""
    assert f"from byte {data} on" in stain(old, past={}), "the disk was blank"
    assert "ext" in stain(filesystem), "nobody knows since when"
    devices.make("d0p1", size, old, filesystem)
    devices.make("d1p1", size)
    known = {**cleared, **sectors_found(devices, create, size)}
    assert stain(old, filesystem, past=known) == ""
    assert "ext" in stain((data + 1080, b"\x53\xef\1"), past=known), "it came since"


def test_an_array_of_disks_that_may_be_wiped(devices: Devices, tmp_path: Path) -> None:
    """It shows what was on its members before, and each sector that came since."""
    devices.plan = plan_of(LAYOUT.replace("PAIR-<1>", "PAIR-<1>, wipe: true"), tmp_path)
    create = next(step for step in devices.plan.steps if step.id == "array.data.create")
    devices.steps[create.id] = create
    assert create.proof
    key, old = (
        f"array:{create.proof.key}",
        [(at, bytes([at % 251 + 1]) * 700) for at in (8192, 7 * MIB, 46 * MIB)],
    )
    devices.make("d0p1", 48 * MIB)
    devices.make("d1p1", 48 * MIB, *((MIB + at, data) for at, data in old))
    known = sectors_found(devices, create, 48 * MIB)
    blocks = with_array(create, 48 * MIB, 47 * MIB)

    def stain() -> str:
        return str(devices.amiss(create.id, "content", key, blocks, past=known)["stain"])

    devices.make("md127", 47 * MIB, *old)
    assert stain() == ""
    for at in (0, 5120, 8192, 20 * MIB, 47 * MIB - 512):
        devices.make("md127", 47 * MIB, *old, (at, b"theirs"))
        assert f"from byte {at} on" in stain()


def test_a_large_array_of_disks_that_may_be_wiped(large: Devices) -> None:
    """It shows old bytes of its members at places at which those were not read for themselves; md copies one member to the other."""
    devices, create, size = large, large.steps["array.data.create"], LARGE
    assert create.proof
    data, room = default_offset(create, size), int(str(create.proof.expect["size"]))
    blocks, key = with_array(create, size, room), f"array:{create.proof.key}"
    places = [*places_read(room)[5:7], (room - MIB, MIB)]
    old = [(at + 512, b"old") for at, _ in places] + [(1080, b"\x53\xef")]
    devices.make("d0p1", size)
    devices.make("d1p1", size, *((data + at, piece) for at, piece in old))
    known = sectors_found(devices, create, size)

    head = (4096, superblock(create.proof.key, data, room))

    def stain(kind: str, *pieces: tuple[int, bytes]) -> str:
        devices.make("md127", room, *pieces)
        devices.make("d0p1", size, head, *((data + at, piece) for at, piece in pieces))
        return str(devices.amiss(create.id, "content", kind, blocks, past=known)["stain"])

    assert stain(key, *old) == ""
    assert stain(blocks[0].identity, *old) == "", "md has copied it"
    for at, _ in places:
        assert f"from byte {at} on" in stain(key, *old[:-1], (at, b"theirs"))
    assert "ext" in stain(key, *old[:-1], (1080, b"\x53\xef\1"))
    assert "ext" in stain(blocks[0].identity, *old[:-1], (1080, b"\x53\xef\1"))


def test_too_much_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take the memory of the whole apply; of many blank devices it is not much."""
    full, blank = (Beneath(lambda at, size, byte=byte: byte * size, 4 * MIB) for byte in (b"\1", b"\0"))  # type: ignore[misc]
    monkeypatch.setattr(sectors, "MOST_FULL", 8 * MIB // 512)
    assert sectors_beneath([full, full])
    assert sectors_beneath([one._replace(inside=[(MIB, 3 * MIB)]) for one in (full, full)]), (
        "each sector once"
    )
    monkeypatch.setattr(sectors, "MOST_FULL", 4 * MIB // 512)
    assert sectors_beneath([full, *[blank] * 8])
    assert sectors_beneath([full, full]) == b""
    monkeypatch.setattr(sectors, "MOST_READ", 8 * MIB)
    assert sectors_beneath([full, blank])
    assert sectors_beneath([full, *[blank] * 2]) == b""
    monkeypatch.undo()
    assert sectors_beneath([Beneath(full.read, MIB)] * 257) == b""


def test_what_came_between_two_runs_is_not_remembered_as_old() -> None:
    """Where the array is to have its data, nobody has looked since the first run."""
    old, new = {3 * GIB: b"old", 5 * GIB: b"old"}, {3 * GIB: b"old", 5 * GIB: b"new"}

    def device(content: dict[int, bytes]) -> Beneath:
        def read(offset: int, size: int) -> bytes:
            return content.get(offset, b"").ljust(size, b"\0")

        return Beneath(read, 8 * GIB, [(at, 512) for at in (3 * GIB, 5 * GIB)])

    first = unpacked(sectors_beneath([device({}), device(old)]))
    second = unpacked(sectors_beneath([device(new), device(old)], again=first.own_across()))
    sector = (512 - 3) * b"\0"
    for number, at, piece, known in (
        (0, 3, b"old", True), (0, 5, b"new", False), (1, 3, b"old", True), (1, 5, b"old", True)
    ):  # fmt: skip
        assert second.own_of(number)(at * GIB, piece + sector) is known, (number, at)


def test_places_in_the_data_of_members_are_remembered_of_disks_to_wipe_alone(tmp_path: Path) -> None:
    """Of any other disk nobody has looked there when an interrupted step is done again."""
    (create,) = (step for step in plan_of(LARGE_LAYOUT, tmp_path).steps if step.id == "array.data.create")
    again, disks, size = replace(create, clears=create.guard), frozenset({"d0", "d1"}), LARGE
    (places, _) = places_of_data(create, [size] * 2)
    inside = next(place for place in places if place[0] > GIB)[0]

    def found(step: Step, wiped: frozenset[str], *before: int) -> bool:
        """Whether the sector there is remembered."""
        held = {inside: b"data"}
        world = SimpleNamespace(
            written=lambda node: (lambda at, room: held.get(at, b"").ljust(room, b"\0"), size),
            bytes_at=None,
        )
        known = unpacked(sectors.packed(world.written("")[0], [(at, 512) for at in before]))
        decided = Decided({}, {}, {step.id: disks}, wiped, {step.id: known})
        packed = decided.sectors(step, str, world)  # type: ignore[arg-type]
        return inside in unpacked(packed).known

    assert found(create, disks) and not found(create, frozenset())
    assert found(again, disks, inside) and not found(again, disks)
    assert not found(again, frozenset(), inside)


def test_an_array_that_is_a_member(devices: Devices) -> None:
    """It is read as any member, and only the array that is made as what stands on them."""
    create = devices.steps["array.data.create"]
    leg = [block("md126", f"array:{OTHER}", 48 * MIB)]
    step = replace(create, guard=("/dev/md/leg",))
    made = replace(create, id="array.leg.create", awaits=("/dev/md/leg",), proof=Proof("array", OTHER, {}))
    devices.plan = replace(devices.plan, steps=(made, step))
    devices.steps[create.id] = step
    assert create.proof
    devices.make(
        "md126", 48 * MIB, (4096, superblock(create.proof.key, MIB, 47 * MIB)), (MIB + 4096, b"theirs")
    )
    found = {"content": {f"array:{OTHER}": {"carries": [f"linux_raid_member {create.proof.key}"]}}}
    assert (
        f"from byte {MIB + 4096} on"
        in devices.amiss(create.id, "content", f"array:{OTHER}", leg, **found)["stain"]
    )


def test_where_mkfs_left_no_signature(devices: Devices) -> None:
    make = devices.steps["filesystem.data.make"]
    create = devices.steps["array.data.create"]
    assert create.proof
    key = f"array:{create.proof.key}"
    array = [block("md127", key, 47 * MIB)]
    devices.make("md127", 47 * MIB, (0, b"anything"))
    assert "from byte 0 on" in devices.amiss(make.id, "content", key, array)["stain"]
    carried = {"content": {key: {"carries": ["ext4 ours"]}}}
    assert devices.amiss(make.id, "content", key, array, **carried)["stain"] == ""


def test_a_device_that_others_use_or_that_cannot_be_read(devices: Devices) -> None:
    disk = [block("d0", "{d0}", 64 * MIB)]
    step = devices.steps["disk.d0.partition"]
    devices.make("d0", 64 * MIB)
    devices.used = [use("written", "/dev/d0", process=7, program="dd")]
    found = devices.amiss(step.id, "content", "{d0}", disk)
    assert found["used"] and step.proof
    with pytest.raises(NotOurs) as caught:
        carries_ours("{d0}", step.proof, Machine(objects={"content": {"{d0}": found}}))
    assert caught.value.refusal.uses == (*devices.used,)
    (devices.folder / "d0").unlink()
    said = devices.amiss(step.id, "content", "{d0}", disk)["stain"]
    assert "byte 0" in said and os.strerror(errno.EIO) in said
    create = devices.steps["array.data.create"]
    identity = f"partition:{create.guard[0].rpartition('/')[2]}"
    said = devices.amiss(create.id, "content", identity, [block("d0p1", identity, MIB)])["stain"]
    assert said == UNREADABLE


def test_a_swap_file_of_zeroes_or_of_swap(devices: Devices) -> None:
    file = {"file": {"/srv/data/swapfile": {"size": MIB}}}

    def stain() -> str:
        return str(devices.amiss("swap.file.file", "file", "/srv/data/swapfile", [], **file)["stain"])

    devices.make("swapfile", MIB)
    assert stain() == ""
    devices.make("swapfile", MIB, (4086, b"SWAPSPACE2"))
    assert stain() == ""
    devices.make("swapfile", MIB, (70, b"letters"))
    assert "from byte 70 on" in stain()
    (devices.folder / "swapfile").unlink()
    assert stain() == UNREADABLE


def test_what_ended_is_not_read(devices: Devices) -> None:
    step = devices.steps["disk.d0.partition"]
    past = Past(is_open=True, ended=frozenset({step.id}), ours={step.id: frozenset(step.guard)})
    machine = Machine(blocks=(block("d0", "{d0}", 64 * MIB),))
    assert look_closer(devices.plan, machine, {}, past) == replace(machine, objects={})
