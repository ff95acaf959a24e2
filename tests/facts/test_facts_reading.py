"""How a server is read: with few processes, nothing passed over in silence, and kept as JSON."""

import json
from pathlib import Path

import pytest

from raidplan.facts import Machine
from raidplan.facts.arrays import uuid_of
from raidplan.facts.block import IDENTIFIERS, instance_of
from raidplan.facts.problem import Problem

pytestmark = pytest.mark.in_turn(7)


def test_few_processes(server):
    server.read(units=("fstrim.timer",))
    assert len(server.asked) < 20
    assert {argv[0] for argv in server.asked} <= {
        "lsblk", "wipefs", "lvm", "mdadm", "sfdisk", "mke2fs", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "pvcreate", "udevadm",
        "mkfs.f2fs", "grub-install", "dracut", "systemctl", "cryptsetup",
    }  # fmt: skip


def test_snapshot_travels_as_json(server):
    machine = server.read("/etc/fstab", units=("fstrim.timer",))
    assert Machine.from_data(json.loads(json.dumps(machine.to_data()))) == machine


def test_disk_that_cannot_be_read_is_never_blank(server):
    server.answers["wipefs"] = [
        1,
        "",
        "wipefs: error: /dev/sdo: probing initialization failed: Input/output error\n",
    ]
    assert server.read().disk("/dev/sdo").signatures == (
        "cannot be read: wipefs: error: /dev/sdo: probing initialization failed: Input/output error",
    )
    assert [trace.type for trace in server.read().disk("/dev/sdo").traces] == ["unreadable"]
    server.answers.pop("wipefs")
    assert server.read().disk("/dev/sdo").signatures == ("cannot be read: not recorded",)


def test_programs_that_fail_are_problems(server):
    server.answers = {"lsblk": [1, "", "lsblk: failed to access sysfs directory: /sys/dev/block\n"]}
    machine = server.read()
    said = "lsblk: failed to access sysfs directory: /sys/dev/block"
    assert Problem("program", "lsblk", said) in machine.problems
    data = json.loads(json.dumps(machine.to_data(lambda problem: f"no {problem.place}")))
    assert data["problems"] == [f"no {each.place}" for each in machine.problems]
    assert Machine.from_data(data) == machine
    del data["unread"]
    assert Machine.from_data(data).problems == tuple(Problem("", said=each) for each in data["problems"]), (
        "of earlier versions"
    )


def test_identifiers_are_asked_when_udev_has_looked_at_every_disk(server):
    server.read()
    assert not [argv for argv in server.asked if argv[:2] == ("udevadm", "settle")], "no udev runs there"
    server.write("/run/udev/control", "")
    server.asked.clear()
    server.answers["udevadm settle --timeout=60"] = [
        1,
        "",
        "Timed out for waiting the udev queue being empty.",
    ]
    assert ("unsettled", "udevadm") in [(each.case, each.place) for each in server.read().problems]
    settled, *after = (
        argv for argv in server.asked if argv[0] in ("udevadm", "lsblk") and "--version" not in argv
    )
    assert settled[:2] == ("udevadm", "settle") and [argv[0] for argv in after] == ["lsblk"]


def test_a_disk_swapped_while_its_identifiers_are_asked_is_not_the_one_that_was_read(server):
    """The serial number may be of either: whoever looks at the open device then finds another instance."""
    ask = server.ask

    def swapping(argv):
        if argv[0] == "lsblk":
            server.write("/sys/block/sdo/diskseq", "4711\n")
        return ask(argv)

    server.write("/sys/block/sdo/diskseq", "12\n")
    server.ask = swapping
    found = server.read().disk("/dev/sdo").instance
    assert found.startswith("12\n") and found != instance_of(server.root / "sys/block/sdo")


@pytest.mark.parametrize("attribute", ["diskseq", "queue/logical_block_size", *IDENTIFIERS])
def test_whatever_the_kernel_says_of_a_disk_tells_it_from_another(attribute: str, tmp_path: Path) -> None:
    for name in ("diskseq", "queue/logical_block_size", *IDENTIFIERS):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"\0\x80\0\x04S7K0")
    before = instance_of(tmp_path)
    assert before == instance_of(tmp_path)
    (tmp_path / attribute).write_bytes(b"\0\x80\0\x04S7K1")
    assert instance_of(tmp_path) != before
    (tmp_path / attribute).unlink()
    assert instance_of(tmp_path) != before


def test_the_array_behind_a_node_is_asked_for_again(server):
    """By the name that the kernel gave it, or a link to that."""
    found = server.read().objects["array"]
    for uuid, array in found.items():
        kernel = f"/dev/{array['device']}"
        assert uuid_of(kernel, server.root, server.ask) == uuid
        link = server.root / "dev/disk/by-id" / f"md-{uuid}"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(server.root / kernel.lstrip("/"))
        assert uuid_of(f"/dev/disk/by-id/{link.name}", server.root, server.ask) == uuid
    assert found and uuid_of("/dev/nothing", server.root, server.ask) == ""
