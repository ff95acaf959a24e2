"""Texts from tools and from /proc, the friendly and the hostile ones."""

import pytest

from raidplan.base.hidden import escaped
from raidplan.facts import arrays, disks, host, lvm, mounts, signatures
from raidplan.facts.block import Block, Names
from raidplan.facts.signatures import Signature

UUID = "01234567:89abcdef:01234567:89abcdef"
DASHED = "01234567-89ab-cdef-0123-456789abcdef"
NAMES = Names(
    {"sda": "/dev/sda", "sda1": "partition:u1", "md_s0": "array:u2", "dm-0": "volume:vg/lv"}, {"8:1": "sda1"}
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"MD_LEVEL=raid6\nMD_UUID={UUID}\nMD_DEVNAME=s0\nMD_NAME=jbod:s0\n", (DASHED, "jbod:s0")),
        (f"MD_UUID={UUID}\n", (DASHED, "")),
        (f"MD_UUID={UUID}\nMD_UUID={UUID}\nMD_NAME=x\n", (DASHED, "x")),
        (f"MD_UUID={UUID}\nMD_NAME=a\nMD_UUID=11111111:22222222:33333333:44444444\n", ("", "")),
        (f"MD_UUID={UUID}\nMD_NAME=a\nMD_NAME=b\n", (DASHED, "")),
        (f"MD_UUID={UUID}\nMD_NAME=a=b \x1b[2J\n", (DASHED, "a=b \x1b[2J")),
        ("MD_LEVEL=raid6\nMD_NAME=x\n", ("", "")),
        ("MD_UUID=zz\n", ("", "")),
        ("MD_UUID=01234567\n", ("", "")),
        ("", ("", "")),
        ("\0\n=\nMD_UUID", ("", "")),
    ],
)
def test_mdadm_export(text, expected):
    assert arrays.parse_export(text) == expected


@pytest.mark.parametrize(
    ("level", "number", "words"),
    [
        ("raid5", 2, "left-symmetric"),
        ("raid5", 5, "parity-last"),
        ("raid6", 2, "left-symmetric"),
        ("raid6", 18, "left-symmetric-6"),
        ("raid6", 8, "ddf-zero-restart"),
        ("raid6", 77, "77"),
        ("raid10", 0x102, "n2"),
        ("raid10", 0x103, "n3"),
        ("raid10", 0x201, "f2"),
        ("raid10", 0x10201, "o2"),
        ("raid10", 0x10301, "o3"),
        ("raid10", 0x20201, "f2"),
        ("raid0", 1, "original"),
        ("raid0", 2, "alternate"),
        ("raid0", -1, ""),
        ("raid0", 0, ""),
        ("raid1", 0, ""),
        ("raid4", 0, ""),
        ("linear", 0, ""),
        ("", 0, ""),
    ],
)
def test_layout_in_mdadms_words(level, number, words):
    assert arrays.layout_words(level, number) == words


WIPEFS = """{
   "signatures": [
      {"device":"sda", "offset":"0x200", "type":"gpt", "uuid":null, "label":null, "usage":"partition-table"},
      {"device":"sda1", "offset":"0x438", "type":"ext4", "uuid":"u", "label":"a\\nb \\u001b[2J", "usage":"filesystem"}
   ]
}
"""


def test_wipefs():
    found = signatures.parse_wipefs(WIPEFS)
    assert found == {
        "sda": [Signature("0x200", "gpt", usage="partition-table")],
        "sda1": [Signature("0x438", "ext4", "u", "a\nb \x1b[2J", "filesystem")],
    }
    assert [str(one) for one in found["sda1"]] == ["ext4 at 0x438 (a\\nb \\x1b[2J)"]


def test_wipefs_with_raw_control_characters():
    text = WIPEFS.replace("a\\nb \\u001b[2J", "a\nb \x1b")
    assert signatures.parse_wipefs(text)["sda1"][0].label == "a\nb \x1b"


JUNK = [
    "",
    "null",
    "[]",
    "{}",
    "nonsense",
    '{"signatures": 1}',
    '{"signatures": [1, null, {}]}',
    "[" * 100_000,
    "\0",
]


@pytest.mark.parametrize("text", JUNK)
def test_junk_for_every_json_parser(text):
    assert signatures.parse_wipefs(text) == {}
    assert disks.parse_lsblk(text) == {}
    assert lvm.parse_lvm(text, NAMES) == {"physical_volume": {}, "volume_group": {}, "volume": {}}


@pytest.mark.parametrize(
    "text", ['{"report": [{"pv": 1, "vg": [1], "lv": [{"lv_name": "x"}]}]}', '{"report": [1]}']
)
def test_junk_in_lvm(text):
    assert lvm.parse_lvm(text, NAMES) == {"physical_volume": {}, "volume_group": {}, "volume": {}}


def test_one_unreadable_device_does_not_hide_the_others(answering):
    command = f"wipefs --no-act --json --output={signatures.COLUMNS}"
    ask = answering({
        f"{command} /dev/sda /dev/sda1 /dev/sdb": (1, "", "wipefs: error: /dev/sdb: ..."),
        f"{command} /dev/sda1 /dev/sdb": (1, "", "wipefs: error: /dev/sdb: ..."),
        f"{command} /dev/sda": (0, WIPEFS, ""),
        f"{command} /dev/sda1": (0, WIPEFS, ""),
        f"{command} /dev/sdb": (1, "", "wipefs: error: /dev/sdb: Input/output error\n"),
    })  # fmt: skip
    found, unreadable = signatures.read_signatures(["/dev/sda", "/dev/sda1", "/dev/sdb"], ask)
    assert {node: len(of) for node, of in found.items()} == {"/dev/sda": 1, "/dev/sda1": 1}
    assert unreadable == {"/dev/sdb": "wipefs: error: /dev/sdb: Input/output error"}


def test_no_wipefs(answering):
    assert signatures.read_signatures(["/dev/sda"], answering({})) == ({}, {"/dev/sda": "no such program"})
    assert signatures.read_signatures([], answering({})) == ({}, {})


def test_lsblk_strips_and_leaves_out_what_is_null():
    text = '{"blockdevices": [{"kname":"sda", "type":"disk", "serial":"  WD-1 ", "wwn":null, "model":"a b"}, {"kname":null}]}'
    assert disks.parse_lsblk(text) == {
        "sda": {"kname": "sda", "type": "disk", "serial": "WD-1", "model": "a b"}
    }


MOUNTINFO = """22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw,errors=remount-ro
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 8:1 /sub /with\\040blank\\012line rw,relatime - ext4 /dev/sda1 rw,relatime
25 22 0:40 / /nfs rw - nfs4 host:/export rw,vers=4.2
26 22 0:41 / /over rw - ext4 x rw
27 22 8:1 / /over ro master:1 propagate_from:2 - ext4 /dev/sda1 rw
broken line
28 22 8:1 / /short - ext4
"""


def test_mountinfo():
    found = mounts.mount_objects(mounts.of_system(mounts.parse_mountinfo(MOUNTINFO, NAMES), ""), NAMES)
    assert found == {
        "/": {
            "source": "partition:u1",
            "type": "ext4",
            "options": ["rw", "relatime", "errors=remount-ro"],
            "flags": ["relatime"],
            "root": "/",
        },
        "/with blank\nline": {
            "source": "partition:u1",
            "type": "ext4",
            "options": ["rw", "relatime"],
            "flags": ["relatime"],
            "root": "/sub",
        },
        "/nfs": {
            "source": "host:/export",
            "type": "nfs4",
            "options": ["rw", "vers=4.2"],
            "flags": [],
            "root": "/",
        },
        "/over": {
            "source": "partition:u1",
            "type": "ext4",
            "options": ["ro", "rw"],
            "flags": ["ro"],
            "root": "/",
        },
    }


def test_below_a_target_the_mounts_that_a_chroot_left_are_seen():
    """Without its prefix /mnt/proc is /proc, which is the kernel's own only where no target is."""
    text = """22 1 8:1 / / rw - ext4 /dev/root rw
30 22 8:1 / /mnt rw - ext4 /dev/sda1 rw
31 30 0:5 / /mnt/proc rw - proc proc rw
32 30 0:6 / /mnt/dev/pts rw - devpts devpts rw
33 22 0:7 / /mnt2 rw - tmpfs t rw
34 22 0:8 / /proc rw - proc proc rw
"""
    found = mounts.parse_mountinfo(text, NAMES)
    assert [each.point for each in mounts.of_system(found, "/mnt")] == ["/", "/proc", "/dev/pts"]
    assert [each.point for each in mounts.of_system(found, "")] == [
        "/",
        "/mnt",
        "/mnt/proc",
        "/mnt/dev/pts",
        "/mnt2",
    ]


def test_below_a_target_what_a_later_mount_hides_is_not_seen():
    """Nobody could take it away before the one that hides it."""
    text = """22 1 8:1 / / rw - ext4 /dev/root rw
30 22 0:5 / /mnt rw - tmpfs below rw
31 30 0:6 / /mnt/srv rw - tmpfs hidden rw
32 30 8:1 / /mnt rw - ext4 /dev/sda1 rw
33 32 0:7 / /mnt/srv rw - tmpfs covered rw
34 33 0:8 / /mnt/srv rw - tmpfs seen rw
35 34 0:9 / /mnt/srv/a rw - tmpfs inside rw
"""
    found = mounts.of_system(mounts.parse_mountinfo(text, NAMES), "/mnt")
    assert [(each.point, each.source) for each in found] == [
        ("/", "/dev/sda1"),
        ("/srv", "seen"),
        ("/srv/a", "inside"),
    ]


def test_mount_of_btrfs_is_known_by_its_source(tmp_path):
    (tmp_path / "sda1").touch()
    names = Names({"sda1": "partition:u1"}, {}, tmp_path)
    (found,) = mounts.parse_mountinfo("30 22 0:44 / /b rw - btrfs /dev/sda1 rw,subvol=/\n", names)
    assert found.device == "sda1"


SWAPS = """Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
/dev/sda1                               partition\t4194300\t\t0\t\t-2
/swap\\040file                           file\t\t1048572\t\t12\t\t10
/gone\\040(deleted) file 4 0
"""


def test_swaps(tmp_path):
    (tmp_path / "sda1").touch()
    names = Names({"sda1": "partition:u1"}, {}, tmp_path)
    assert mounts.parse_swaps(SWAPS, names) == [
        mounts.SwapArea("/dev/sda1", False, 4194300 * 1024, -2, "sda1"),
        mounts.SwapArea("/swap file", True, 1048572 * 1024, 10),
    ]
    assert mounts.parse_swaps("", names) == []


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n", "4.2"),
        ("mdadm - v4.4+ - 2024-11-07\n", "4.4"),
        ("sfdisk from util-linux 2.38.1\n", "2.38.1"),
        ("mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n", "1.47.0"),
        ("mkfs.xfs version 6.1.0\n", "6.1.0"),
        ("mkfs.btrfs, part of btrfs-progs v6.2\n", "6.2"),
        ("mkfs.fat 4.2 (2021-01-31)\nUsage: mkfs.vfat [OPTIONS] TARGET [BLOCKS]\n", "4.2"),
        ("  LVM version:     2.03.16(2) (2022-05-18)\n  Library version: 1.02.185\n", "2.03.16"),
        ("252 (252.39-1~deb12u1)\n", "252"),
        ("dracut 059-4\n", "059"),
        ("", ""),
        ("unknown\n", ""),
    ],
)
def test_version(text, version):
    assert host.parse_version(text) == version


@pytest.mark.parametrize(
    ("name", "uuid", "volume"),
    [
        ("vg0-home", "LVM-" + "a" * 64, "vg0/home"),
        ("vg--0-home--x", "LVM-" + "a" * 64, "vg-0/home-x"),
        ("vg0-home_tdata", "LVM-" + "a" * 64 + "-tdata", ""),
        ("luks", "CRYPT-LUKS2-x", ""),
        ("nodash", "LVM-" + "a" * 64, ""),
    ],
)
def test_name_of_a_volume(name, uuid, volume):
    assert Block("dm-0", "253:0", 1, dm_name=name, dm_uuid=uuid).volume == volume


def test_text_that_moves_the_cursor_is_spelled_out():
    assert escaped("a\x1b[2J\nb\u202eü") == "a\\x1b[2J\\nb\\u202eü"
