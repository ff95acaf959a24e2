"""Which disk is which."""

import pytest

from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import Mismatch, match, meaningful
from raidplan.plan.disk_identity import DiskIdentity

TB = 10**12


def disk(letter, **known):
    return DiskFact(f"/dev/sd{letter}", f"sd{letter}", known.pop("size", 3 * TB), **known)


A = disk("a", serial="WD-1", wwn="0x5000c500a0000000", path="pci-0000:03:00.0-ata-1.0", model="ST3000DM001")
B = disk("b", serial="WD-2", wwn="0x5000c500a0000001", path="pci-0000:03:00.0-ata-1.1", model="ST3000DM001")
D = disk("d", serial="WD-12", model="ST3000DM001")
BARE = disk("e", serial="00000000")
MACHINE = Machine(disks=(A, B, D, BARE))
NODES = ("/dev/sda", "/dev/sdb", "/dev/sdd", "/dev/sde")


def wanted(name="d00", **given):
    return DiskIdentity(name, given.pop("size", 3 * TB), **given)


def matched(*disks, machine=MACHINE):
    found, problems = match(disks, machine)
    return list(found), problems


@pytest.mark.parametrize(
    "given",
    [
        {"serial": "WD-1"},
        {"serial": "  WD-1 "},
        {"wwn": "5000C500A0000000"},
        {"wwn": "naa.5000c500a0000000"},
        {
            "wwn": "0x5000c500a0000000",
            "serial": "WD-1",
            "path": "pci-0000:03:00.0-ata-1.0",
            "model": "ST3000DM001",
        },
        {"device": "/dev/sda"},
    ],
)
def test_found(given):
    found, problems = match([wanted(**given)], MACHINE)
    assert found == {"d00": A}
    assert problems == []


def test_model_with_udevs_underscores():
    machine = Machine(disks=(disk("a", serial="S1", model="ST3000 DM001"),))
    assert match([wanted(serial="S1", model="ST3000_DM001")], machine)[0]


def test_link_as_device():
    machine = Machine(disks=(disk("a", links=("/dev/disk/by-id/ata-x",)),))
    assert match([wanted(device="/dev/disk/by-id/ata-x")], machine)[0]


@pytest.mark.parametrize(
    ("given", "case", "figures"),
    [
        ({"serial": "WD-11"}, "nearest", {"identifiers": ("serial WD-11",), "node": "/dev/sda", "has": ("serial WD-1",)}),
        ({"serial": "wd-1"}, "nearest", {"identifiers": ("serial wd-1",), "node": "/dev/sda", "has": ("serial WD-1",)}),
        ({"serial": "WD-1", "wwn": "0x5000c500a0000001"}, "nearest",
         {"identifiers": ("serial WD-1", "wwn 0x5000c500a0000001"), "node": "/dev/sda", "has": ("serial WD-1", "wwn 0x5000c500a0000000")}),
        ({"serial": "QQQQXY"}, "none", {"identifiers": ("serial QQQQXY",), "nodes": NODES}),
        ({"model": "ST3000DM001"}, "several", {"identifiers": ("model ST3000DM001",), "count": 3, "nodes": NODES[:3]}),
        ({"serial": "00000000"}, "meaningless", {"identifiers": ("serial '00000000'",)}),
        ({"serial": "WD-1", "wwn": "0x0000000000000000"}, "meaningless", {"identifiers": ("wwn '0x0000000000000000'",)}),
        ({}, "no-identifier", {}),
        ({"device": "/dev/sdz"}, "device", {"node": "/dev/sdz", "nodes": NODES}),
        ({"serial": "WD-1", "size": 3 * TB + 1}, "small", {"node": "/dev/sda", "size": 3 * TB, "planned": 3 * TB + 1, "short": 1}),
        ({"serial": "WD-1", "size": 2 * TB}, "large", {"node": "/dev/sda", "size": 3 * TB, "planned": 2 * TB, "percent": "50.0"}),
        ({"serial": "WD-1", "logical_block": 4096}, "logical-block", {"node": "/dev/sda", "size": 512, "planned": 4096}),
    ],
)  # fmt: skip
def test_not_found(given, case, figures):
    assert matched(wanted(**given)) == ([], [Mismatch("d00", case, figures)])


def test_a_little_larger_is_fine():
    assert matched(wanted(serial="WD-1", size=int(3 * TB * 0.995))) == (["d00"], [])


def test_all_that_is_wrong_is_said():
    assert len(matched(wanted(serial="WD-1", size=4 * TB, logical_block=4096))[1]) == 2


def test_one_disk_for_two():
    found, problems = matched(
        wanted("d00", serial="WD-1"), wanted("d01", device="/dev/sda"), wanted("d02", serial="WD-2")
    )
    assert found == ["d02"]
    assert problems == [
        Mismatch("d00", "taken", {"node": "/dev/sda", "others": ("d01",)}),
        Mismatch("d01", "taken", {"node": "/dev/sda", "others": ("d00",)}),
    ]


def test_no_disks():
    none = Mismatch("d00", "no-disks", {"identifiers": ("serial WD-1",)})
    assert matched(wanted(serial="WD-1"), machine=Machine())[1] == [none]


def test_disk_without_serial_is_never_found_by_an_empty_one():
    assert matched(wanted(serial="unknown"), machine=Machine(disks=(disk("a"),)))[0] == []


@pytest.mark.parametrize(
    "text", ["", "  ", "0", "00000000", "unknown", "Unknown", "ffff", "----", "None", "0000-0000"]
)
def test_meaningless(text):
    assert meaningful(text) == ""


@pytest.mark.parametrize("text", ["0123456", "no", "010", "22:22", "1e3"])
def test_meaningful(text):
    assert meaningful(f" {text} ") == text
