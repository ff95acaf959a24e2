"""What comes from disks, tools and files of the machine is hostile: validated, spelled out, never taken at its word."""

from __future__ import annotations

import json
import struct
import zlib
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply.configuration.blocks import wanted_text
from raidplan.apply.configuration.files import write
from raidplan.apply.world import World
from raidplan.base.checksum import crc32c
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.hidden import escaped
from raidplan.base.magic import SignatureAt
from raidplan.facts import DiskFact, Machine
from raidplan.facts.arrays import parse_export
from raidplan.facts.block import read_at
from raidplan.facts.block_devices import SAFE_NAME, signature_at
from raidplan.facts.disks import parse_lsblk
from raidplan.facts.match import match, meaningful
from raidplan.facts.signatures import parse_wipefs
from raidplan.facts.tables import read_table
from raidplan.facts.traces import Place, read_traces
from raidplan.facts.uses import User
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.step import WriteBlock
from tests.apply.stacks import LAYOUT, OLD, decided, old_pair, plan_of
from tests.facts.conftest import Server
from tests.images import image, put, tool

TB = 10**12


def found(wanted: str, *serials: str) -> list[str]:
    """The nodes of the disks that a serial in a layout means."""
    disks = tuple(DiskFact(f"/dev/sd{n}", f"sd{n}", TB, serial=serial) for n, serial in enumerate(serials))
    return [disk.node for disk in match([DiskIdentity("d0", TB, serial=wanted)], Machine(disks))[0].values()]


@pytest.mark.parametrize(
    "serial", ["", "   ", "00000000", "unknown", "UNKNOWN", "0123456789ABCDEF", "FFFFFFFF", "ffff-ffff"]
)
def test_what_tells_nothing_is_no_identifier(serial: str) -> None:
    assert meaningful(serial) == "" and found(serial, serial) == []


@pytest.mark.parametrize(
    ("wanted", "serial", "fits"),
    [
        ("WD-1", "WD-1  ", True),
        ("  WD-1", "WD-1", True),
        ("WD 1", "WD 1", True),
        ("WD 1", "WD_1", False),
        ("wd-1", "WD-1", False),
        ("WD-1", "WD-1\u0430", False),
        ("ä-1", "ä-1", True),
    ],
)
def test_serials_are_compared_byte_for_byte_without_outer_spaces(
    wanted: str, serial: str, fits: bool
) -> None:
    assert found(wanted, serial) == (["/dev/sd0"] if fits else [])


@pytest.mark.parametrize("wanted", ["WD*", "WD-?", "WD-.", "(WD-)+1", "[A-Z]+-1", ".*1"])
def test_nothing_is_a_pattern(wanted: str) -> None:
    assert found(wanted, "WD-1", "WD-2") == [] and found(wanted, wanted, "WD-1") == ["/dev/sd0"]


def test_a_serial_is_no_prefix_of_another() -> None:
    assert found("WD1", "WD12", "WD1") == ["/dev/sd1"] and found("WD1", "WD12") == []


@given(st.text(max_size=40))
def test_text_of_a_disk_is_one_harmless_line(text: str) -> None:
    assert escaped(text).isprintable()
    for found in (signature_at(0, "0x438", "ext4", text), signature_at(0, "0x438", text, text)):
        assert str(found).isascii() and "\n" not in str(found)
        assert SignatureAt.read(str(found)) == found


@pytest.mark.parametrize("name", ["md127", "md_s0", "md5", "loop0", "nvme0n1p2", "dm-0"])
def test_kernel_names_that_a_command_may_hold(name: str) -> None:
    assert SAFE_NAME.fullmatch(name)


@pytest.mark.parametrize(
    "name", ["", "-rf", "md a", "md\n", "md;x", "md$x", "../x", "md\x1b", "x" * 65, "mdä"]
)
def test_kernel_names_that_none_may(name: str) -> None:
    assert not SAFE_NAME.fullmatch(name)


@pytest.mark.parametrize(
    "text",
    [
        f"MD_UUID=aaaaaaaa:bbbbbbbb:cccccccc:dddddddd\nMD_NAME=x\nMD_UUID={OLD}\n",
        "MD_NAME=x\nMD_UUID=00000000:00000000:00000000:00000000 \n",
        "MD_UUID=$(id)\n",
        "",
    ],
)
def test_a_name_that_brings_a_line_with_it_is_not_believed(text: str) -> None:
    assert parse_export(text) == ("", "")


JUNK = ["", "{", "[]", "null", '{"blockdevices": 5}', '{"blockdevices": [5, null, {"kname": null}]}', '{"blockdevices": [{"kname": {}}]}', "[" * 100_000]  # fmt: skip


@pytest.mark.parametrize("text", JUNK)
def test_junk_from_lsblk_and_wipefs(text: str) -> None:
    assert all(isinstance(key, str) for key in parse_lsblk(text))
    assert parse_wipefs(text) == {}


@pytest.mark.parametrize("offset", [None, "", "x", "0xzz", "-1", "0x" + "f" * 40, 7])
def test_a_signature_without_a_place_is_left_out(offset: object) -> None:
    assert (
        parse_wipefs(json.dumps({"signatures": [{"device": "sda", "offset": offset, "type": "ext4"}]})) == {}
    )


def test_an_array_of_an_unknown_kind_is_shown_and_never_matched(server: Server) -> None:
    server.write("sys/block/md_s0/md/level", "raid99\n")
    server.write("sys/block/md_s0/md/dev-sdb1/state", "in_sync,want_replacement,what_is_this\n")
    machine = server.read()
    array = machine.objects["array"]["01234567-89ab-cdef-0123-456789abcdef"]
    assert array["level"] == "raid99" and array["members"][1].startswith("partition:")  # type: ignore[index]


FSTABS = [
    b"UUID=1 /a\\040b ext4 defaults 0 1\nUUID=1 /c\\012d ext4 defaults 0 1",
    b" ".join([b"x"] * 512) + b"\n",
    b'LABEL="a b" /x ext4 defaults 0 0\nUUID=2 /y xfs defaults 0 0\nUUID=2 /z xfs defaults 0 0\n',
    b"\xff\xfe\0\r\n\x1b[2J",
    b"",
]


@pytest.mark.parametrize("before", FSTABS)
def test_every_byte_of_a_strange_fstab_is_kept(tmp_path: Path, before: bytes) -> None:
    file = tmp_path / "fstab"
    file.write_bytes(before)
    block = WriteBlock(str(file), "UUID=3 /srv ext4 defaults 0 2\n", "pair")
    write(block, World())
    after = file.read_bytes()
    assert after.startswith(before) and after.endswith(b"# <<< raidplan pair\n")
    assert after.removeprefix(before).lstrip(b"\n").startswith(b"# >>> raidplan pair\n")


MDADM = "AUTO -all\nPROGRAM /bin/x\n  continued\nARRAY /dev/md9 name=x\nAUTO +all\n# include me\nARRAY <ignore> UUID=1:2:3:4\n"


def test_every_line_of_a_strange_mdadm_conf_is_kept() -> None:
    text = wanted_text(WriteBlock("mdadm.conf", "create names=yes\n", "pair", at_top=True), MDADM)
    assert text.endswith(MDADM) and text.startswith("# >>> raidplan pair\n")


def test_a_line_for_our_own_array_is_named(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    line = "ARRAY /dev/md/data UUID=1:2:3:4"
    box = old_pair().put("file", "/etc/mdadm/mdadm.conf", content=f"# by hand\n{line}\n", size=50)
    (refused,) = decided(plan, box).refusals
    assert (refused.code, refused.place) == ("lines-conflict", "/etc/mdadm/mdadm.conf")
    assert refused.figures == {"number": 2, "word": "/dev/md/data"}


def test_what_stands_on_what_is_read_whole(server: Server) -> None:
    blocks = {block.name: block for block in server.read().blocks}
    assert blocks["md_s0"].below == ("sda1", "sdb1", "sdc1", "sdd1", "sde1", "sdf1")
    assert blocks["md_s0"].node == "/dev/disk/by-id/md-uuid-01234567:89abcdef:01234567:89abcdef"
    assert blocks["md_s0"].uses == (User("mounted", "/data"),) and blocks["md_s0"].content == ("ext4 'data'",)
    assert (blocks["dm-0"].kind, blocks["dm-0"].group) == ("volume", "QZ1gHf-9DaL-abl7-V4qN-Yqsb-HX7k-a580W8")
    assert blocks["dm-0"].uses == (User("swap"),) and blocks["dm-0"].below == ("md_r10",)
    assert (*map(str, blocks["sda"].found[:4]),) == (
        "0 0x200 gpt", "0 0x1ffffe00 gpt", "0 0x1fe PMBR", "1 0x1000 linux_raid_member 01234567-89ab-cdef-0123-456789abcdef",
    )  # fmt: skip


def test_an_array_that_is_not_started_stands_on_its_members_too(server: Server) -> None:
    server.write("sys/block/md_s0/size", "0\n")
    server.write("sys/block/md_s0/md/array_state", "inactive\n")
    block = next(block for block in server.read().blocks if block.name == "md_s0")
    assert (block.kind, block.size, block.state, len(block.below)) == ("array", 0, "inactive", 6)
    assert block.node == "/dev/md_s0"


@pytest.mark.parametrize("first", [2**54, 2**55, 2**63, 2**64 - 1])
def test_a_table_whose_rows_lie_behind_all_offsets(first: int, tmp_path: Path) -> None:
    """With its checksum right: the kernel takes no offset from 2^63 on, and Python makes no number of it for a call."""
    disk = image(tmp_path)
    tool("sfdisk", "--quiet", disk, stdin="label: gpt\nsize=10MiB\n")
    header = bytearray(disk.read_bytes()[512:604])
    struct.pack_into("<Q", header, 72, first)
    struct.pack_into("<I", header, 16, 0)
    struct.pack_into("<I", header, 16, zlib.crc32(header))
    put(disk, 512, bytes(header))
    read = partial(read_at, disk)
    assert {each.type for each in read_traces(read, 512, Place(0, disk.stat().st_size))} >= {"gpt"}
    read_table(read, 512)


@pytest.mark.parametrize(("at", "form", "value"), [(48, ">Q", 2**62), (124, ">B", 255)])
def test_an_xfs_whose_log_lies_behind_all_offsets(at: int, form: str, value: int, tmp_path: Path) -> None:
    disk = image(tmp_path, 400 * 2**20)
    tool("mkfs.xfs", "-q", disk)
    assert FILESYSTEMS["xfs"].untouched(partial(read_at, disk))
    first = bytearray(read_at(disk, 0, 512))
    struct.pack_into(form, first, at, value)
    struct.pack_into("<I", first, 224, 0)
    struct.pack_into("<I", first, 224, crc32c(bytes(first)))
    put(disk, 0, bytes(first))
    assert not FILESYSTEMS["xfs"].untouched(partial(read_at, disk))
