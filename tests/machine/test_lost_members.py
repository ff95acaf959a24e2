"""Members that are away, behind, copied, or without their header: the commands that apply prints, run as they stand in a virtual server."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.applies import Apply
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE

pytestmark = [pytest.mark.machine, pytest.mark.long]

SIZE = 2**28
NAMES = [f"d{n}" for n in range(8)]
DISKS = [*(Disk(name, SIZE, f"LOSE-{name[1:]}") for name in NAMES), Disk("copy", SIZE, "COPY-0")]
KEY = "/etc/keys/safe.key"
LAYOUT = f"""\
version: "1"
host: losing
hardware: {{disks: {{d<0-7>: {{size: 256MiB, serial: LOSE-<1>}}}}}}
arrays:
  five: {{level: raid5, members: [d0, d1, d2], bitmap: internal}}
  mirror: {{level: raid1, members: [d3, d4], initial_sync: assume-clean}}
  zero: {{level: raid0, members: [d5, d6]}}
encryption:
  safe: {{device: d7, key: {{file: {KEY}}}}}
filesystems:
  five: {{device: five, type: ext4, mount: /srv/five}}
  mirror: {{device: mirror, type: ext4, mount: /srv/mirror}}
  zero: {{device: zero, type: ext4, mount: /srv/zero}}
  safe: {{device: safe, type: ext4, mount: /srv/safe}}
"""
LOSING = Apply("/root/losing.yaml", "losing")


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin.start(DISKS, directory=tmp_path_factory.mktemp("losing")) as machine:
        install_raidplan(machine)
        quick_initramfs(machine)
        machine.run(f"umask 077; mkdir -p /etc/keys; printf %s of-this-server-alone >{KEY}; chmod 0400 {KEY}")
        machine.put(LAYOUT.encode(), LOSING.file)
        # The timer that starts a degraded array half a minute after the boot would come before what is looked at here.
        machine.run("systemctl mask --runtime mdadm-last-resort@.timer")
        done = LOSING.run(machine)
        assert done.returncode == 0, done.stderr[-3000:]
        for name in ("five", "mirror", "zero", "safe"):
            machine.run(f"cp -a /etc /srv/{name}/; sync")
        machine.run("mdadm --wait /dev/md/*; udevadm settle; true")
        yield machine


def refused(twin: Twin, name: str) -> tuple[str, list[str]]:
    """The reason of an apply that writes nothing about an array, and the commands in it."""
    (reason,) = [each for each in LOSING.refusals(twin) if re.search(rf"^arrays\.{name}\b", each)]
    return reason, re.findall("`([^`]+)`", reason)


def settled(twin: Twin) -> None:
    twin.run("udevadm settle; sleep 1; mdadm --wait /dev/md/*; udevadm settle; true")


def looked_at(twin: Twin, name: str, commands: list[str]) -> None:
    """The array is read-only and its file system whole; then it is given back to its users."""
    *_, give_back, leave = commands
    assert (give_back, leave) == (f"mdadm --readwrite /dev/md/{name}", f"mdadm --stop /dev/md/{name}")
    assert twin.run(f"cat /sys/block/$(basename $(readlink -f /dev/md/{name}))/ro").stdout.strip() == "1"
    twin.run(f"e2fsck -fn /dev/md/{name}")
    twin.run(give_back)
    settled(twin)
    twin.run(f"mountpoint -q /srv/{name} || mount /srv/{name}")


def brought_home(twin: Twin, name: str) -> int:
    """Members that are behind come back by the commands that are printed; how many those are."""
    commands = re.findall(rf"mdadm /dev/md/{name} --[^,(`]+", LOSING.run(twin).stderr)
    for command in commands:
        twin.run(command.strip())
        settled(twin)
    LOSING.nothing_to_do(twin)
    return len(commands)


def stop_inactive(twin: Twin) -> None:
    """Stops what udev has begun to assemble of members that appeared."""
    script = "for each in /sys/block/md*/md; do [ $(cat $each/array_state) != inactive ] || mdadm --stop /dev/$(basename ${each%/md}); done"
    twin.run(f"udevadm settle; {script}; udevadm settle")


def digest(twin: Twin, name: str) -> str:
    """Of all files below a mount point."""
    return twin.run(
        f"mountpoint -q /srv/{name} && cd /srv/{name} && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum"
    ).stdout


def release(twin: Twin, name: str) -> None:
    """Ends the use of an array's file system, also where it can no longer be written."""
    twin.run(f"umount /srv/{name} || umount -l /srv/{name}; sleep 1", check=False)


def test_more_members_are_away_than_raid5_survives(twin: Twin) -> None:
    before = digest(twin, "five")
    twin.unplug("d1", "d2")
    twin.run(
        "dd if=/dev/md/five of=/dev/null bs=64k count=9 iflag=direct; touch /srv/five/x; sync", check=False
    )
    settled(twin)
    reason, commands = refused(twin, "five")
    assert "Connect the missing" in reason, reason
    assert commands == ["raidplan adopt LAYOUT --forget arrays.five"], "nothing else is done without them"
    twin.plug("d1", "d2")
    settled(twin)
    reason, commands = refused(twin, "five")
    words = [each.split()[1] for each in commands]
    assert words == ["--stop", "--examine", "--assemble", "--readwrite", "--stop"], reason
    release(twin, "five")
    for each in commands[:3]:
        twin.run(each)
    looked_at(twin, "five", commands)
    brought_home(twin, "five")
    twin.run("rm -f /srv/five/x")
    assert digest(twin, "five") == before


@pytest.mark.parametrize("stopped", [False, True])
def test_an_array_that_comes_up_without_a_member(twin: Twin, stopped: bool) -> None:
    """md does not start it by itself, and where somebody stopped it, it is not even assembled."""
    before = digest(twin, "five")
    release(twin, "five")
    twin.run("mdadm --stop /dev/md/five")
    twin.unplug("d0", "d1", "d2")
    settled(twin)
    twin.plug("d0", "d2")
    settled(twin)
    if stopped:
        stop_inactive(twin)
    reason, commands = refused(twin, "five")
    assert "missing: d1" in reason, reason
    start = next(each for each in commands if "--run" in each)
    assert ("--assemble" in start) == stopped, reason
    twin.run(start)
    settled(twin)
    twin.run("mount /srv/five")
    twin.plug("d1")
    settled(twin)
    assert brought_home(twin, "five")
    assert digest(twin, "five") == before


def with_copy(twin: Twin, name: str, member: str) -> str:
    """A copy of a member is there, the member is away, and the array is stopped; the UUID of the array."""
    release(twin, name)
    if "copy" in twin.machine.unplugged:
        twin.plug("copy")
        settled(twin)
    twin.run(f"mdadm --stop /dev/md/{name}")
    twin.run(
        f'{NODE}; dd if="$(d LOSE-{member[1:]})" of="$(d COPY-0)" bs=1M conv=fsync status=none; blockdev --rereadpt "$(d COPY-0)"'
    )
    twin.unplug(member)
    settled(twin)
    uuid = twin.run("mdadm --examine --export /dev/disk/by-id/*COPY-0-part1 | sed -n 's/^MD_UUID=//p'")
    return uuid.stdout.strip()


def run_with_copy(twin: Twin, name: str, member: str) -> None:
    """The array runs with a copy in the place of a member, which comes back then."""
    uuid = with_copy(twin, name, member)
    stop_inactive(twin)
    twin.run(
        f"[ -e /dev/md/{name} ] || mdadm --assemble /dev/md/{name} --uuid={uuid}; udevadm settle; mount /srv/{name}"
    )
    twin.plug(member)
    settled(twin)


def test_a_copy_in_a_mirror_goes_out_and_the_member_is_rebuilt(twin: Twin) -> None:
    before = digest(twin, "mirror")
    run_with_copy(twin, "mirror", "d4")
    reason, (fail, remove, zero, add) = refused(twin, "mirror")
    assert "--fail" in fail and "--remove" in remove and "--zero-superblock" in zero and "--add" in add, (
        reason
    )
    twin.run(fail)
    twin.run(remove)
    twin.unplug("copy")
    twin.run(zero)
    twin.run(add)
    settled(twin)
    LOSING.nothing_to_do(twin)
    assert digest(twin, "mirror") == before


@pytest.mark.parametrize(("name", "member", "runs"), [("zero", "d6", True), ("mirror", "d3", False)])
def test_a_copy_that_the_array_does_not_go_on_without(twin: Twin, name: str, member: str, runs: bool) -> None:
    """Without redundancy, or where md has begun to assemble the array with the copy."""
    before = digest(twin, name)
    if runs:
        run_with_copy(twin, name, member)
    else:
        with_copy(twin, name, member)
        twin.plug(member)
        settled(twin)
    reason, commands = refused(twin, name)
    assert [each.split()[1] for each in commands] == ["--stop", "--assemble", "--readwrite", "--stop"], reason
    release(twin, name)
    twin.run(commands[0])
    twin.unplug("copy")
    twin.run(commands[1])
    looked_at(twin, name, commands)
    LOSING.nothing_to_do(twin)
    assert digest(twin, name) == before


def test_a_header_that_is_lost_comes_back_from_the_copy_that_apply_kept(twin: Twin) -> None:
    before = digest(twin, "safe")
    release(twin, "safe")
    twin.run(
        "set -e; cryptsetup close safe; dd if=/dev/zero of=$(ls /dev/disk/by-id/*LOSE-7-part1 | head -1) bs=1M count=1 conv=fsync status=none; udevadm settle"
    )
    (reason,) = [each for each in LOSING.refusals(twin) if "cryptsetup" in each]
    open_it, look, close, restore = re.findall("`([^`]+)`", reason)
    assert "--readonly" in open_it and "luksHeaderRestore" in restore, reason
    twin.run(f"{open_it} --key-file {KEY}")
    assert "ext4" in twin.run(look).stdout
    twin.run("e2fsck -fn /dev/mapper/kept")
    twin.run(close)
    twin.run(f"{restore} --batch-mode")
    twin.run(
        "systemctl daemon-reload; systemctl start systemd-cryptsetup@safe.service; udevadm settle; mount /srv/safe",
        check=False,
    )
    settled(twin)
    LOSING.nothing_to_do(twin)
    assert digest(twin, "safe") == before
