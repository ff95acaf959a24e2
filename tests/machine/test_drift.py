"""What somebody else's hand does to a machine that stands: one sentence and one way each, and the way is gone, in the virtual server."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml

from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.applies import Apply
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE

pytestmark = [pytest.mark.machine, pytest.mark.long]

LAYOUT = """
version: "1"
host: drift
hardware:
  disks: {d<0-4>: {size: 1GiB, serial: DRIFT-<1>, partitions: {a: {size: 190MiB, type: raid}, b: {size: 100MiB, type: raid},
          c: {size: 100MiB, type: raid}, e: {size: 100MiB, type: raid}, f: {size: 100MiB, type: raid}, g: {size: 100MiB, type: raid}}}}
arrays:
  five: {level: raid5, members: [d0.a, d1.a, d2.a, d3.a], spares: [d4.a], chunk: 64KiB}
  end: {level: raid1, members: [d0.b, d1.b], metadata: "1.0", initial_sync: assume-clean}
  old: {level: raid1, members: [d2.b, d3.b], metadata: "0.90", bitmap: none, initial_sync: assume-clean}
  ten: {level: raid10, members: [d3.c, d2.c, d1.c, d0.c], layout: f2, chunk: 128KiB, initial_sync: assume-clean}
  zero: {level: raid0, members: [d1.e, d0.e, d3.e], chunk: 32KiB}
  row: {level: linear, members: [d1.f, d0.f]}
  log: {level: raid5, members: [d2.f, d3.f, d4.f], consistency: ppl}
  six: {level: raid6, members: [d0.g, d1.g, d2.g, d3.g], layout: left-asymmetric, metadata: "1.1"}
filesystems:
  five: {device: five, type: xfs, mount: /srv/five}
  <end,old,ten,zero,row,log,six>: {device: <1>, type: ext4, mount: "/srv/<1>"}
allow: ["*"]
"""
DRIFT = Apply("/root/drift.yaml", "drift")
ARRAYS = ("five", "end", "old", "ten", "zero", "row", "log", "six")
FILESYSTEMS = {"five": "xfs"}


def layout() -> str:
    data = yaml.safe_load(LAYOUT)
    del data["allow"]
    data["filesystems"] = {
        name: {"device": name, "type": FILESYSTEMS.get(name, "ext4"), "mount": f"/srv/{name}"}
        for name in ARRAYS
    }
    return yaml.safe_dump(data, sort_keys=False)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    disks = [Disk(f"disk{n}", 2**30, f"DRIFT-{n}") for n in range(5)]
    disks += [Disk("copy", 2**30, "COPY-0"), Disk("part", 190 * 2**20, "COPY-1")]
    with Twin.start(disks, directory=tmp_path_factory.mktemp("drift")) as machine:
        install_raidplan(machine)
        quick_initramfs(machine)
        machine.run("sysctl -q dev.raid.speed_limit_max=200000", check=False)
        machine.put(layout().encode(), DRIFT.file)
        done = DRIFT.run(machine)
        assert done.returncode == 0, done.stderr[-3000:]
        for name in ARRAYS:
            machine.run(f"cp -a /etc /srv/{name}/; sync")
        machine.run("mdadm --wait /dev/md/*; udevadm settle; true")
        yield machine


def hashes(twin: Twin) -> dict[str, str]:
    """Of every byte of each array, which nothing uses."""
    lines = twin.run(f"sha256sum {' '.join(f'/dev/md/{name}' for name in ARRAYS)}").stdout.splitlines()
    return {line.split()[1]: line.split()[0] for line in lines}


def followed(twin: Twin, array: str, reason: str) -> list[str]:
    """The modes of the commands that a reason names, which are run one by one as it says."""
    commands = [each.strip() for each in re.findall(rf"mdadm /dev/md/{array} --[^,(]+", reason)]
    for command in commands:
        twin.run(command)
        twin.run(f"udevadm settle; sleep 1; mdadm --wait /dev/md/{array}; sleep 1; udevadm settle; true")
    return [command.split()[2] for command in commands]


def test_a_failed_member_is_one_reason_with_commands_that_work(twin: Twin) -> None:
    """With a spare, which has taken its place meanwhile, and without."""
    twin.run(
        "mdadm /dev/md/five --fail $(readlink -f /dev/disk/by-id/*DRIFT-1-part1); sleep 1; mdadm --wait /dev/md/five; udevadm settle; true"
    )
    (reason,) = DRIFT.refusals(twin)
    assert followed(twin, "five", reason) == [
        "--remove",
        "--add-spare",
        "--replace",
        "--remove",
        "--add-spare",
    ], reason
    DRIFT.nothing_to_do(twin)
    twin.run("mdadm /dev/md/end --fail $(readlink -f /dev/disk/by-id/*DRIFT-0-part2)")
    (reason,) = DRIFT.refusals(twin)
    assert followed(twin, "end", reason) == ["--remove", "--add"], reason
    DRIFT.nothing_to_do(twin)


def test_superblocks_that_are_gone_come_back_by_the_command_that_is_printed(twin: Twin) -> None:
    twin.run("umount /srv/*")
    before = hashes(twin)
    for name in ARRAYS:
        members = twin.run(
            f"mdadm --detail --export /dev/md/{name} | sed -n 's/^MD_DEVICE_.*_DEV=//p'"
        ).stdout.split()
        twin.run(f"mdadm --stop /dev/md/{name} && mdadm --zero-superblock {' '.join(members)}")
    twin.run("udevadm settle")
    reasons = DRIFT.refusals(twin)
    assert len(reasons) == len(ARRAYS), "\n".join(reasons)
    for reason in reasons:
        create, *_ = re.findall(r"`(mdadm --create [^`]*)`", reason)
        assert "wipe" not in reason
        twin.run(create, stdin=b"y\ny\n")
    assert hashes(twin) == before
    for name in ARRAYS:
        assert (
            twin.run(f"cat /sys/block/$(basename $(readlink -f /dev/md/{name}))/ro").stdout.strip() == "1"
        ), name
        kind = FILESYSTEMS.get(name, "ext4")
        twin.run(f"{'xfs_repair -n' if kind == 'xfs' else 'e2fsck -fn'} /dev/md/{name}")
        twin.run(f"mdadm --readwrite /dev/md/{name}")
    assert hashes(twin) == before
    twin.run("mount -a")
    DRIFT.nothing_to_do(twin)


@pytest.mark.parametrize("name", ["end", "six"])
def test_an_array_that_was_stopped(twin: Twin, name: str) -> None:
    twin.run(f"umount /srv/{name}; mdadm --stop /dev/md/{name}; udevadm settle")
    (reason,) = DRIFT.refusals(twin)
    twin.run(re.findall(r"`(mdadm --assemble [^`]*)`", reason)[0])
    twin.run("udevadm settle; mount -a")
    DRIFT.nothing_to_do(twin)


def test_an_array_that_was_renamed(twin: Twin) -> None:
    devices = twin.run("echo /dev/disk/by-id/*DRIFT-[01]-part2").stdout.strip()
    twin.run(
        f"umount /srv/end; mdadm --stop /dev/md/end; mdadm --assemble --update=name --name=other:thing /dev/md/end {devices}"
    )
    twin.run("udevadm settle; mount -a")
    (reason,) = DRIFT.refusals(twin)
    twin.run("umount /srv/end")
    commands = re.findall(r"mdadm --(?:stop|assemble) [^,(]+", reason)
    for command in commands:
        twin.run(command.strip())
    twin.run("udevadm settle; mount -a")
    DRIFT.nothing_to_do(twin)


def test_a_copy_of_a_member_that_is_plugged_in(twin: Twin) -> None:
    twin.run(
        f'{NODE}; dd if=/dev/disk/by-id/$(ls /dev/disk/by-id | grep "DRIFT-2-part1$" | head -1) of="$(d COPY-1)" bs=1M status=none; sync'
    )
    twin.run("udevadm trigger --settle")
    (reason,) = DRIFT.refusals(twin)
    assert "unplug" in reason, reason
    twin.run(
        f'{NODE}; dd if=/dev/zero of="$(d COPY-1)" bs=1M status=none; sync; dd if="$(d DRIFT-2)" of="$(d COPY-0)" bs=1M status=none; sync',
        check=False,
    )
    twin.run("udevadm trigger --settle")
    (reason,) = DRIFT.refusals(twin)
    assert "disk GUID" in reason and "unplug" in reason, reason
    twin.run(
        f'{NODE}; dd if=/dev/zero of="$(d COPY-0)" bs=1M status=none; sync; blockdev --rereadpt "$(d COPY-0)"; udevadm trigger --settle',
        check=False,
    )
    DRIFT.nothing_to_do(twin)
