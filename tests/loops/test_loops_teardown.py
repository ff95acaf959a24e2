"""What is taken off, in which order, and what makes it refuse: on recorded machines."""

import pytest

from raidplan.base.identity import lvm_form
from raidplan.facts.block import Block
from raidplan.facts.mounts import Mount, SwapArea
from raidplan.twin.loops.losetup import Loop
from raidplan.twin.loops.refused import LoopsRefused
from raidplan.twin.loops.teardown import teardown
from raidplan.twin.loops.users import Group, Users

VG = "Zt3Ak5" + "aaaa" * 5 + "bbbbbb"
VG_PRINTED = "Zt3Ak5-aaaa-aaaa-aaaa-aaaa-aaaa-bbbbbb"
LV = "1" * 32


def disk(name):
    return Block(name, "", 0)


def part(name, of):
    return Block(name, "", 0, partition=1, disk=of)


def md(name, *below):
    return Block(name, "", 0, slaves=below, is_md=True)


def lv(name, *below, lv="1"):
    return Block(name, "", 0, slaves=below, dm_uuid=f"LVM-{VG}{lv * 32}", dm_name=f"vg0-{name}")


def loop(number, inode=100, device=1, file="/t/d.img"):
    return Loop(f"/dev/loop{number}", file, inode + number, device, 512)


def mount(point, device, source, own, parent, number=0):
    return Mount(point, source, "", (), device, (), own, parent, f"0:{number}")


def swap(path, device):
    return SwapArea(path, not device, 0, 0, device)


def stack(*blocks, mounts=(), swaps=(), groups=()):
    return Users({block.name: block for block in blocks}, tuple(mounts), tuple(swaps), tuple(groups))


def commands(ours, machine, loops=()):
    return [" ".join(action.argv) for action in teardown(ours, loops, machine)]


def reasons(ours, machine, loops=()):
    with pytest.raises(LoopsRefused) as no:
        teardown(ours, loops, machine)
    return no.value.reasons


LOOPS = (disk("loop0"), disk("loop1"), part("loop0p1", "loop0"), part("loop1p1", "loop1"))
SYSTEM = (disk("sda"), part("sda1", "sda"))


def test_nothing_stands_on_them():
    machine = stack(*LOOPS, *SYSTEM, mounts=[mount("/", "sda1", "/dev/sda1", 1, 0)])
    assert commands(["loop0", "loop1"], machine) == []


def test_the_whole_tower_from_the_top():
    machine = stack(
        *LOOPS, *SYSTEM, md("md127", "loop0p1", "loop1p1"), lv("dm-0", "md127"), lv("dm-1", "md127", lv="2"), md("md_top", "dm-0"),
        mounts=[
            mount("/", "sda1", "/dev/sda1", 1, 0),
            mount("/srv", "md_top", "/dev/md_top", 2, 1, 50),
            mount("/srv/deep", "dm-1", "/dev/dm-1", 3, 2, 51),
        ],
        swaps=[swap("/srv/swapfile", ""), swap("/swapfile", ""), swap("/dev/sda2", "sda2")],
        groups=[Group("vg0", VG_PRINTED, ("md127",))],
    )  # fmt: skip
    assert commands(["loop0", "loop1"], machine) == [
        "swapoff /srv/swapfile",
        "umount /srv/deep",
        "umount /srv",
        "mdadm --stop /dev/md_top",
        f"vgchange --activate n --select vg_uuid={VG_PRINTED}",
        "mdadm --stop /dev/md127",
    ]


def test_nested_arrays():
    machine = stack(*LOOPS, md("md1", "loop0p1"), md("md2", "loop1p1"), md("md0", "md1", "md2"))
    stops = commands(["loop0", "loop1"], machine)
    assert stops[0] == "mdadm --stop /dev/md0" and sorted(stops[1:]) == [
        "mdadm --stop /dev/md1",
        "mdadm --stop /dev/md2",
    ]


def test_an_array_with_partitions_and_swap_on_one():
    machine = stack(
        *LOOPS, md("md0", "loop0", "loop1"), part("md0p1", "md0"), swaps=[swap("/dev/md0p1", "md0p1")]
    )
    assert commands(["loop0", "loop1"], machine) == ["swapoff /dev/md0p1", "mdadm --stop /dev/md0"]


def test_mounted_twice_and_bound():
    mounts = [
        mount("/a", "loop0p1", "/dev/loop0p1", 5, 1, 9),
        mount("/a", "loop0p1", "/dev/loop0p1", 6, 5, 9),
        mount("/b/c", "loop0p1", "/dev/loop0p1", 7, 1, 9),
    ]
    assert commands(["loop0"], stack(*LOOPS, mounts=mounts)) == ["umount /a", "umount /b/c", "umount /a"]


def test_an_automount_below_ours_is_not_on_top():
    mounts = [mount("/a", "", "systemd-1", 5, 1), mount("/a", "loop0p1", "/dev/loop0p1", 6, 5, 9)]
    assert commands(["loop0"], stack(*LOOPS, mounts=mounts)) == ["umount /a"]


def test_an_inactive_array_is_stopped_too():
    assert commands(["loop0"], stack(*LOOPS, md("md127", "loop0p1"))) == ["mdadm --stop /dev/md127"]


def test_arrays_of_others_are_left_alone():
    machine = stack(*LOOPS, *SYSTEM, md("md0", "loop0p1"), md("md1", "sda1"), lv("dm-0", "md1"),
                    mounts=[mount("/", "dm-0", "/dev/dm-0", 1, 0)], groups=[Group("vg0", VG_PRINTED, ("md1",))])  # fmt: skip
    assert commands(["loop0"], machine) == ["mdadm --stop /dev/md0"]


def test_an_array_of_ours_and_others_is_refused():
    machine = stack(*LOOPS, *SYSTEM, md("md0", "loop0p1", "sda1"), md("md1", "loop1p1"))
    assert reasons(["loop0", "loop1"], machine) == (
        "/dev/md0 stands on /dev/loop0p1 and on /dev/sda1, not ours",
    )


def test_a_foreign_loop_device_in_an_array_is_foreign():
    machine = stack(*LOOPS, md("md0", "loop0p1", "loop1p1"))
    assert reasons(["loop0"], machine) == ("/dev/md0 stands on /dev/loop0p1 and on /dev/loop1p1, not ours",)


def test_a_mix_further_up_is_refused():
    machine = stack(*LOOPS, *SYSTEM, md("md0", "loop0p1"), md("md1", "md0", "sda1"))
    assert reasons(["loop0"], machine) == ("/dev/md1 stands on /dev/md0 and on /dev/sda1, not ours",)


@pytest.mark.parametrize("active", [True, False])
def test_a_mixed_volume_group_is_refused_active_or_not(active):
    blocks = [lv("dm-0", "loop0p1")] if active else []
    machine = stack(*LOOPS, *SYSTEM, *blocks, groups=[Group("vg0", VG_PRINTED, ("loop0p1", "sda1"))])
    assert reasons(["loop0"], machine) == (
        "the volume group vg0 stands on /dev/loop0p1 and on /dev/sda1, not ours",
    )


def test_a_volume_group_that_misses_a_device_is_ours():
    machine = stack(*LOOPS, lv("dm-0", "loop0p1"), groups=[Group("vg0", VG_PRINTED, ("loop0p1",))])
    assert commands(["loop0"], machine) == [f"vgchange --activate n --select vg_uuid={VG_PRINTED}"]


def test_encryption_and_others_are_refused():
    crypt = Block("dm-3", "", 0, slaves=("loop0p1",), dm_uuid="CRYPT-LUKS2-1234-secret", dm_name="secret")
    assert reasons(["loop0"], stack(*LOOPS, crypt)) == (
        "/dev/dm-3 (secret) on /dev/loop0p1 is neither an array nor an LVM volume: close it first",
    )


def test_a_foreign_mount_on_top_is_refused():
    mounts = [mount("/a", "loop0p1", "/dev/loop0p1", 5, 1, 9), mount("/a/usb", "sda1", "/dev/sda1", 6, 5, 8)]
    assert reasons(["loop0"], stack(*LOOPS, *SYSTEM, mounts=mounts)) == (
        "/dev/sda1 is mounted at /a/usb, on top of ours: unmount it first",
    )


def test_the_running_system_is_refused():
    mounts = [mount("/", "md0", "/dev/md0", 1, 0, 9)]
    assert reasons(["loop0"], stack(*LOOPS, md("md0", "loop0p1"), mounts=mounts)) == (
        "/ is mounted from /dev/md0, which stands on this folder",
    )


def test_a_foreign_loop_device_over_a_file_in_ours_is_refused():
    mounts = [mount("/a", "loop0p1", "/dev/loop0p1", 5, 1, 9)]
    nested = Loop("/dev/loop7", "/a/image", 33, 9, 512)
    assert reasons(["loop0"], stack(*LOOPS, disk("loop7"), mounts=mounts), [loop(0), nested]) == (
        "/dev/loop7 is over /a/image, which lies in /a: detach it first",
    )


def test_every_reason_is_given():
    machine = stack(*LOOPS, *SYSTEM, md("md0", "loop0p1", "sda1"), md("md1", "loop1p1", "sda"))
    assert len(reasons(["loop0", "loop1"], machine)) == 2


def test_a_loop_device_that_vanished_meanwhile():
    assert commands(["loop9"], stack(*LOOPS)) == []


def test_the_uuid_of_a_group():
    assert lvm_form(VG) == VG_PRINTED
