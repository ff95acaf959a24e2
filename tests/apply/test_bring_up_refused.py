"""Storage that is brought neither up nor down: by what others mounted, what is writable already, or for want of a passphrase."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.bring_up import Wish, bring_down
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.strangers import inside, strangers
from raidplan.base.figures import Figures
from raidplan.cli import OK, REFUSED, STOPPED, mount, passphrase, refusals, umount
from raidplan.facts.block import Names
from raidplan.facts.mounts import mount_objects, of_system, parse_mountinfo
from raidplan.render.refusals import refusal_text
from tests.apply.rescue import LAYOUT, Rescue, as_applied, down, guards, plan_of, up, without
from tests.apply.runs import impatient
from tests.apply.simulated import SECRET

__all__ = ["impatient"]

ENCRYPTED = """\
version: 1
host: fresh
hardware:
  disks: {a<0-1>: {size: 4GiB, serial: FRESH-<1>, partitions: {boot: {size: 500MiB}, os: {size: rest}}}}
arrays:
  boot: {level: raid1, members: [a<0-1>.boot]}
  os: {level: raid1, members: [a<0-1>.os]}
encryption: {safe: {device: os, key: ask}}
filesystems:
  boot: {device: boot, type: ext4, mount: /boot}
  root: {device: safe, type: ext4, mount: /}
"""


@pytest.fixture
def made(tmp_path: Path) -> Rescue:
    return as_applied(plan_of(LAYOUT), tmp_path)


FOREIGN: dict[str, dict[str, Any]] = {
    "in memory": {"source": "tmpfs", "type": "tmpfs"},
    "of another device": {"source": "partition:of-somebody", "type": "xfs"},
    "a folder of ours": {"source": "volume:vg/srv", "type": "xfs", "root": "/a folder"},
    "our device, made anew": {"source": "volume:vg/srv", "type": "ext4"},
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=[*FOREIGN])
@pytest.mark.parametrize("point", ["/srv", "/"])
def test_a_file_system_of_others_at_a_mount_point_of_ours_stays_and_counts_for_nothing(
    made: Rescue, foreign: dict[str, Any], point: str
) -> None:
    made.state.objects["mount"][point] = foreign
    (kept,) = bring_down(made.plan, made, lambda command: None)
    assert (kept.case, kept.figures["point"]) == ("other-mount", "/mnt" + point.rstrip("/"))
    (refused,) = up(made)
    assert refused.code == "not-mountable" and not made.ran
    assert [*map(refusal_text, (kept, refused))] == [refusal_text(kept)] * 2


def test_the_refusal_names_the_mount_point_and_what_is_mounted_there(made: Rescue) -> None:
    made.state.objects["mount"]["/srv"] = FOREIGN["a folder of ours"]
    (refused,) = up(made)
    found: Figures = {
        "point": "/mnt/srv",
        "source": "volume:vg/srv[/a folder]",
        "type": "xfs",
        "command": "umount /mnt/srv",
    }
    assert refused == Refusal("not-mountable", "other-mount", "filesystems.srv", 10, found)


def test_a_file_system_with_another_uuid_on_our_device_is_not_ours(made: Rescue) -> None:
    there = made.state.objects["filesystem"]
    (uuid,) = (key for key, found in there.items() if found["device"] == "volume:vg/srv")
    there["another"] = there.pop(uuid)
    (kept,) = bring_down(made.plan, made, lambda command: None)
    assert kept.case == "other-mount" and not made.ran


def test_a_subvolume_that_the_layout_names_is_ours(tmp_path: Path) -> None:
    text = LAYOUT.replace(
        "type: xfs, mount: /srv, options: [noatime]", "type: btrfs, mount: /srv, options: [subvol=@srv]"
    )
    made = as_applied(plan_of(text), tmp_path)
    made.state.objects["mount"]["/srv"]["root"] = "/@other"
    assert [each.case for each in bring_down(made.plan, made, lambda command: None)] == ["other-mount"]
    made.state.objects["mount"]["/srv"]["root"] = "/@srv"
    down(made)


def test_the_default_subvolume_of_a_btrfs_is_ours_whichever_it_is(tmp_path: Path) -> None:
    made = as_applied(plan_of(LAYOUT.replace("type: xfs, mount: /srv", "type: btrfs, mount: /srv")), tmp_path)
    made.state.objects["mount"]["/srv"]["root"] = "/@/.snapshots/1/snapshot"
    down(made)


CHROOT = """\
31 30 0:5 / /mnt/proc rw - proc proc rw
32 30 0:6 / /mnt/dev rw shared:2 - devtmpfs udev rw
33 32 0:7 / /mnt/dev/pts rw shared:3 - devpts devpts rw
34 30 0:8 / /mnt/srv/a\\040stick rw - vfat /dev/sdz1 rw
35 22 0:9 / /mnt2 rw - tmpfs t rw
36 22 0:5 / /proc rw - proc proc rw
"""


def test_what_a_chroot_left_below_the_target_is_refused_with_the_commands_that_take_it_away(
    made: Rescue,
) -> None:
    """The mounts as they are read: /mnt/proc is /proc to the system below /mnt."""
    read = mount_objects(of_system(parse_mountinfo(CHROOT, Names({})), "/mnt"), Names({}))
    made.state.objects["mount"] |= {point: dict(found) for point, found in read.items()}
    commands = {
        "/mnt/dev": "mount --make-rprivate /mnt/dev && umount --recursive /mnt/dev",
        "/mnt/proc": "umount /mnt/proc",
        "/mnt/srv/a stick": "umount '/mnt/srv/a stick'",
    }
    assert bring_down(made.plan, made, lambda command: None) == [
        refusal("not-unmountable", "mounted", place=place, command=command)
        for place, command in commands.items()
    ]
    assert not made.ran


def test_what_a_person_mounted_at_the_target_is_in_nobodys_way_where_the_layout_mounts_nothing_there(
    made: Rescue,
) -> None:
    """What is mounted inside it could not be taken down, if it had to go first."""
    plan = plan_of(LAYOUT.replace("  root: {device: vg.root, type: ext4, mount: /}\n", ""))
    made.state.objects["mount"]["/"] = FOREIGN["of another device"]
    assert not [*inside(plan, made.read(plan)), *strangers(plan, made.read(plan), "not-unmountable")]


def inactive(made: Rescue, *, lacks: bool = True) -> str:
    """The array boot as udev's incremental assembly leaves it without a member, or with one that missed the last update; its key."""
    down(made)
    if lacks:
        without(made, guards(made.plan, "boot")[1])
    step = next(step for step in made.plan.steps if step.id == "array.boot.create")
    assert step.proof
    state = {"state": "inactive", "node": "/dev/md127"}
    made.state.objects["array"][step.proof.key] = {**step.proof.expect, **state}
    return step.proof.key


@pytest.mark.parametrize("lacks", [True, False])
def test_an_array_that_udev_left_inactive_starts_read_only_where_that_is_asked(
    made: Rescue, lacks: bool
) -> None:
    key = inactive(made, lacks=lacks)
    assert up(made, Wish(read_only=True, degraded=True)) == []
    assert made.state.objects["array"][key]["state"] == "readonly"
    assert not [argv for argv in made.ran if argv[:2] == ("mdadm", "--run")]
    assert made.ran[0] == ("mdadm", "--stop", "/dev/md127")
    again = next(argv for argv in made.ran if argv[:3] == ("mdadm", "--assemble", "/dev/md/boot"))
    assert again[-2:] == ("--run", "--readonly")


def test_an_array_that_udev_left_inactive_is_run(made: Rescue) -> None:
    key = inactive(made)
    assert up(made, Wish(degraded=True)) == []
    assert made.state.objects["array"][key]["state"] == "clean"


def writable(made: Rescue) -> list[tuple[str, str]]:
    return [(each.case, each.place) for each in up(made, Wish(read_only=True))]


def test_read_only_refuses_what_is_up_and_writable_already(made: Rescue) -> None:
    down(made)
    assert up(made) == []
    made.ran.clear()
    mounts = [("writable-mount", f"filesystems.{name}") for name in ("root", "boot", "srv")]
    arrays = [("writable-array", f"arrays.{name}") for name in ("boot", "os")]
    assert sorted(writable(made)) == sorted([*mounts, *arrays]) and not made.ran
    made.state.objects["mount"]["/srv"]["options"] = ["ro", "rw"]
    assert mounts[2] in writable(made), "the mount is read-only, and the file system is not"
    down(made)
    assert writable(made) == [] and writable(made) == [], "brought up read-only, it stays so"


def test_an_array_that_waits_for_its_first_write_is_not_writable_yet(made: Rescue) -> None:
    """`start_ro` of Debian's /etc/modprobe.d/mdadm.conf."""
    down(made)
    assert up(made, Wish(read_only=True)) == []
    for state, refused in (("read-auto", False), ("active", True)):
        for array in made.state.objects["array"].values():
            array["state"] = state
        assert bool(writable(made)) == refused


def run_with(
    command: Any, made: Rescue, monkeypatch: pytest.MonkeyPatch, **words: Any
) -> tuple[int, list[str]]:
    """The exit code of the command line on a simulated machine, and what it says."""
    said: list[str] = []
    for module in (mount, refusals):
        monkeypatch.setattr(module, "talk", said.append)
    monkeypatch.setattr(mount, "plan_of", lambda arguments: made.plan)
    monkeypatch.setattr(mount, "only_one", lambda: nullcontext(-1))
    monkeypatch.setattr(mount, "World", lambda keep, target: made)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    arguments = argparse.Namespace(target="/mnt", **{"read_only": False, "degraded": False, **words})
    code = command.run(arguments)
    return code, said


def test_refused_means_that_nothing_was_done(made: Rescue, monkeypatch: pytest.MonkeyPatch) -> None:
    made.state.objects["mount"]["/srv"] = FOREIGN["in memory"]
    for command in (mount, umount):
        code, said = run_with(command, made, monkeypatch)
        assert code == REFUSED and said[0].startswith("refused: filesystems.srv") and not made.ran
    del made.state.objects["mount"]["/srv"]
    assert run_with(umount, made, monkeypatch)[0] == OK
    made.lie = {"mount --types xfs --options noatime /dev/vg/srv /mnt/srv": "failed after all"}
    code, said = run_with(mount, made, monkeypatch)
    assert code == STOPPED and said[-1].startswith("stopped: mount ")


def test_without_a_terminal_for_a_passphrase_nothing_is_assembled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = as_applied(plan_of(ENCRYPTED), tmp_path)
    down(made)
    assert not made.state.objects["array"]
    monkeypatch.setattr(passphrase, "TERMINAL", str(tmp_path / "no terminal"))
    code, said = run_with(mount, made, monkeypatch)
    assert code == REFUSED and "passphrase" in said[-1] and not made.ran


def test_a_passphrase_is_asked_for_once_and_before_the_first_command(tmp_path: Path) -> None:
    made = as_applied(plan_of(ENCRYPTED), tmp_path)
    down(made)
    asked: list[tuple[str, int]] = []

    def ask(name: str) -> bytes:
        asked.append((name, len(made.ran)))
        return SECRET

    assert up(made, ask=ask) == []
    assert asked == [("safe", 0)] and made.passphrases == {"safe": SECRET}
    assert [argv[:2] for argv in made.ran if argv[0] == "cryptsetup"] == [("cryptsetup", "open")]
    assert up(made, ask=ask) == [] and len(asked) == 1, "it is open already"
