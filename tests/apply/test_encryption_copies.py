"""Encryptions whose header shows on more than one layer of device-mapper: on the legs of a mirrored volume, and on a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from raidplan.apply.preflight.doubles import copied
from raidplan.base.size import GIB
from raidplan.facts import Machine
from raidplan.facts.block import Block, Names
from raidplan.facts.luks import encryption_objects
from raidplan.facts.machine import BlockFact, Properties
from raidplan.facts.readings import Readings
from raidplan.facts.signatures import Signature
from tests.apply.stacks import plan_of

LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {d0: {size: 1TB, serial: PAIR-0}}
volume_groups:
  vg0: {devices: [d0], volumes: {home: {size: 100GiB}}}
encryption:
  c0: {device: vg0.home, key: ask}
"""
HOME = "volume:vg0/home"
NAMES = {"dm-0": HOME, "dm-3": "volume:vg0/snap"}


def shown(uuid: str, below: Mapping[str, tuple[str, ...]], shows: set[str], folder: Path) -> Machine:
    """Volumes on what is below each, where a header with this UUID shows."""
    holders = {name: tuple(each for each, on in below.items() if name in on) for name in below}
    blocks = {name: Block(name, "253:0", GIB, slaves=on, holders=holders[name]) for name, on in below.items()}
    header = [Signature("0x0", "crypto_LUKS", uuid, "", "crypto")]
    readings = Readings(folder, blocks, {}, {f"/dev/{name}": header for name in shows}, {}, [], [])
    names = Names(NAMES)
    facts = (
        BlockFact(name, names.of(name), f"/dev/{name}", "volume", GIB, below=on) for name, on in below.items()
    )
    return Machine((), {"encryption": encryption_objects(readings, names)}, 1, blocks=tuple(facts))


def told(
    below: Mapping[str, tuple[str, ...]], shows: set[str], folder: Path
) -> tuple[Properties, list[object]]:
    """The encryption of the layout on such a machine, and what of it is told as a copy."""
    plan = plan_of(LAYOUT, folder)
    (uuid,) = (step.proof.key for step in plan.steps if step.id == "encryption.c0.make" and step.proof)
    machine = shown(uuid, below, shows, folder)
    reasons = [*copied(plan, machine)]
    assert {(each.code, each.case) for each in reasons} <= {("uuid-taken", "copy")}
    return machine.objects["encryption"][uuid], [each.figures["devices"] for each in reasons]


def test_the_legs_of_a_mirrored_volume_are_no_copies(tmp_path: Path) -> None:
    """libblkid reads vg0-home_rimage_0 and _1, whose UUIDs in device-mapper have no suffix, as `lvconvert --type raid1` makes them."""
    below = {"dm-0": ("dm-1", "dm-2"), "dm-1": ("sdb1",), "dm-2": ("sdc1",)}
    found, copies = told(below, {"dm-0", "dm-1", "dm-2"}, tmp_path)
    assert found["device"] == HOME and "also" not in found and copies == []


def test_the_snapshot_of_a_volume_is_a_copy(tmp_path: Path) -> None:
    """dm-1 is vg0-home-real, on which both stand, dm-2 what was written since. libblkid does not read these two; whoever does is
    told the same."""
    below = {"dm-0": ("dm-1",), "dm-1": ("sdb1",), "dm-2": ("sdb1",), "dm-3": ("dm-1", "dm-2")}
    for number, shows in enumerate(({"dm-0", "dm-3"}, {"dm-0", "dm-1", "dm-3"})):
        (tmp_path / str(number)).mkdir()
        _, copies = told(below, shows, tmp_path / str(number))
        assert copies == [(HOME, NAMES["dm-3"])]


def test_a_snapshot_that_stands_on_the_volume_itself_is_a_copy(tmp_path: Path) -> None:
    """As `dmsetup create` makes one by hand: on its origin, and on what was written since."""
    below = {"dm-0": ("sdb1",), "dm-2": ("sdc1",), "dm-3": ("dm-0", "dm-2")}
    facts = [BlockFact(name, NAMES.get(name, f"/dev/{name}"), f"/dev/{name}", "volume", GIB, below=on) for name, on in below.items()]  # fmt: skip
    plan = plan_of(LAYOUT, tmp_path)
    (uuid,) = (step.proof.key for step in plan.steps if step.id == "encryption.c0.make" and step.proof)
    objects = {"encryption": {uuid: {"device": HOME, "also": [NAMES["dm-3"]]}}}
    assert [each.code for each in copied(plan, Machine((), objects, 1, blocks=tuple(facts)))] == [
        "uuid-taken"
    ]
