"""The real thing on loop devices: made here, read, and removed again."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from raidplan.facts import read_machine
from raidplan.facts.match import match
from raidplan.facts.uses import User
from raidplan.plan.disk_identity import DiskIdentity

pytestmark = [pytest.mark.root, pytest.mark.in_turn(5)]
MIB = 1 << 20
RAID = "a19d880f-05fc-4d3b-a006-743f0f84911e"
# Drawn anew, since a loop device that another run has left would be found by the same UUID.
DISK, FIRST, SECOND = (str(uuid4()) for _ in range(3))
SERIAL = DISK[:8].upper()
SCRIPT = (
    f"label: gpt\nlabel-id: {DISK}\nsize=40MiB,type={RAID},uuid={FIRST},name=one\nsize=400MiB,uuid={SECOND}\n"
)


def tool(*argv: str, stdin: str = "") -> str:
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def loop(tmp_path: Path, request) -> Iterator[str]:
    """A loop device of 512 MiB; the parameter is its sector size."""
    if os.geteuid() != 0:
        pytest.skip("only root can make loop devices")
    file = tmp_path / "disk.img"
    with file.open("wb") as image:
        image.truncate(512 * MIB)
    node = tool("losetup", "--find", "--show", f"--sector-size={getattr(request, 'param', 512)}", str(file))
    yield node
    # The kernel drops the partitions with the device; where it was told of them by partx, it wants to hear it.
    subprocess.run(["partx", "--delete", node], capture_output=True, check=False)
    tool("losetup", "--detach", node)


@pytest.mark.parametrize("loop", [512, 4096], indirect=True)
def test_partitions(loop):
    tool("sfdisk", "--quiet", "--no-reread", loop, stdin=SCRIPT)
    machine = read_machine()
    disk = machine.disk(loop)
    assert (disk.kind, disk.size, disk.read_only) == ("loop", 512 * MIB, False)
    assert any(word.startswith("gpt at 0x") for word in disk.signatures)
    assert machine.observe("table", DISK)["disk"] == loop
    # A GPT on 4 KiB sectors begins at the same MiB as one on 512 bytes.
    assert machine.observe("table", DISK)["partitions"][0] == f"{FIRST} {MIB} {40 * MIB} {RAID}"
    assert [part.uuid for part in disk.partitions] == [FIRST, SECOND]
    assert [part.name for part in disk.partitions] == ["one", ""]


def test_of_a_disk_that_is_as_it_should_be_only_the_table_is_told(loop):
    tool("sfdisk", "--quiet", "--no-reread", loop, stdin=SCRIPT)
    looked = read_machine(ranges=[(MIB, 40 * MIB)]).disk(loop).traces
    assert {trace.type for trace in looked} >= {"gpt", "PMBR"}
    (known,) = read_machine(ranges=[(MIB, 40 * MIB)], known=[DISK]).disk(loop).traces
    assert (known.type, known.uuid) == ("gpt", DISK)


def test_what_stands_on_partitions(loop):
    tool("sfdisk", "--quiet", "--no-reread", loop, stdin=SCRIPT)
    subprocess.run(
        ["partx", "--add", loop], capture_output=True, check=False
    )  # an error where the kernel has
    first, second = f"{loop}p1", f"{loop}p2"
    if not Path(first).exists():
        pytest.skip("this kernel shows no partitions of loop devices")
    swap, data = ("11111111-2222-4333-8444-555555555555", "66666666-2222-4333-8444-555555555555")
    tool("mkswap", "--quiet", "--uuid", swap, "--label", "sw", first)
    tool("mkfs.xfs", "-q", "-f", "-m", f"uuid={data}", "-L", "data", second)
    machine = read_machine()
    assert machine.observe("swap", swap) == {
        "type": "swap", "label": "sw", "device": f"partition:{FIRST}", "active": False,
        "page": os.sysconf("SC_PAGESIZE"), "size": 40 * MIB,
    }  # fmt: skip
    found = machine.observe("filesystem", data)
    assert (found["type"], found["label"], found["device"]) == ("xfs", "data", f"partition:{SECOND}")
    assert [part.signatures for part in machine.disk(loop).partitions] == [
        ("swap at 0xff6 (sw)",),
        ("xfs at 0x0 (data)",),
    ]
    on = {(trace.type, trace.label, trace.place) for trace in machine.disk(loop).traces}
    assert on == {
        ("PMBR", "", ""),
        ("gpt", "", ""),
        ("swap", "sw", "partition 1"),
        ("xfs", "data", "partition 2"),
    }


@pytest.mark.parametrize(
    ("argv", "kind", "uuid"),
    [
        (("mkfs.vfat", "-F", "32", "-i", SERIAL, "-n", "EFI"), "vfat", f"{SERIAL[:4]}-{SERIAL[4:]}"),
        (("mke2fs", "-q", "-t", "ext4", "-U", DISK, "-L", "EFI"), "ext4", DISK),
        (("mkfs.btrfs", "--quiet", "--uuid", DISK, "--label", "EFI"), "btrfs", DISK),
    ],
    ids=("vfat", "ext4", "btrfs"),
)
def test_filesystem(loop, argv, kind, uuid):
    tool(*argv, loop)
    found = read_machine().observe("filesystem", uuid)
    assert {"type": kind, "label": "EFI", "device": loop}.items() <= found.items()


def test_an_old_file_system_where_a_partition_is_to_be(loop):
    tool("mke2fs", "-q", "-t", "ext4", "-L", "ghost", "-E", f"offset={8 * MIB}", loop, "64m")
    (found,) = read_machine(ranges=[(8 * MIB, 400 * MIB)]).disk(loop).traces
    assert (found.type, found.label, found.place) == ("ext4", "ghost", "the range of a future partition")


def test_hostile_label(loop):
    tool("mke2fs", "-q", "-U", DISK, "-L", "a\nb\x1b[2J", loop)
    machine = read_machine()
    assert machine.observe("filesystem", DISK)["label"] == "a\nb\x1b[2J"
    assert machine.disk(loop).signatures == ("ext2 at 0x438 (a\\nb\\x1b[2J)",)


def test_physical_volume(loop):
    uuid = "abcdef-0123-4567-89ab-cdef-0123-456789"
    tool("pvcreate", "--yes", "--quiet", f"--uuid={uuid}", "--norestorefile", "--dataalignment=2m", loop)
    found = read_machine().observe("physical_volume", uuid)
    assert found == {"device": loop, "data_start": 2 * MIB, "group": ""}


def test_mounted(loop, tmp_path):
    tool("mke2fs", "-q", "-t", "ext4", loop)
    point = tmp_path / "with blank"
    point.mkdir()
    tool("mount", loop, str(point))
    try:
        machine = read_machine((str(point),))
    finally:
        tool("umount", str(point))
    assert machine.disk(loop).users == (User("mounted", str(point)),)
    assert machine.observe("mount", str(point))["source"] == loop
    assert machine.observe("directory", str(point)) == {"exists": True}


def test_blank_and_found_by_its_node(loop):
    machine = read_machine()
    assert (machine.disk(loop).signatures, machine.disk(loop).users) == ((), ())
    assert machine.disk(loop).traces == ()
    found, problems = match([DiskIdentity("d00", 512 * MIB, device=loop)], machine)
    assert (found["d00"].node, problems) == (loop, [])
