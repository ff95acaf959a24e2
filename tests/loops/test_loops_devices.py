"""Making and removing real loop devices."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from raidplan.base.size import MIB, TIB
from raidplan.twin.loops import DiskFile, LoopsRefused, Record, Stopped, down, losetup, up
from raidplan.twin.loops.folder import Folder

pytestmark = [pytest.mark.root, pytest.mark.in_turn(8)]


def sector_of(node):
    return int(subprocess.run(["blockdev", "--getss", node], capture_output=True, check=True).stdout)


def size_of(node):
    return int(subprocess.run(["blockdev", "--getsize64", node], capture_output=True, check=True).stdout)


def test_up_and_down(place, wanted):
    said = []
    done = up(wanted("d0", "d1"), place.directory, layout="version: 1\n", tell=said.append)
    assert done.made == done.attached == ("d0", "d1")
    assert said == [f"make 2 sparse files of 16 MiB in all in {place.directory}", "attach 2 loop devices"]
    assert {name: loop.node for name, loop in place.loops().items()} == {
        "d0.img": done.devices["d0"],
        "d1.img": done.devices["d1"],
    }
    written = json.loads(done.devices_file.read_text())
    assert written == {"format_version": 1, "host": "h", "devices": done.devices}
    assert (place.directory / "scaled.yaml").read_text() == "version: 1\n"
    assert all((place.directory / f"{disk}.img").stat().st_blocks == 0 for disk in ("d0", "d1"))
    gone = down(place.directory)
    assert sorted(gone.detached) == sorted(done.devices.values()) and gone.removed == ("d0.img", "d1.img")
    assert gone.folder_removed and not gone.left and not place.directory.exists() and not place.loops()


@pytest.mark.parametrize("sector", [512, 1024, 2048, 4096])
def test_sector_sizes(place, wanted, sector):
    node = up(wanted("d0", sector=sector), place.directory).devices["d0"]
    assert (sector_of(node), size_of(node)) == (sector, 8 * MIB)


def test_partitions_are_scanned_and_direct_io_is_off(place, wanted):
    up(wanted("d0"), place.directory)
    name = place.loops()["d0.img"].name
    assert Path(f"/sys/block/{name}/loop/partscan").read_text() == "1\n"
    assert Path(f"/sys/block/{name}/loop/dio").read_text() == "0\n"


def test_a_large_disk_takes_no_space(place):
    node = up(Record("h", 1, (DiskFile("d0", 3 * TIB + 4096, 4096),)), place.directory).devices["d0"]
    assert size_of(node) == 3 * TIB + 4096
    assert (place.directory / "d0.img").stat().st_blocks * 512 < MIB


def test_more_loop_devices_than_the_kernel_begins_with(place, wanted):
    disks = [f"d{number:02}" for number in range(40)]
    done = up(wanted(*disks), place.directory)
    assert list(done.devices) == disks and len(set(done.devices.values())) == 40
    assert len(down(place.directory).detached) == 40


def test_up_again_changes_nothing(place, wanted):
    first = up(wanted("d0", "d1"), place.directory)
    again = up(wanted("d0", "d1"), place.directory)
    assert (again.made, again.attached, again.devices) == ((), (), first.devices)


def test_up_after_a_reboot_keeps_the_data(place, wanted):
    first = up(wanted("d0", "d1"), place.directory)
    with open(first.devices["d1"], "r+b") as disk:
        disk.write(b"precious")
    for loop in place.loops().values():
        subprocess.run(["losetup", "--detach", loop.node], check=True)
    again = up(wanted("d0", "d1"), place.directory)
    assert again.made == () and again.attached == ("d0", "d1")
    with open(again.devices["d1"], "rb") as disk:
        assert disk.read(8) == b"precious"


def test_down_twice(place, wanted):
    up(wanted("d0"), place.directory)
    down(place.directory)
    again = down(place.directory)
    assert again.folder_removed and not again.detached and not again.removed


def test_a_foreign_loop_device_is_left_alone(place, wanted):
    foreign = place.foreign("theirs")
    up(wanted("d0"), place.directory)
    down(place.directory)
    assert list(place.loops().values()) == [foreign]


def test_a_foreign_loop_device_over_a_file_in_our_folder_is_left_alone(place, wanted):
    up(wanted("d0"), place.directory)
    foreign = place.foreign("h.loops/theirs.img")
    gone = down(place.directory)
    assert list(place.loops().values()) == [foreign]
    assert gone.left == (f"{place.directory}/theirs.img is not ours: left alone",)
    assert os.listdir(place.directory) == ["theirs.img"] and not gone.folder_removed
    assert down(place.directory).left == (f"{place.directory} has no record of ours: left alone",)


def test_a_loop_number_that_somebody_else_took_over(place, wanted):
    node = up(wanted("d0", "d1"), place.directory).devices["d0"]
    subprocess.run(["losetup", "--detach", node], check=True)
    foreign = place.foreign("theirs", node)
    gone = down(place.directory)
    assert list(place.loops().values()) == [foreign]
    assert gone.left == (f"{node}, once d0, now belongs to {foreign.file}: left alone",)
    assert len(gone.detached) == 1 and gone.removed == ("d0.img", "d1.img") and gone.folder_removed


def test_a_deleted_backing_file(place, wanted):
    node = up(wanted("d0", "d1"), place.directory).devices["d0"]
    (place.directory / "d0.img").unlink()
    gone = down(place.directory)
    assert node in gone.detached and gone.removed == ("d1.img",) and gone.folder_removed
    assert not place.loops()


def test_a_deleted_file_whose_inode_is_somebody_elses_now(place, wanted):
    up(wanted("d0"), place.directory)
    subprocess.run(["losetup", "--detach", place.loops()["d0.img"].node], check=True)
    foreign = place.foreign("theirs")
    (place.directory / "d0.img").unlink()
    record = json.loads((place.directory / "loops.json").read_text())
    record["files"][0]["inode"] = foreign.inode
    (place.directory / "loops.json").write_text(json.dumps(record))
    assert down(place.directory).detached == ()
    assert list(place.loops().values()) == [foreign]


def test_a_file_put_in_place_of_ours_is_left_alone(place, wanted):
    node = up(wanted("d0"), place.directory).devices["d0"]
    (place.directory / "d0.img").rename(place.directory / "moved.img")
    (place.directory / "d0.img").write_text("theirs")
    gone = down(place.directory)
    assert (place.directory / "d0.img").read_text() == "theirs"
    assert len(gone.left) == 3 and any(node in line for line in gone.left)


def test_a_link_in_place_of_ours_is_not_followed(place, wanted):
    up(wanted("d0"), place.directory)
    precious = place.path / "precious"
    precious.write_text("x")
    (place.directory / "d0.img").unlink()
    (place.directory / "d0.img").symlink_to(precious)
    (place.directory / "devices.json").unlink()
    (place.directory / "devices.json").symlink_to(precious)
    gone = down(place.directory)
    assert precious.read_text() == "x"
    assert [each.partition(" ")[0] for each in gone.left] == [f"{place.directory}/d0.img"]


def test_mounts_and_swap_files_are_taken_off(place, wanted):
    devices = up(wanted("d0", "d1", mebibytes=64), place.directory).devices
    outer = place.mount(devices["d0"], "outer")
    place.mount(devices["d1"], "outer/inner")
    swap = outer / "swap file"
    subprocess.run(["dd", "if=/dev/zero", f"of={swap}", "bs=1M", "count=4", "status=none"], check=True)
    swap.chmod(0o600)
    subprocess.run(["mkswap", "--quiet", swap], check=True)
    subprocess.run(["swapon", swap], check=True)
    said = []
    gone = down(place.directory, tell=said.append)
    assert said[:3] == [f"stop swapping to {swap}", f"unmount {outer}/inner", f"unmount {outer}"]
    assert gone.folder_removed and not place.loops()
    assert "swap file" not in Path("/proc/swaps").read_text()


def test_swap_and_a_mount_on_partitions(place, wanted):
    node = up(wanted("d0", mebibytes=64), place.directory).devices["d0"]
    # This kernel may not know GPT, so the partitions are told to it.
    subprocess.run(["addpart", node, "1", "2048", "65536"], check=True)
    subprocess.run(["addpart", node, "2", "67584", "32768"], check=True)
    place.mount(f"{node}p1", "data")
    subprocess.run(["mkswap", "--quiet", f"{node}p2"], check=True)
    subprocess.run(["swapon", f"{node}p2"], check=True)
    assert down(place.directory).folder_removed
    assert not place.loops() and not os.path.exists(f"{node}p1")


def test_a_foreign_mount_on_top_is_refused_and_nothing_touched(place, wanted):
    node = up(wanted("d0", mebibytes=64), place.directory).devices["d0"]
    outer = place.mount(node, "outer")
    (outer / "tmp").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", outer / "tmp"], check=True)
    place.mounts.append(outer / "tmp")
    with pytest.raises(LoopsRefused, match=f"none is mounted at {outer}/tmp, on top of ours"):
        down(place.directory)
    assert os.path.ismount(outer) and place.loops()["d0.img"].node == node


def test_a_busy_mount_stops_it_and_the_next_call_goes_on(place, wanted):
    node = up(wanted("d0", "d1", mebibytes=64), place.directory).devices["d0"]
    point = place.mount(node, "data")
    with (point / "open").open("w"), pytest.raises(Stopped, match="busy") as no:
        down(place.directory)
    assert no.value.left and len(place.loops()) == 2
    assert down(place.directory).folder_removed


def test_a_loop_device_in_use_stops_it_and_the_next_call_goes_on(place, wanted, monkeypatch):
    monkeypatch.setattr("raidplan.twin.loops.removing.DETACH_SECONDS", 0.2)
    node = up(wanted("d0", "d1"), place.directory).devices["d0"]
    with open(node, "rb"), pytest.raises(Stopped, match=f"still in use: {node}"):
        down(place.directory)
    assert (place.directory / "d0.img").exists()
    assert down(place.directory).folder_removed and not place.loops()


def test_strange_names(place, wanted):
    directory = place.path / "with 'blanks' and \"quotes\"\n and ümlauts"
    up(wanted("d0"), directory)
    assert len(down(directory).detached) == 1 and not directory.exists()


def test_a_folder_reached_through_a_link_in_its_path(place, wanted):
    (place.path / "real").mkdir()
    (place.path / "link").symlink_to("real")
    up(wanted("d0"), place.path / "link/h.loops")
    (place.path / "real/h.loops/d0.img").unlink()
    assert len(down(place.path / "link/h.loops").detached) == 1 and not place.loops()


def test_a_wrong_host_is_refused(place, wanted):
    up(wanted("d0"), place.directory)
    with pytest.raises(LoopsRefused, match="made for the host h, not for other"):
        down(place.directory, "other")
    assert len(place.loops()) == 1


def test_other_disks_are_refused(place, wanted):
    up(wanted("d0"), place.directory)
    for other in (
        wanted("d0", "d1"),
        wanted("d0", mebibytes=9),
        wanted("d0", sector=4096),
        wanted("d0", host="i"),
    ):
        with pytest.raises(LoopsRefused, match="made for other disks"):
            up(other, place.directory)
    assert len(place.loops()) == 1


def test_a_deleted_file_is_not_made_again_under_its_loop_device(place, wanted):
    up(wanted("d0"), place.directory)
    (place.directory / "d0.img").unlink()
    with pytest.raises(LoopsRefused, match="was deleted under /dev/loop"):
        up(wanted("d0"), place.directory)


def test_too_little_space(place, wanted):
    with pytest.raises(LoopsRefused, match="writes about 16384 TiB into the files"):
        up(wanted("d0"), place.directory, needed=16384 * TIB)
    assert not place.directory.exists()


def test_a_file_too_large_for_its_file_system(place):
    record = Record("h", 1, (DiskFile("d0", MIB, 512), DiskFile("d1", 2**62, 512)))
    with pytest.raises(Stopped, match="too large") as no:
        up(record, place.directory)
    assert not no.value.left and not place.directory.exists()


def test_one_at_a_time(place, wanted):
    up(wanted("d0"), place.directory)
    with Folder.open(place.directory), pytest.raises(LoopsRefused, match="another raidplan is at work"):
        down(place.directory)
    assert down(place.directory).folder_removed


def test_a_kernel_that_ignores_the_sector_size(place, wanted, monkeypatch):
    real = losetup.attach
    monkeypatch.setattr("raidplan.twin.loops.making.attach", lambda file, sector: real(file, 512))
    with pytest.raises(Stopped, match="has sectors of 512 B instead of 4096 B"):
        up(wanted("d0", sector=4096), place.directory)
    assert not place.loops() and not place.directory.exists()


def test_another_file_was_attached(place, wanted, monkeypatch):
    real, other = losetup.attach, place.path / "other"
    other.write_bytes(bytes(MIB))
    monkeypatch.setattr("raidplan.twin.loops.making.attach", lambda file, sector: real(str(other), sector))
    with pytest.raises(Stopped, match=f"got {other} instead of"):
        up(wanted("d0"), place.directory)
    assert not place.loops() and other.exists()
