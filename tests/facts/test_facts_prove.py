"""Differences as values, and snapshots."""

import json
from pathlib import Path

import pytest

from raidplan.facts import DiskFact, Machine, PartitionFact
from raidplan.facts.failure import Failed
from raidplan.facts.machine import Trace
from raidplan.facts.problem import Problem
from raidplan.facts.prove import Deviation, differences
from raidplan.facts.uses import User
from raidplan.plan.step import Proof

ARRAY = {
    "chunk": 65536,
    "size": 3000592982016,
    "members": ["a", "b", "missing"],
    "spares": [],
    "sync_held": False,
    "degraded": 1,
}
MACHINE = Machine(objects={"array": {"u": ARRAY}, "swap": {"s": {"label": ""}}})


@pytest.mark.parametrize(
    ("expect", "found"),
    [
        (ARRAY, []),
        ({}, []),
        ({"chunk": 524288}, [Deviation("chunk", 65536, 524288)]),
        ({"size": 3000592982017}, [Deviation("size", 3000592982016, 3000592982017)]),
        ({"members": ["a", "b", "c"]}, [Deviation("members", "missing", "c", 2)]),
        (
            {"members": ["b", "a", "missing"]},
            [Deviation("members", "a", "b", 0), Deviation("members", "b", "a", 1)],
        ),
        ({"members": ["a"]}, [Deviation("members", ["a", "b", "missing"], ["a"])]),
        ({"spares": ["x"]}, [Deviation("spares", [], ["x"])]),
        ({"sync_held": True}, [Deviation("sync_held", False, True)]),
        ({"degraded": True}, [Deviation("degraded", 1, True)]),
        ({"journal": "j"}, [Deviation("journal", None, "j")]),
    ],
)
def test_differences(expect, found):
    assert differences(Proof("array", "u", expect), MACHINE) == found


def test_empty_text():
    assert differences(Proof("swap", "s", {"label": "sw"}), MACHINE) == [Deviation("label", "", "sw")]


def test_nothing_there():
    assert differences(Proof("array", "other", {}), MACHINE) is None
    assert differences(Proof("table", "u", {}), MACHINE) is None


def test_attribute_names():
    machine = Machine(objects={"tuning": {"u": {"md/stripe_cache_size": 256}}})
    proof = Proof("tuning", "u", {"md/stripe_cache_size": 32768})
    assert differences(proof, machine) == [Deviation("md/stripe_cache_size", 256, 32768)]


def snapshot():
    part = PartitionFact("/dev/sda1", "u", "t", 1048576, 4096, "n", ("ext4 at 0x438",))
    disk = DiskFact(
        "/dev/sda",
        "sda",
        1000,
        serial="0123",
        partitions=(part,),
        users=(User("swap"),),
        traces=(Trace(0, "data", where="future"),),
    )
    return Machine(
        (disk,), {"array": {"u": ARRAY}}, 1024, "bios", "h", True, "6.1", (Problem("program", "lsblk", "no"),)
    )


def test_snapshot_and_back():
    machine = snapshot()
    assert Machine.from_data(machine.to_data()) == machine
    assert Machine.from_data(json.loads(json.dumps(machine.to_data()))) == machine


def test_a_snapshot_in_which_users_are_texts():
    """Recorded before they were records; the text form is still that one."""
    recorded = json.loads((Path(__file__).parent / "recorded/snapshot_users_as_texts.json").read_text())
    machine = Machine.from_data(recorded)
    kinds = [[user.kind for user in disk.users] for disk in machine.disks]
    assert kinds == [["held", "mounted", *["held"] * 4, "swap", "held"], ["mounted", "btrfs", "loop"]]
    assert [user for block in machine.blocks for user in block.uses] == [
        User("swap"), User("mounted", "/data"), User("mounted", "/mnt"), User("mounted", "/"),
    ]  # fmt: skip
    assert json.loads(json.dumps(machine.to_data())) == recorded


@pytest.mark.parametrize("text", ["swap", "swapped", "mounted at /a b", "held by vg-a (dm-0)", "behind /dev/loop1", "anything", ""])  # fmt: skip
def test_a_user_and_its_text(text):
    assert str(User.read(text)) == text and User.read(str(User.read(text))) == User.read(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("disks"),
        lambda data: data.update(format_version=2),
        lambda data: data["disks"][0].update(size="1000"),
        lambda data: data["disks"][0].update(size=True),
        lambda data: data["disks"][0].pop("serial"),
        lambda data: data["disks"][0].update(users="swap"),
        lambda data: data["disks"][0].update(users=[1]),
        lambda data: data["disks"][0]["partitions"][0].update(start=None),
        lambda data: data["disks"][0]["traces"][0].update(where="elsewhere"),
        lambda data: data["unread"][0].update(case="elsewhere"),
        lambda data: data["unread"][0].pop("place"),
        lambda data: data.update(objects=[]),
        lambda data: data["objects"].update(array={"u": {"size": 1.5}}),
        lambda data: data["objects"].update(array={"u": {"members": [1]}}),
        lambda data: data.update(disks=None),
    ],
)
def test_what_is_no_snapshot(change):
    data = json.loads(json.dumps(snapshot().to_data()))
    change(data)
    with pytest.raises(Failed, match=r"^snapshot"):
        Machine.from_data(data)


@pytest.mark.parametrize("data", [None, [], "x", 1])
def test_what_is_no_object(data):
    with pytest.raises(ValueError, match=r"^snapshot "):
        Machine.from_data(data)


def test_names_keep_sorted_lists_sorted_and_slots_in_order():
    found = {"members": ["/dev/sdb", "/dev/sda"], "spares": ["/dev/sda", "/dev/sdb"]}
    machine = Machine(objects={"array": {"u": found}, "file": {"/f": {"content": "/dev/sda"}}})
    named = machine.named({"/dev/sda": "z", "/dev/sdb": "a"})
    assert named.observe("array", "u") == {"members": ["{a}", "{z}"], "spares": ["{a}", "{z}"]}
    assert named.observe("file", "/f") == {"content": "/dev/sda"}
