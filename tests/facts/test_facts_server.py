"""A whole server read from a recording: every object as the tools of that server showed it."""

from functools import partial
from unittest.mock import ANY

import pytest

from raidplan.facts.arrays import BROKEN
from raidplan.facts.block import read_at
from raidplan.facts.carriers import behind as older
from raidplan.facts.carriers import carriers_of
from raidplan.facts.members import superblocks
from raidplan.facts.problem import Problem
from raidplan.facts.prove import Deviation, differences
from raidplan.facts.uses import User
from raidplan.plan.step import Proof

pytestmark = pytest.mark.in_turn(16)

S0 = "01234567-89ab-cdef-0123-456789abcdef"


def part(machine, node):
    disk = next(disk for disk in machine.disks if node.startswith(disk.node))
    return "partition:" + next(part.uuid for part in disk.partitions if part.node == node)


def array(machine, node):
    return next(found for found in machine.objects["array"].values() if found["node"] == node)


def uuid_of(machine, node):
    return next(uuid for uuid, found in machine.objects["array"].items() if found["node"] == node)


def test_disks(machine):
    sda = machine.disk("/dev/sda")
    assert (sda.serial, sda.wwn, sda.model) == ("WD-0000", "0x5000c500a0000000", "ST3000 DM001")
    assert sda.path == "pci-0000:00:06.0-scsi-0:0:0:0"
    assert (sda.size, sda.logical_block, sda.physical_block) == (536870912, 512, 4096)
    assert sda.rotational
    assert not sda.read_only
    assert sda.signatures == ("gpt at 0x200", "gpt at 0x1ffffe00", "PMBR at 0x1fe")
    assert [(part.node, part.start, part.size, part.name) for part in sda.partitions] == [
        ("/dev/sda1", 1048576, 314572800, "s0"),
        ("/dev/sda2", 315621376, 104857600, ""),
        ("/dev/sda3", 420478976, 52428800, ""),
    ]
    assert sda.partitions[0].type == "a19d880f-05fc-4d3b-a006-743f0f84911e"
    assert sda.partitions[0].signatures == ("linux_raid_member at 0x1000 (jbod:s0)",)
    assert machine.disk("/dev/disk/by-id/wwn-0x5000c500a0000000") is sda


def test_users_of_everything_above_a_disk(machine):
    assert tuple(map(str, machine.disk("/dev/sda").users)) == (
        "held by md_s0",
        "mounted at /data",
        "held by md_r10",
        "held by vg--0-home--x (dm-0)",
        "held by vg--0-b (dm-1)",
        "held by vg--0-c (dm-2)",
        "swap",
        "held by md_j5",
    )
    assert machine.disk("/dev/sdo").users == ()
    assert machine.disk("/dev/sdn").users == (User("mounted", "/mnt"),)


def test_array(machine):
    assert machine.objects["array"][S0] == {
        "name": "jbod:s0",
        "level": "raid6",
        "metadata": "1.2",
        "chunk": 524288,
        "layout": "left-symmetric",
        "members": [part(machine, f"/dev/sd{letter}1") for letter in "abcde"],
        "spares": [part(machine, "/dev/sdf1")],
        "faulty": [],
        "component": 312475648,
        "size": 937426944,
        "consistency": "bitmap",
        "state": "clean",
        "degraded": 0,
        "sync_action": "frozen",
        "sync_held": True,
        "node": "/dev/md_s0",
        "device": "md_s0",
        "links": ["s0"],
        "data_offset": 2097152,
    }
    assert machine.objects["tuning"][S0] == {
        "md/stripe_cache_size": 1024,
        "md/group_thread_cnt": 0,
        "md/sync_speed_min": 5000,
        "md/sync_speed_max": 200000,
        "queue/read_ahead_kb": 3072,
    }


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("/dev/md_r10", {"layout": "f2", "level": "raid10", "chunk": 65536, "degraded": 1}),
        ("/dev/md_o2", {"layout": "o2", "level": "raid10", "name": "jbod:o2"}),
        (
            "/dev/md_end",
            {"metadata": "1.0", "name": "jbod:end", "members": ["/dev/sdi", "/dev/sdj"], "data_offset": 0},
        ),
        ("/dev/md_old", {"metadata": "0.90", "name": "", "consistency": "resync"}),
        ("/dev/md_j5", {"consistency": "journal", "level": "raid5"}),
        ("/dev/md_z", {"metadata": "1.1", "level": "raid0", "chunk": 524288, "size": 100663296}),
        ("/dev/md_lin", {"level": "linear", "data_offset": 1048576, "size": 207618048}),
    ],
)
def test_every_kind_of_array(machine, node, expected):
    found = array(machine, node)
    assert {name: found[name] for name in expected} == expected


def test_what_an_array_has_not_is_absent(machine):
    for node in ("/dev/md_z", "/dev/md_lin"):
        assert (
            not {"consistency", "layout", "component", "degraded", "sync_action", "journal"}
            & array(machine, node).keys()
        )
    assert "chunk" not in array(machine, "/dev/md_lin")
    assert machine.objects["tuning"][uuid_of(machine, "/dev/md_lin")] == {"queue/read_ahead_kb": 128}


def test_missing_member_and_journal(machine):
    assert array(machine, "/dev/md_r10")["members"] == [
        *(part(machine, f"/dev/sd{letter}2") for letter in "abc"),
        "missing",
    ]
    assert array(machine, "/dev/md_j5")["journal"] == part(machine, "/dev/sdd3")
    assert array(machine, "/dev/md_j5")["spares"] == []


def test_uuid_of_every_metadata_is_what_mdadm_shows(machine):
    assert uuid_of(machine, "/dev/md_old") == "00a46a1a-9fa5-c685-8359-60bed78a86e1"
    assert uuid_of(machine, "/dev/md_end") == "8bd97164-cfa7-9b5e-1f8f-197a2f74d673"
    assert uuid_of(machine, "/dev/md_z") == "8b96a5b6-3afb-0a68-ec0b-1ad9caaa1a0c"
    assert uuid_of(machine, "/dev/md_o2") == "a5998463-b4f1-20a9-89e9-fb2a03e56c07"


def test_faulty_member_that_keeps_its_slot(server):
    server.write("sys/block/md_s0/md/dev-sdb1/state", "faulty\n")
    machine = server.read()
    found = machine.objects["array"][S0]
    assert found["members"][1] == "missing"
    assert found["faulty"] == [part(machine, "/dev/sdb1")]


def test_array_without_uuid_is_a_problem(server):
    server.answers["mdadm --detail --export /dev/md_o2"] = [0, "MD_LEVEL=raid10\n", ""]
    machine = server.read()
    assert machine.problems == (Problem("array", "/dev/md_o2"),)
    assert "/dev/md_o2" not in [found["node"] for found in machine.objects["array"].values()]


def test_inactive_array(server):
    server.write("sys/block/md_s0/md/array_state", "inactive\n")
    server.write("sys/block/md_s0/md/level", "\n")
    server.write("sys/block/md_s0/md/raid_disks", "0\n")
    server.write("sys/block/md_s0/size", "0\n")
    found = server.read().objects["array"][S0]
    assert (found["state"], found["members"], found["size"], found["node"]) == (
        "inactive",
        [],
        0,
        "/dev/md_s0",
    )


@pytest.mark.parametrize("updates, behind", [(0, False), (1, False), (2, True)])
def test_a_member_that_missed_updates_is_behind(server, updates, behind):
    """md starts an array with one that missed the last."""
    block = bytearray(read_at(server.root / "dev/sda1", 4096, 4096))
    for place, size in ((200, 8), (216, 4)):  # the events, and the checksum, which is a sum
        number = int.from_bytes(block[place : place + size], "little") + updates
        block[place : place + size] = number.to_bytes(size, "little")
    with (server.root / "dev/sdb1").open("r+b") as other:
        other.seek(4096)
        other.write(block)
    machine = server.read()
    late = older([*carriers_of(S0, machine)])
    assert [each.device for each in late] == [part(machine, "/dev/sda1")] * behind


def test_superblocks_tell_the_slots_and_forms_that_the_kernel_shows(machine):
    """Of every version that is recorded."""
    versions = set()
    for uuid, found in machine.objects["array"].items():
        for each in carriers_of(uuid, machine):
            versions.add(found["metadata"])
            assert each.has_data and found["members"][each.slot] == each.device
            assert (each.level, each.members) == (found["level"], len(found["members"]))
            assert each.layout == found.get("layout", "") or found["level"] == "raid0"
    assert versions == {"0.90", "1.0", "1.1", "1.2"}


def test_events_are_those_that_mdadm_shows(server):
    """Of every version; the numbers are those of `mdadm --examine`."""
    found = {}
    for name in ("sda1", "sde3", "sdg", "sdi"):
        file = server.root / "dev" / name
        (block,) = superblocks(partial(read_at, file), file.stat().st_size)
        found[block.version] = block.events
    assert found == {"1.2": 33, "1.1": 0, "0.90": 18, "1.0": 17}


def test_a_broken_array_is_read_as_one(server):
    """Of a member that vanished nothing but the name is left."""
    server.write("sys/block/md_z/md/array_state", "broken\n")
    names = sorted(each.name for each in (server.root / "sys/block/md_z/md").glob("dev-*"))
    gone = names[0].removeprefix("dev-")
    (folder,) = (server.root / "sys/block").glob(f"*/{gone}")
    for each in sorted(folder.rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() and not each.is_symlink() else each.unlink()
    machine = server.read()
    found = array(machine, "/dev/md_z")
    assert found["state"] == BROKEN and f"/dev/{gone}" in found["members"]
    assert f"/dev/{gone}" not in {block.identity for block in machine.blocks}


def test_table(machine):
    (found,) = [found for found in machine.objects["table"].values() if found["disk"] == "/dev/sda"]
    parts = machine.disk("/dev/sda").partitions
    assert found["partitions"] == [f"{part.uuid} {part.start} {part.size} {part.type}" for part in parts]
    assert len(machine.objects["table"]) == 6


def test_a_copied_disk_is_told_beside_the_first(server):
    with (server.root / "dev/sda").open("rb") as original, (server.root / "dev/sdo").open("r+b") as copy:
        copy.write(original.read(1 << 20))
    machine = server.read()
    assert [
        (found["disk"], found["also"]) for found in machine.objects["table"].values() if "also" in found
    ] == [("/dev/sda", ["/dev/sdo"])]
    # The kernel has not read the copy's table, yet the disk is not blank.
    assert [part.node for part in machine.disk("/dev/sdo").partitions] == [
        "/dev/sdo1",
        "/dev/sdo2",
        "/dev/sdo3",
    ]


def test_kernel_with_an_outdated_table(server):
    server.write("sys/block/sda/sda1/start", "4096\n")
    machine = server.read()
    assert machine.disk("/dev/sda").partitions[0].uuid == ""
    assert machine.objects["array"][S0]["members"][0] == "/dev/sda1"


def test_lvm(machine):
    on = f"array:{uuid_of(machine, '/dev/md_r10')}"
    assert machine.objects["physical_volume"] == {
        "YCTZD1-gd3i-ztlk-V5lQ-P8Eh-TAcE-l485VA": {"device": on, "data_start": 2097152, "group": "vg-0"}
    }
    assert machine.objects["volume_group"] == {
        "vg-0": {
            "extent": 1048576, "devices": [on], "uuid": "QZ1gHf-9DaL-abl7-V4qN-Yqsb-HX7k-a580W8", "missing": 0,
        }
    }  # fmt: skip
    assert machine.objects["volume"] == {
        "vg-0/b": {"size": 20971520, "read_ahead": 131072, "active": True, "node": "/dev/vg-0/b"},
        "vg-0/c": {"size": 31457280, "read_ahead": "auto", "active": True, "node": "/dev/vg-0/c"},
        "vg-0/home-x": {"size": 20971520, "read_ahead": "auto", "active": True, "node": "/dev/vg-0/home-x"},
    }


def test_a_volume_without_a_device_is_not_active(server):
    """LVM is asked to read only, and tells of the metadata alone."""
    server.write("sys/block/dm-1/size", "0\n")
    volumes = server.read().objects["volume"]
    assert {name: found["active"] for name, found in volumes.items()} == {
        "vg-0/b": False,
        "vg-0/c": True,
        "vg-0/home-x": True,
    }


def test_filesystems(machine):
    found = {entry["device"]: entry for entry in machine.objects["filesystem"].values()}
    # As dumpe2fs and xfs_info showed it on that server.
    assert found[f"array:{S0}"] == {
        "type": "ext4",
        "label": "data",
        "device": f"array:{S0}",
        "untouched": False,
        "block": 4096,
        "blocks": 228864,
        "resized": False,
        "inodes": 57232,
        "stride": 128,
        "stripe_width": 384,
        "reserved_blocks": 11443,
        "inode_size": 256,
        "made_at": ANY,
    }
    assert {
        "type": "xfs",
        "block": 4096,
        "blocks": 131072,
        "su": 0,
        "sw": 0,
        "imax_pct": 25,
    }.items() <= found["/dev/sdn"].items()
    # Members with the superblock at their end show the file system as well; it is the array's.
    assert f"array:{uuid_of(machine, '/dev/md_end')}" in found
    assert not {"/dev/sdi", "/dev/sdj"} & found.keys()


def test_swap(server):
    (server.root / "data").mkdir()
    (server.root / "data/swap").write_bytes(bytes(20971520))
    machine = server.read()
    assert machine.objects["swap"] == {
        "91dcc8da-8b93-4b2e-a786-0ebab99d193f": {
            "type": "swap",
            "label": "sw",
            "device": "volume:vg-0/home-x",
            "page": 4096,
            "size": 20971520,
            "active": True,
            "priority": 7,
        },
        "file:/data/swap": {"size": 20971520, "active": True, "priority": 3},
    }


def test_a_swap_file_below_a_target_is_seen_finished_or_not(server):
    """Commands name it from the root of the rescue system on; a fact of the target's own files has its path there."""
    server.write("/mnt/cut", "\0" * 8192)
    server.write("/mnt/swapfile", "\0" * 4086 + "SWAPSPACE2")
    (server.root / "mnt/swapfile").chmod(0o600)
    found = server.read(swap_files=("/mnt/cut", "/mnt/swapfile"), target="/mnt")
    assert found.observe("file", "/mnt/cut") == {"size": 8192, "content": "\0" * 8192}
    assert found.observe("swap", "file:/mnt/cut") is None
    assert found.observe("swap", "file:/mnt/swapfile") == {"size": 4096, "active": False}


def test_mounts(machine):
    mounts = machine.objects["mount"]
    assert mounts["/data"] == {
        "source": f"array:{S0}",
        "type": "ext4",
        "options": ["rw", "relatime", "stripe=384"],
        "flags": ["relatime"],
        "root": "/",
    }
    assert mounts["/mnt"]["source"] == "/dev/sdn"
    assert not [point for point in mounts if point.startswith(("/proc", "/sys", "/dev", "/run"))]


def test_named(machine):
    named = machine.named({"/dev/sdi": "d08", "/dev/sdj": "d09", "/dev/sda": "d00", "/dev/sdn": "d13"})
    assert array(named, "/dev/md_end")["members"] == ["{d08}", "{d09}"]
    assert "{d00}" in [found["disk"] for found in named.objects["table"].values()]
    assert named.objects["mount"]["/mnt"]["source"] == "{d13}"
    assert named.disk("/dev/sda").node == "/dev/sda"


def test_proof_against_the_server(machine):
    assert (
        differences(Proof("array", S0, {"level": "raid6", "chunk": 524288, "sync_held": True}), machine) == []
    )
    other = differences(Proof("array", S0, {"level": "raid5", "sync_held": False}), machine)
    assert other == [Deviation("level", "raid6", "raid5"), Deviation("sync_held", True, False)]
