"""How a server is read: with few processes, nothing passed over in silence, and kept as JSON."""

import json

from raidplan.facts import Machine


def test_few_processes(server):
    server.read(units=("fstrim.timer",))
    assert len(server.asked) < 20
    assert {argv[0] for argv in server.asked} <= {
        "lsblk", "wipefs", "lvm", "mdadm", "sfdisk", "mke2fs", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "pvcreate", "udevadm",
        "dracut", "systemctl",
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
    assert "lsblk failed: lsblk: failed to access sysfs directory: /sys/dev/block" in server.read().problems
