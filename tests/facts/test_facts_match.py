"""Which disk is which."""

import pytest

from raidplan.apply.refusal import unmatched
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import match, meaningful
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.render.refusals import refusal_text

TB = 10**12


def disk(letter, **known):
    return DiskFact(f"/dev/sd{letter}", f"sd{letter}", known.pop("size", 3 * TB), **known)


A = disk("a", serial="WD-1", wwn="0x5000c500a0000000", path="pci-0000:03:00.0-ata-1.0", model="ST3000DM001")
B = disk("b", serial="WD-2", wwn="0x5000c500a0000001", path="pci-0000:03:00.0-ata-1.1", model="ST3000DM001")
D = disk("d", serial="WD-12", model="ST3000DM001")
BARE = disk("e", serial="00000000")
MACHINE = Machine(disks=(A, B, D, BARE))


def wanted(name="d00", **given):
    return DiskIdentity(name, given.pop("size", 3 * TB), **given)


def sentences(*disks, machine=MACHINE):
    found, problems = match(disks, machine)
    return list(found), [refusal_text(unmatched(each)) for each in problems]


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
    ("given", "sentence"),
    [
        ({"serial": "WD-11"}, "d00: no disk has serial WD-11; the nearest is /dev/sda with serial WD-1"),
        ({"serial": "wd-1"}, "d00: no disk has serial wd-1"),
        ({"serial": "WD-1", "wwn": "0x5000c500a0000001"}, "d00: no disk has serial WD-1 and wwn 0x5000c500a0000001; the nearest is /dev/sd"),
        ({"serial": "QQQQXY"}, "d00: no disk has serial QQQQXY; the machine has /dev/sda, /dev/sdb, /dev/sdd, /dev/sde"),
        ({"model": "ST3000DM001"}, "d00: 3 disks have model ST3000DM001: /dev/sda, /dev/sdb, /dev/sdd; add what tells them apart, such as path"),
        ({"serial": "00000000"}, "d00: serial '00000000' tells nothing about a disk: give another identifier"),
        ({"serial": "WD-1", "wwn": "0x0000000000000000"}, "d00: wwn '0x0000000000000000' tells nothing about a disk: give another identifier"),
        ({}, "d00 has no identifier: give its serial, wwn, path or model"),
        ({"device": "/dev/sdz"}, "d00: /dev/sdz is not a disk of this machine, which has /dev/sda, /dev/sdb, /dev/sdd, /dev/sde"),
        ({"serial": "WD-1", "size": 3 * TB + 1}, "d00: /dev/sda has 2.7 TiB (3000000000000 bytes), planned 2.7 TiB (3000000000001 bytes): it is 1 bytes too small"),
        ({"serial": "WD-1", "size": 2 * TB}, "d00: /dev/sda has 2.7 TiB (3000000000000 bytes), planned 1.8 TiB (2000000000000 bytes): 50.0 % more, is it another disk?"),
        ({"serial": "WD-1", "logical_block": 4096}, "d00: /dev/sda has logical blocks of 512 bytes, planned 4096"),
    ],
)  # fmt: skip
def test_not_found(given, sentence):
    found, said = sentences(wanted(**given))
    assert found == []
    assert len(said) == 1
    assert said[0].startswith(sentence)


def test_a_little_larger_is_fine():
    assert sentences(wanted(serial="WD-1", size=int(3 * TB * 0.995))) == (["d00"], [])


def test_all_that_is_wrong_is_said():
    assert len(sentences(wanted(serial="WD-1", size=4 * TB, logical_block=4096))[1]) == 2


def test_one_disk_for_two():
    found, said = sentences(
        wanted("d00", serial="WD-1"), wanted("d01", device="/dev/sda"), wanted("d02", serial="WD-2")
    )
    assert found == ["d02"]
    assert said == [
        "d00: /dev/sda also matches d01; correct the identifiers, so that each disk of the layout matches another one",
        "d01: /dev/sda also matches d00; correct the identifiers, so that each disk of the layout matches another one",
    ]


def test_no_disks():
    assert sentences(wanted(serial="WD-1"), machine=Machine())[1] == [
        "d00: no disk has serial WD-1; the machine shows no disks at all"
    ]


def test_disk_without_serial_is_never_found_by_an_empty_one():
    assert sentences(wanted(serial="unknown"), machine=Machine(disks=(disk("a"),)))[0] == []


@pytest.mark.parametrize(
    "text", ["", "  ", "0", "00000000", "unknown", "Unknown", "ffff", "----", "None", "0000-0000"]
)
def test_meaningless(text):
    assert meaningful(text) == ""


@pytest.mark.parametrize("text", ["0123456", "no", "010", "22:22", "1e3"])
def test_meaningful(text):
    assert meaningful(f" {text} ") == text
