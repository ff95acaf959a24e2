"""Reading what stands on block devices, from a tree made like sysfs and proc."""

from pathlib import Path

import pytest

from raidplan.twin.loops import users as module
from raidplan.twin.loops.users import Group, parsed_groups, read_users
from tests.absent import needs_root

MOUNTINFO = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
40 27 9:127 / /srv/a\\040b rw - xfs /dev/md127 rw
41 27 0:45 /sub /srv/b rw - btrfs /dev/nowhere rw
"""
SWAPS = """\
Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
/dev/md127p2                            partition\t1048572\t\t0\t\t-2
/srv/a\\040b/swap                        file\t\t65532\t\t0\t\t-3
"""
PVS = """{"report": [{"pv": [
  {"pv_name":"/dev/md127", "vg_name":"vg0", "vg_uuid":"AAAA-1"},
  {"pv_name":"[unknown]", "vg_name":"vg0", "vg_uuid":"AAAA-1"},
  {"pv_name":"/dev/sdz9", "vg_name":"vg0", "vg_uuid":"BBBB-2"},
  {"pv_name":"/dev/loop3", "vg_name":"", "vg_uuid":""}
]}]}"""


def device(root: Path, name: str, number: str, parent: str = "", slaves=(), **files: str) -> None:
    """A block device of a fake sysfs; a partition lies in the folder of its disk."""
    folder = root / "sys/block" / parent / name
    (folder / "slaves").mkdir(parents=True)
    (folder / "dev").write_text(number + "\n")
    for file, text in files.items():
        target = folder / file.replace("__", "/")
        target.parent.mkdir(exist_ok=True)
        target.write_text(text + "\n")
    for slave in slaves:
        (folder / "slaves" / slave).symlink_to("/")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    proc = tmp_path / "proc"
    device(tmp_path, "vda", "254:0")
    device(tmp_path, "vda1", "254:1", "vda", partition="1")
    device(tmp_path, "loop0", "7:0")
    device(tmp_path, "loop0p1", "259:3", "loop0", partition="1")
    device(tmp_path, "cciss!c0d0", "104:0")
    device(tmp_path, "md127", "9:127", slaves=["loop0p1", "cciss!c0d0"], md__array_state="clean")
    device(tmp_path, "md127p2", "259:9", "md127", partition="2")
    device(tmp_path, "dm-0", "252:0", slaves=["md127"], dm__uuid="LVM-abc", dm__name="vg0-home")
    (proc / "self").mkdir(parents=True)
    (proc / "self/mountinfo").write_text(MOUNTINFO)
    (proc / "swaps").write_text(SWAPS)
    monkeypatch.setattr(module, "_groups", lambda: ())
    return tmp_path


def test_blocks(tree):
    blocks = read_users(tree).blocks
    assert (blocks["loop0p1"].below, blocks["loop0p1"].partition) == (("loop0",), 1)
    assert (blocks["md127"].below, blocks["md127"].is_md) == (("cciss/c0d0", "loop0p1"), True)
    assert blocks["md127p2"].below == ("md127",)
    dm = blocks["dm-0"]
    assert (dm.below, dm.dm_uuid, dm.dm_name) == (("md127",), "LVM-abc", "vg0-home")
    assert blocks["cciss/c0d0"].node == "/dev/cciss/c0d0"


def test_mounts_and_swaps(tree):
    found = read_users(tree)
    root = found.mounts[1]
    assert (root.point, root.device, root.source, root.id, root.parent, root.number) == (
        "/",
        "vda1",
        "/dev/vda1",
        27,
        1,
        "254:1",
    )
    assert (found.mounts[2].point, found.mounts[2].device) == ("/srv/a b", "md127")
    assert found.mounts[3].device == ""
    assert [(area.path, area.device) for area in found.swaps] == [
        ("/dev/md127p2", "md127p2"),
        ("/srv/a b/swap", ""),
    ]


def test_a_kernel_without_swap(tree):
    (tree / "proc/swaps").unlink()
    assert read_users(tree).swaps == ()


def test_no_mountinfo_is_an_error(tree):
    (tree / "proc/self/mountinfo").unlink()
    with pytest.raises(OSError, match="mountinfo"):
        read_users(tree)


def test_groups_of_one_name_stay_apart():
    assert parsed_groups(PVS) == (Group("vg0", "AAAA-1", ("md127",)), Group("vg0", "BBBB-2", ("sdz9",)))


@needs_root
def test_the_running_machine():
    found = read_users()
    assert any(mount.point == "/" for mount in found.mounts) and found.blocks
