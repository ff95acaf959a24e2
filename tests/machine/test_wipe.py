"""Disks with a past, in the virtual server: everything old is gone for good, and the disks of others keep every byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from raidplan.facts.host import HOLD
from raidplan.facts.traces import SMALL
from raidplan.twin.rehearsal.stages import WHOLE
from raidplan.twin.server import Disk, Twin, install_raidplan
from raidplan.twin.server.ssh import Result
from tests.machine.executed import programs_as_planned, traced
from tests.machine.initramfs import quick_initramfs
from tests.machine.kills import KILLED, acts_killed, install_killer, killed_once, killed_to_the_end
from tests.machine.look import NODE, contents
from tests.machine.servers import decoys
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

SIZE = SMALL + 2**28
"""Bytes of a disk, which no run reads whole."""

DISKS = [Disk(f"disk{n}", SIZE, f"DISK-{n}") for n in range(14)]
DECOYS = decoys(SIZE)
SHELL = (
    NODE
    + """
quiet() { umount /srv/* 2>/dev/null; udevadm settle; for m in /dev/md?*; do [ -b "$m" ] && mdadm --stop "$m"; done 2>/dev/null; udevadm settle; }
bare() { for n in "$@"; do x=$(d DISK-$n); wipefs -aq $x[0-9]* $x; blockdev --rereadpt $x; done; udevadm settle; }
mirror() { n=$1; shift; mdadm --create /dev/md/$n --run --quiet --level=1 --bitmap=none --assume-clean --raid-devices=2 "$@"; }
"""
)
"""Shell functions: the node of a disk by its serial; every array stopped; disks without their old signatures; a RAID1."""

WIPE = """version: 1
host: {host}
hardware: {{disks: {{{disks}: {{size: {size}B, serial: DISK-<1>, wipe: true}}}}}}
arrays: {{{name}: {{level: {level}, members: [{members}], initial_sync: freeze-until-reboot}}}}
filesystems: {{{name}: {{device: {name}, type: ext4, mount: /srv/{name}, label: new-{name}}}}}
"""


def layout(host: str, first: int, last: int, level: str = "raid1") -> str:
    return WIPE.format(
        host=host, size=SIZE, disks=f"w<{first}-{last}>", name=host, level=level, members=f"w<{first}-{last}>"
    )


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A server with disks of other people: an array that runs, a file system, and a blank one of the same make."""
    with Twin.start([*DISKS, *DECOYS], directory=tmp_path_factory.mktemp("wipe")) as machine:
        install_raidplan(machine)
        install_killer(machine)
        quick_initramfs(machine)
        make = f"set -e; {SHELL}\n"
        make += "mirror foreign --metadata=1.2 $(d DECOY-0) $(d DECOY-1)\n"
        make += "mke2fs -q -L precious /dev/md/foreign; mdadm --stop /dev/md/foreign; mke2fs -q -L precious $(d DECOY-2)"
        machine.run(["sh", "-c", make])
        yield machine


@pytest.fixture(autouse=True)
def decoys_keep_every_byte(twin: Twin) -> Iterator[None]:
    others = [disk.name for disk in DECOYS]
    before = contents(twin, others)
    yield
    assert contents(twin, others) == before


def sh(twin: Twin, script: str, *, check: bool = True) -> Result:
    return twin.run(["sh", "-c", f"{SHELL}\n{script}"], check=check, timeout=300)


def planned(twin: Twin, name: str, text: str) -> tuple[Result, str]:
    """What `plan` says, and the digest that it prints."""
    twin.put(text.encode(), f"/root/{name}.yaml")
    done = twin.run(["raidplan", "plan", f"/root/{name}.yaml"], check=False, timeout=300)
    digest = re.search(r"--destroy (sha256:[0-9a-f]{64})", done.stdout)
    return done, digest[1] if digest else ""


def wiped(twin: Twin, name: str, text: str) -> str:
    """Applied with the digest of the list, by the programs of the plan and no others; the list that `plan` printed."""
    plan, digest = planned(twin, name, text)
    assert plan.returncode == 0, plan.stderr
    refused = twin.run(
        ["raidplan", "apply", f"/root/{name}.yaml", "--confirm", name], check=False, timeout=300
    )
    assert refused.returncode == 4 and "--confirm is not enough" in refused.stderr
    twin.run(["raidplan", "plan", f"/root/{name}.yaml", "-o", f"/root/{name}.json"], timeout=300)
    done = traced(twin, f"/root/{name}.json", ["--destroy", digest])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    programs_as_planned(twin, f"/root/{name}.json")
    assert WHOLE in done.stderr
    assert sh(twin, f"test ! -e {HOLD}").returncode == 0
    return plan.stdout.partition(" will be destroyed:\n")[2]


def only_ours(twin: Twin, name: str, disks: range, *old: str, boot: bool = False) -> None:
    """After udev was asked anew about every disk, as at a boot; or after a boot."""
    if boot:
        sh(twin, "really-mkinitramfs -o /boot/initrd.img-$(uname -r) $(uname -r)")
        reboot(twin)
    else:
        sh(twin, "udevadm trigger --settle --action=add --subsystem-match=block")
    arrays = sh(twin, "cat /proc/mdstat; mdadm --detail --scan").stdout
    look = f"for n in {' '.join(map(str, disks))}; do x=$(d DISK-$n); wipefs -n $x $x[0-9]; mdadm --examine $x $x[0-9]; done"
    signatures = sh(twin, look, check=False).stdout
    for word in old:
        assert word not in arrays and word not in signatures, (word, arrays, signatures)
    assert f"{name}:{name}" in signatures
    assert sh(twin, f"findmnt -no LABEL /srv/{name}").stdout.strip() == f"new-{name}"
    again = twin.run(["raidplan", "apply", f"/root/{name}.yaml"], check=False, timeout=300)
    assert again.returncode == 0 and "nothing to do" in again.stderr


UUIDS = {version: f"{n}{n}{n}{n}aaaa:bbbbcccc:ddddeeee:ffff{n}{n}{n}{n}" for n, version in enumerate(("0.90", "1.0", "1.1", "1.2"), 1)}  # fmt: skip


@pytest.mark.parametrize("running", [False, True])
def test_f23_f27_arrays_of_every_metadata_version(twin: Twin, running: bool) -> None:
    """Each on two whole disks, with a file system; all were stopped, or all run again as after a boot."""
    name = "running" if running else "stale"
    make = "quiet; bare 0 1 2 3 4 5 6 7\n"
    for number, (version, uuid) in enumerate(UUIDS.items()):
        disks = f"$(d DISK-{2 * number}) $(d DISK-{2 * number + 1})"
        make += f"mirror old{number} --metadata={version} --uuid={uuid} {disks}\n"
        make += f"mke2fs -q -F -L ghost{number} /dev/md/old{number}; mdadm --stop /dev/md/old{number}\n"
    make += "udevadm trigger --settle --action=add --subsystem-match=block" if running else "quiet"
    sh(twin, make, check=False)
    listed = wiped(twin, name, layout(name, 0, 7, "raid6"))
    assert all(f"ghost{number}" in listed for number in range(4))
    assert listed.count("a member of the array") == 8
    if running:
        assert len(re.findall("^  - the array ", listed, re.MULTILINE)) == 4
    only_ours(twin, name, range(8), *UUIDS.values(), "ghost")


def test_f23_the_same_partitions_again(twin: Twin) -> None:
    """The geometry of the last time, under another host's name: nothing of then is found where it was."""
    for host in ("first", "second"):
        text = layout(host, 8, 9)
        if host == "first":
            twin.put(text.encode(), "/root/first.yaml")
            done = twin.run(
                ["raidplan", "apply", "/root/first.yaml", "--confirm", "first"], check=False, timeout=600
            )
            assert done.returncode == 0, done.stderr[-3000:]
            sh(
                twin,
                "echo old >/srv/first/file; umount /srv/first; sed -i '/srv.first/d' /etc/fstab; systemctl daemon-reload",
            )
            continue
        listed = wiped(twin, "second", text)
        assert "ext4 'new-first'" in listed and "the array 'first:first'" in listed
    only_ours(twin, "second", range(8, 10), "first:first", "new-first")
    assert sh(twin, "ls /srv/second").stdout.split() == ["lost+found"]


def test_f25_a_file_system_shows_through_in_an_array_that_is_made_again(twin: Twin) -> None:
    """No superblock, no table is left of then; only what the array will hold where it begins."""
    make = "quiet; for n in 10 11; do x=$(d DISK-$n); sgdisk -Z $x; sgdisk -n 1:2048:+900M $x; udevadm settle; done\n"
    make += "mirror g --metadata=1.2 $(d DISK-10)1 $(d DISK-11)1; mke2fs -q -F -L ghost /dev/md/g; mdadm --stop /dev/md/g\n"
    # The superblock and everything before the data is gone; the file system begins 2 MiB into each disk.
    make += "for n in 10 11; do x=$(d DISK-$n); sgdisk -Z $x; dd if=/dev/zero of=$x bs=1M count=2 conv=fsync; done; quiet"
    sh(twin, make, check=False)
    plan, digest = planned(twin, "again", layout("again", 10, 11))
    assert plan.returncode == 0, plan.stderr
    consent = ["--destroy", digest] if digest else ["--confirm", "again"]
    done = twin.run(["raidplan", "apply", "/root/again.yaml", *consent], check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    only_ours(twin, "again", range(10, 12), "ghost")


def test_f27_f32_what_is_mounted_is_refused_and_lvm_goes_from_the_top(twin: Twin) -> None:
    text = layout("stacked", 12, 13)
    make = "quiet; mirror low --metadata=1.2 $(d DISK-12) $(d DISK-13); set -e; vgcreate -q oldgroup /dev/md/low\n"
    make += "lvcreate -q -y -n home -L 200M oldgroup; lvcreate -q -y -n swap -L 100M oldgroup\n"
    make += "mke2fs -q -L home /dev/oldgroup/home; mkswap -q /dev/oldgroup/swap\n"
    make += "mkdir -p /mnt/home; mount /dev/oldgroup/home /mnt/home; swapon /dev/oldgroup/swap"
    sh(twin, make)
    plan, _ = planned(twin, "stacked", text)
    assert plan.returncode == 4
    assert "the volume oldgroup/home is in use, mounted at /mnt/home" in plan.stderr
    assert "the volume oldgroup/swap is in use, swap" in plan.stderr
    sh(twin, "swapoff /dev/oldgroup/swap; umount /mnt/home")
    sh(
        twin,
        "unshare --mount sh -c 'mount /dev/oldgroup/home /mnt/home; exec sleep 300' </dev/null >/dev/null 2>&1 & sleep 2",
    )
    plan, _ = planned(twin, "stacked", text)
    assert plan.returncode == 4 and "is mounted at /mnt/home for process" in plan.stderr
    sh(twin, "kill $(pgrep -x sleep); sleep 1")
    listed = wiped(twin, "stacked", text)
    for lost in (
        "ext2 'home', 200 MiB, on the volume oldgroup/home",
        "swap, 100 MiB, on the volume oldgroup/swap",
        "'oldgroup'",
    ):
        assert lost in listed, listed
    only_ours(twin, "stacked", range(12, 14), "oldgroup", "LVM2_member", boot=True)
    assert "oldgroup" not in sh(twin, "vgs").stdout


def test_f28_an_array_that_reaches_a_disk_of_others_is_refused(twin: Twin) -> None:
    """The layout names one leg of the foreign array: the other one is nobody's to break."""
    text = "version: 1\nhost: thief\nhardware: {disks: {x: {size: 64MiB, serial: DECOY-0, wipe: true}}}\nfilesystems: {x: {device: x, type: ext2}}\n"
    plan, _ = planned(twin, "thief", text)
    assert (
        plan.returncode == 4
        and "foreign" in plan.stderr
        and "which this plan does not overwrite" in plan.stderr
    )


def test_f29_a_member_that_was_away_comes_back_to_nothing(twin: Twin) -> None:
    """Two of three old members are wiped and used; the third one returns and takes nothing with it."""
    make = "quiet; bare 5 6 7; mdadm --create /dev/md/three --run --quiet --level=5 --metadata=1.2 --bitmap=none \\\n"
    make += "--assume-clean --raid-devices=3 $(d DISK-5) $(d DISK-6) $(d DISK-7); mdadm --stop /dev/md/three"
    sh(twin, make, check=False)
    twin.unplug("disk7")
    listed = wiped(twin, "away", layout("away", 5, 6))
    assert "1 of its 3 members are not in this machine" in listed
    twin.plug("disk7")
    sh(twin, "udevadm settle --timeout=60; sleep 2")
    only_ours(twin, "away", range(5, 7))
    assert sh(twin, "mdadm --detail /dev/md/away | grep 'Raid Devices'").stdout.split()[-1] == "2"


def test_f68_a_hostile_name_reaches_neither_terminal_nor_files(twin: Twin) -> None:
    make = "quiet; sed -i '/srv.stacked/d' /etc/fstab; bare 12 13; name=$(printf 'e\\nARRAY \\033[2Jx')\n"
    make += 'mirror h --metadata=1.2 --homehost=any --name="$name" $(d DISK-12) $(d DISK-13); mdadm --detail /dev/md/h'
    assert "ARRAY" in sh(twin, make).stdout, "mdadm takes such a name"
    listed = wiped(twin, "hostile", layout("hostile", 12, 13))
    assert "\x1b" not in listed and "\\x1b[2J" in listed
    files = sh(
        twin, "cat /etc/mdadm/mdadm.conf /etc/fstab /etc/udev/rules.d/*raidplan* 2>/dev/null", check=False
    ).stdout
    assert "\x1b" not in files and "\nARRAY \n" not in files


def test_f61_f62_undo_until_an_array_is_begun(twin: Twin) -> None:
    """Killed in one program after the other, and undone each time, bit for bit; refused after the first `mdadm --create`."""
    make = "quiet; bare 0 1; printf 'label: gpt\\nsize=300MiB\\nsize=200MiB\\n' | sfdisk -q $(d DISK-0); udevadm settle\n"
    make += "mke2fs -q -F -L keep $(d DISK-0)1; mkswap -q -L old $(d DISK-1); udevadm settle"
    sh(twin, make)
    text = layout("back", 0, 1).replace("wipe: true", "wipe: true, partitions: {data: {size: rest}}")
    _, digest = planned(twin, "back", text.replace("w<0-1>]", "w<0-1>.data]"))
    assert digest
    files = "sha256sum /etc/fstab /etc/mdadm/mdadm.conf"
    before, said = contents(twin, ["disk0", "disk1"]), sh(twin, files).stdout
    undone = 0
    while True:
        done = killed_once(twin, "back", ["apply", "/root/back.yaml", "--destroy", digest], 0.3)
        assert done.returncode == KILLED, done.stderr[-3000:]
        killed_in = acts_killed(twin, "back")[-1]
        undo = twin.run(["raidplan", "undo", "back", "--confirm", "back"], check=False, timeout=300)
        if killed_in.startswith("mdadm --create"):
            assert undo.returncode == 4 and "the point of no return was passed" in undo.stderr, undo.stderr
            break
        assert undo.returncode == 0, undo.stderr
        undone += 1
        assert contents(twin, ["disk0", "disk1"]) == before, killed_in
        assert sh(twin, files).stdout == said
    assert undone >= 2, "two disks were partitioned"


def test_killed_in_every_act_of_a_teardown(
    twin: Twin, record_property: Callable[[str, object], None]
) -> None:
    """Volumes on a mirror of partitions, which all run; and while raidplan clears a device, too."""
    make = "quiet; bare 2 3 4; for n in 2 3; do printf 'label: gpt\\nsize=96MiB\\nsize=64MiB\\n' | sfdisk -q $(d DISK-$n); done\n"
    make += "udevadm settle; set -e; mirror low --metadata=1.0 $(d DISK-2)1 $(d DISK-3)1\n"
    make += "vgcreate -q oldgroup /dev/md/low $(d DISK-2)2; lvcreate -q -y -n home -L 120M oldgroup; mke2fs -q -L oldhome /dev/oldgroup/home\n"
    make += "mkswap -q -L oldswap $(d DISK-3)2; mke2fs -q -F -L oldwhole $(d DISK-4); udevadm settle"
    sh(twin, make)
    text = layout("torn", 2, 4, "raid5")
    listed, _ = planned(twin, "torn", text)
    assert all(old in listed.stdout for old in ("oldhome", "oldswap", "oldwhole", "'oldgroup'")), (
        listed.stderr
    )
    done, acts = killed_to_the_end(
        twin, "torn", ["apply", "/root/torn.yaml", "--confirm", "torn"], wipes=True
    )
    assert WHOLE in done.stderr, done.stderr[-3000:]
    record_property("counted: kills in a teardown in the virtual server", len(acts))
    assert sum(act.startswith("zero ") for act in acts) >= 5, acts
    assert {"mdadm --stop", "mdadm --create"} <= {" ".join(act.split()[:2]) for act in acts}, acts
    only_ours(
        twin, "torn", range(2, 5), "oldhome", "oldswap", "oldwhole", "oldgroup", "LVM2_member", boot=True
    )
