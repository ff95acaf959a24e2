"""A machine's disks in the words of a layout, and back through the layout's own reader."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.base.size import MIB
from raidplan.cli import run
from raidplan.discover import Wire, discover, hardware_json, hardware_yaml
from raidplan.discover.hardware import is_disk
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import BlockFact, PartitionFact
from raidplan.facts.match import match
from raidplan.facts.uses import User
from raidplan.layout.kinds.disk import Disk
from raidplan.review.pipeline import load, plan

SIZE = 3000592982016
AHCI, SIL = "pci-0000:00:1f.2", "pci-0000:03:00.0"


def disk(name, serial="", **more):
    users = tuple(map(User.read, more.pop("users", ())))
    return DiskFact(f"/dev/{name}", name, more.pop("size", SIZE), serial=serial, users=users, **more)


def machine(*disks, **more):
    return Machine(disks, memory_bytes=16305328 * 1024, firmware="bios", host="box", is_root=True, **more)


def found(*disks, wires=None, **more):
    return discover(machine(*disks, **more), wires or {})


def as_layout(tmp_path: Path, text: str):
    """The file as a layout's hardware, through everything that reads layouts."""
    (tmp_path / "box.hardware.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "box.yaml").write_text("version: 1\nhost: box\nhardware: box.hardware.yaml\n")
    loaded = load(str(tmp_path / "box.yaml"))
    assert loaded.valid, [(item.finding.message, item.span) for item in loaded.findings]
    return loaded.layout


JBOD = (
    disk("sdc", "WD-2", wwn="0x50014ee2b0000002", path=f"{SIL}-ata-2.1", model="WDC WD30EFRX-68A", rotational=True, physical_block=4096),
    disk("sda", "0123456", wwn="0x50014ee2b0000000", path=f"{SIL}-ata-1.10", model="1e10", rotational=True),
    disk("sdb", "1e10", wwn="0x5e10", path=f"{SIL}-ata-1.2", model="ST3000DM001", rotational=True, logical_block=4096),
    disk("sdd", "S3Z8NB0K", path=f"{AHCI}-ata-1", model="Samsung SSD 850", size=500107862016),
)  # fmt: skip
WIRES = {
    **{name: Wire(SIL, "sata_sil24", f"ata7/{name}") for name in ("sda", "sdb", "sdc")},
    "sdd": Wire(AHCI, "ahci", "ata1/sdd"),
}

EXPECTED = """\
# The hardware of box, by `raidplan discover hardware`. Keep it beside a layout, which then says
# hardware: box.hardware.yaml
memory: 16305328KiB  # 15.5 GiB, as far as the kernel can use it
firmware: bios
controllers:
  ahci0: {path: "pci-0000:00:1f.2"}
  sata_sil24-0: {path: "pci-0000:03:00.0"}
disks:
  d00: {behind: ahci0, size: 500107862016B, logical_block: 512, physical_block: 512, rotational: false,  # 465.8 GiB (500 GB), now /dev/sdd
        serial: S3Z8NB0K, path: "pci-0000:00:1f.2-ata-1", model: Samsung SSD 850}
  d01: {behind: sata_sil24-0, size: 3000592982016B, logical_block: 4096, physical_block: 512, rotational: true,  # 2.7 TiB (3 TB), now /dev/sdb
        serial: "1e10", wwn: "0x5e10", path: "pci-0000:03:00.0-ata-1.2", model: ST3000DM001}
  d02: {behind: sata_sil24-0, size: 3000592982016B, logical_block: 512, physical_block: 512, rotational: true,  # 2.7 TiB (3 TB), now /dev/sda
        serial: "0123456", wwn: "0x50014ee2b0000000", path: "pci-0000:03:00.0-ata-1.10", model: "1e10"}
  d03: {behind: sata_sil24-0, size: 3000592982016B, logical_block: 512, physical_block: 4096, rotational: true,  # 2.7 TiB (3 TB), now /dev/sdc
        serial: WD-2, wwn: "0x50014ee2b0000002", path: "pci-0000:03:00.0-ata-2.1", model: WDC WD30EFRX-68A}
"""


def test_a_file_server():
    assert hardware_yaml(found(*JBOD, wires=WIRES)) == EXPECTED


def test_the_order_does_not_depend_on_the_kernel_s(tmp_path):
    names = {"sda": "sdd", "sdb": "sdc", "sdc": "sdb", "sdd": "sda"}
    renamed = [
        replace(one, kernel_name=names[one.kernel_name], node=f"/dev/{names[one.kernel_name]}")
        for one in JBOD
    ]
    wires = {names[name]: replace(wire, below="") for name, wire in WIRES.items()}
    again = as_layout(tmp_path, hardware_yaml(found(*reversed(renamed), wires=wires)))
    assert again.hardware == as_layout(tmp_path, EXPECTED).hardware


def test_round_trip_through_the_layout(tmp_path):
    layout = as_layout(tmp_path, hardware_yaml(found(*JBOD, wires=WIRES)))
    assert layout.hardware.memory == 16305328 * 1024 and layout.hardware.firmware == "bios"
    assert layout.hardware.controllers["ahci0"].path == AHCI
    assert layout.hardware.disks["d02"] == Disk(
        behind="sata_sil24-0", size=SIZE, logical_block=512, physical_block=512, rotational=True,
        serial="0123456", wwn="0x50014ee2b0000000", path=f"{SIL}-ata-1.10", model="1e10",
    )  # fmt: skip


def test_a_plan_finds_every_disk_again(tmp_path):
    (tmp_path / "box.hardware.yaml").write_text(EXPECTED)
    (tmp_path / "box.yaml").write_text(
        "version: 1\nhost: box\nhardware: box.hardware.yaml\narrays: {s0: {level: raid1, members: [d02, d03]}, s1: {level: raid0, members: [d00, d01]}}\n"
    )
    made, _ = plan(load(str(tmp_path / "box.yaml")))
    disks, problems = match(made.disks, machine(*JBOD))
    assert not problems
    assert {name: fact.node for name, fact in disks.items()} == {
        "d00": "/dev/sdd", "d01": "/dev/sdb", "d02": "/dev/sda", "d03": "/dev/sdc",
    }  # fmt: skip


def test_other_readers_keep_texts_as_texts():
    disks = yaml.safe_load(EXPECTED)["disks"]
    assert (disks["d02"]["serial"], disks["d02"]["model"], disks["d01"]["wwn"]) == (
        "0123456",
        "1e10",
        "0x5e10",
    )


@pytest.mark.parametrize(
    "users",
    [("mounted at /",), ("mounted at /boot",), ("mounted at /boot/efi",), ("swap",), ("held by md0", "mounted at /usr"),
     ("mounted at /run/live/medium",), ("mounted at /cdrom",)],
)  # fmt: skip
def test_disks_of_the_running_system_are_kept(tmp_path, users):
    text = hardware_yaml(found(disk("sda", "A1", users=users), disk("sdb", "B1")))
    assert "\n  # d00, /dev/sda, is kept because the running system is on it: " in text
    disks = as_layout(tmp_path, text).hardware.disks
    assert [(name, each.keep) for name, each in disks.items()] == [("d00", True), ("d01", False)]


def btrfs_of_two(*points):
    """Two disks of one btrfs, which is mounted; mountinfo tells where for the first one."""
    uses = {"sda": (*points, "part of the mounted btrfs 1b2c"), "sdb": ("part of the mounted btrfs 1b2c",)}
    blocks = tuple(
        BlockFact(name, "", "", "disk", SIZE, uses=tuple(map(User.read, texts)))
        for name, texts in uses.items()
    )
    disks = (disk(name, name, users=texts) for name, texts in uses.items())
    return found(*disks, disk("sdc", "C1"), blocks=blocks)


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        (("mounted at /",), [True, True, False]),
        (("mounted at /srv", "mounted at /boot"), [True, True, False]),
        (("mounted at /srv",), [False, False, False]),
        ((), [True, True, False]),
    ],
    ids=["root", "among others", "data", "nobody knows where"],
)
def test_every_disk_of_a_btrfs_of_the_running_system_is_kept(points, kept):
    described = btrfs_of_two(*points)
    assert [each.fields.get("keep", False) for each in described.disks] == kept


ESP_CODE = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
TABLE = (
    PartitionFact("/dev/sda2", "u2", "unheard-of", 2**30, 2**31),
    PartitionFact("/dev/sda1", "u1", ESP_CODE, 2**20, 2**29),
)


def test_a_kept_disk_has_its_partitions_to_the_byte(tmp_path):
    system = replace(disk("sda", "A1", users=("mounted at /",)), partitions=TABLE)
    (described,) = as_layout(tmp_path, hardware_yaml(found(system))).hardware.disks.values()
    parts = {name: (int(part.size), part.type) for name, part in described.partitions.items()}
    assert parts == {"p1": (2**29, "esp"), "p2": (2**31, None)}
    with_a_gap = replace(system, partitions=TABLE[:1])
    (described,) = as_layout(tmp_path, hardware_yaml(found(with_a_gap))).hardware.disks.values()
    assert described.keep and not described.partitions
    other = replace(disk("sdb", "B1"), partitions=TABLE)
    assert "partitions:" not in hardware_yaml(found(other))


def test_a_disk_of_windows_is_kept_and_another_that_is_not_blank_is_told(tmp_path):
    reserved = PartitionFact("/dev/sda1", "u1", "e3c9e316-0b5c-4db8-817d-f92df00215ae", 2**20, 2**24)
    windows = replace(disk("sda", "A1"), partitions=(reserved,))
    other = replace(disk("sdb", "B1"), partitions=TABLE, signatures=("gpt at 0x200",))
    text = hardware_yaml(found(windows, other, disk("sdc", "C1")))
    assert "  # d00, /dev/sda, is kept because Windows partitioned it\n" in text
    assert text.count("not blank (") == 1
    assert (
        "  # d01, /dev/sdb: not blank (gpt at 0x200, 2 partitions): apply refuses it, unless this layout made it, keep: true"
        in text
    )
    disks = as_layout(tmp_path, text).hardware.disks
    assert [each.keep for each in disks.values()] == [True, False, False]
    assert list(disks["d00"].partitions) == ["p1"]


def test_no_disks_at_all(tmp_path):
    assert as_layout(tmp_path, hardware_yaml(found())).hardware.disks == {}


def test_other_uses_are_said():
    text = hardware_yaml(found(disk("sda", "A1", users=("held by md0", "mounted at /data\n  d99: {}"))))
    assert "  # d00, /dev/sda: in use: held by md0, mounted at /data\\x0a  d99: {}\n" in text


@pytest.mark.parametrize("serial", ["", "   ", "0000000000", "unknown", "Unknown", "N/A", "----"])
def test_serial_numbers_that_tell_nothing_are_left_out(tmp_path, serial):
    text = hardware_yaml(found(disk("sda", serial, wwn="0x5000")))
    assert "  # d00, /dev/sda: it" in text
    assert as_layout(tmp_path, text).hardware.disks["d00"].serial is None


@pytest.mark.parametrize(
    "serial", ["A\nB", "A\x1b[31mB", "A\ufffdB", "A\u202eB", "A\u200bB", "x" * 257, "A\x00"]
)
def test_hostile_serial_numbers_are_left_out(tmp_path, serial):
    text = hardware_yaml(found(disk("sda", serial, model="good")))
    assert "# d00, /dev/sda: its serial is left out: it " in text
    layout = as_layout(tmp_path, text)
    assert layout.hardware.disks["d00"].serial is None and layout.hardware.disks["d00"].model == "good"


def test_a_disk_that_cannot_be_found_again():
    text = hardware_yaml(found(disk("vda", model="QEMU")))
    assert "nothing tells it from others of its model: a plan cannot find it" in text


def test_the_same_serial_number_twice(tmp_path):
    text = hardware_yaml(
        found(disk("sda", "TWIN", path="p1"), disk("sdb", "TWIN", path="p2"), disk("sdc", "C1"))
    )
    assert "# d01, /dev/sda: the same serial as /dev/sdb: two paths to one disk, or a careless maker" in text
    assert "# d02, /dev/sdb: the same serial as /dev/sda: two paths to one disk, or a careless maker" in text
    as_layout(tmp_path, text)


def test_what_is_no_disk():
    names = ("loop0", "ram3", "zram0", "sr0", "md127", "md_s0", "dm-0", "fd0", "mmcblk0boot0", "mmcblk0rpmb")
    assert not any(is_disk(disk(name)) for name in names if name != "md_s0")
    assert not is_disk(disk("md_s0", kind="raid6")) and not is_disk(disk("sda", size=MIB - 512))
    assert all(
        is_disk(disk(name)) for name in ("sda", "nvme0n1", "vdb", "mmcblk0", "xvda", "dasda", "pmem0", "nbd0")
    )


def test_controllers_without_a_driver_and_numbers():
    wires = {"sda": Wire(AHCI, "", ""), "sdb": Wire(SIL, "", ""), "nvme0n1": Wire("pci-0000:01:00.0", "nvme", ""),
             "nvme1n1": Wire("pci-0000:02:00.0", "nvme", ""), "sdc": Wire("pci-0000:09:00.0", "we\nird", "")}  # fmt: skip
    names = found(*(disk(name) for name in wires), wires=wires).controllers
    assert names == {
        "c0": AHCI, "nvme0": "pci-0000:01:00.0", "nvme1": "pci-0000:02:00.0", "c1": SIL, "c2": "pci-0000:09:00.0",
    }  # fmt: skip


def test_many_disks_count_naturally():
    disks = [
        disk(f"sd{number}", f"S{number}", path=f"{SIL}-sas-phy{number}-lun-0")
        for number in reversed(range(101))
    ]
    described = found(*disks).disks
    assert [one.name for one in described[:2]] == ["d000", "d001"] and described[100].fields[
        "serial"
    ] == "S100"


def test_json(capsys):
    data = json.loads(hardware_json(found(*JBOD[:2], disk("sdx", users=("mounted at /",)), wires=WIRES)))
    assert data["format_version"] == 1 and data["host"] == "box"
    assert data["hardware"]["disks"]["d00"] == {
        "behind": "sata_sil24-0", "size": f"{SIZE}B", "logical_block": 512, "physical_block": 512, "rotational": True,
        "serial": "0123456", "wwn": "0x50014ee2b0000000", "path": f"{SIL}-ata-1.10", "model": "1e10",
    }  # fmt: skip
    assert list(data["system_disks"]) == ["d02"] and data["hardware"]["disks"]["d02"]["keep"] is True
    assert {"disk": "d02", "device": "/dev/sdx", "remark": "holds the running system: mounted at /"} in data[
        "remarks"
    ]


def test_the_json_section_is_a_hardware_section(tmp_path):
    data = json.loads(hardware_json(found(*JBOD, wires=WIRES)))
    assert (
        as_layout(tmp_path, json.dumps(data["hardware"])).hardware == as_layout(tmp_path, EXPECTED).hardware
    )


TEXTS = st.text(
    st.characters(codec="utf-8") | st.sampled_from("\"'\\#:{}[]<>&*!|%@`,-?~0123456789eEx.\n\t "), max_size=20
)


@settings(max_examples=80, deadline=None)
@given(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS)
def test_whatever_a_disk_says_the_file_can_be_read(tmp_path_factory, serial, wwn, path, model, user):
    one = disk("sda", serial, wwn=wwn, path=path, model=model, users=(f"mounted at /{user}",))
    two = disk("sdb", serial, users=("mounted at /", user))
    text = hardware_yaml(discover(replace(machine(one, two), host=user), {"sda": Wire(AHCI)}))
    folder = tmp_path_factory.mktemp("any")
    layout = as_layout(folder, text)
    kept = (
        {key: getattr(layout.hardware.disks["d00"], key) for key in ("serial", "wwn", "path", "model")}
        if layout.hardware.disks
        else {}
    )
    given_texts = {"serial": serial, "wwn": wwn, "path": path, "model": model}
    assert all(value is None or value == given_texts[key].strip() for key, value in kept.items())
    assert json.loads(hardware_json(discover(machine(one, two), {})))
    assert all(line.isprintable() for line in text.split("\n"))


def test_the_command(tmp_path, capsys):
    assert run(["discover", "hardware", "-o", str(tmp_path / "here.yaml")]) == 0
    assert capsys.readouterr().out == ""
    as_layout(tmp_path, (tmp_path / "here.yaml").read_text())
    assert run(["discover", "hardware", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["format_version"] == 1
    assert run(["discover", "sofware"]) == 2


def test_facts_of_this_machine_make_a_plan_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = Path(__file__).parents[2] / "examples/raid1-pair.yaml"
    assert run(["discover", "facts", "--for", str(layout), "-o", str(tmp_path / "facts.json")]) == 0
    snapshot = Machine.from_data(json.loads((tmp_path / "facts.json").read_text()))
    assert snapshot.memory_bytes > 0
    assert snapshot.observe("file", "/etc/fstab") is not None or not Path("/etc/fstab").exists()
    assert run(["plan", str(layout), "--machine", str(tmp_path / "facts.json")]) == 4
    assert "no disk has serial" in capsys.readouterr().err
    (tmp_path / "wrong.yaml").write_text("version: 1\n")
    assert run(["discover", "facts", "--for", str(tmp_path / "wrong.yaml")]) == 2
    assert f"{tmp_path}/wrong.yaml:1: " in capsys.readouterr().err, "where the first error stands"


def test_the_hardware_is_the_same_for_every_layout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "hardware", "--for", "examples/raid1-pair.yaml"]) == 2
    assert "raidplan discover facts --for" in capsys.readouterr().err
