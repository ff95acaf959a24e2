"""`--target`: made below a folder of a rescue system, filled by an installer, finished, and left as the booted system wants it."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile

import pytest

from raidplan.apply.adopt import look
from raidplan.apply.change.remove_configuration import removals
from raidplan.apply.configuration.files import write
from raidplan.apply.decision import Decision, decide
from raidplan.apply.execute import Outcome, execute
from raidplan.apply.journal.hand_over import hand_over
from raidplan.apply.journal.journal import Journal, open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight import configuration as checks
from raidplan.apply.preflight.mounted import in_memory
from raidplan.apply.preflight.preflight import preflight
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.world import World
from raidplan.cli import OK, STOPPED
from raidplan.cli import apply as apply_command
from raidplan.cli.output import Unable
from raidplan.cli.progress import _data
from raidplan.cli.state import state_folder
from raidplan.cli.target import missing, packages_for, target_of, waiting
from raidplan.facts import Machine
from raidplan.facts.host import read_key_files
from raidplan.facts.machine import Properties
from raidplan.facts.run import Result
from raidplan.facts.uses import NotWritten
from raidplan.plan.boot_loaders import AFTER_INITRAMFS, DPKG, EFI_IMAGES, HOOK, SHIM
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.places import STATE
from raidplan.plan.step import Plan, Proof, Run, Step, WriteFile
from raidplan.render.plan_shell import plan_shell
from raidplan.review import pipeline
from tests.absent import needs_root
from tests.apply.left import Kills
from tests.apply.runs import apply, end, gone_on, impatient, install, machine
from tests.apply.silent import Silent
from tests.apply.simulated import Simulated, State
from tests.apply.undone import killed_before, undone_on
from tests.apply.uses import uses_of
from tests.initramfs import boot

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: fresh
hardware:
  firmware: bios
  disks:
    a<0-1>:
      size: 4GiB
      serial: FRESH-<1>
      partitions: {bios: {size: 1MiB, type: bios-boot}, boot: {size: 500MiB}, root: {size: 2GiB}, swap: {size: rest}}
boot: {loader: grub}
arrays:
  boot: {level: raid1, members: [a<0-1>.boot], initial_sync: freeze-until-reboot}
  root: {level: raid1, members: [a<0-1>.root], initial_sync: freeze-until-reboot}
  swap: {level: raid1, members: [a<0-1>.swap], initial_sync: freeze-until-reboot}
filesystems:
  boot: {device: boot, type: ext4, mount: /boot}
  root: {device: root, type: ext4, mount: /}
swap: {swap: {device: swap}}
monitoring: {scrub: monthly}
"""
BY_UEFI = (
    LAYOUT.replace("firmware: bios", "firmware: uefi")
    .replace("bios: {size: 1MiB, type: bios-boot}", "esp: {size: 100MiB, type: esp}")
    .replace("boot: {loader: grub}", "boot: {loader: grub, esp: [a<0-1>.esp]}")
    .replace(
        "filesystems:\n",
        "filesystems:\n  efi: {device: a0.esp, type: vfat, mount: /boot/efi}\n  efi2: {device: a1.esp, type: vfat, mount: /boot/efi2}\n",
    )
)
ENCRYPTED = LAYOUT.replace("device: root,", "device: vg0.root,").replace(
    "filesystems:\n",
    "encryption: {crypt: {device: root, key: ask}}\nvolume_groups: {vg0: {devices: [crypt], volumes: {root: {size: 100%free}}}}\nfilesystems:\n",
)
"""The root file system on a volume of an encrypted array."""
TARGET = "/mnt"
BY_SYSTEMD = BY_UEFI.replace("loader: grub", "loader: systemd-boot")
INSTALLED = {"boot.grub.a0", "boot.grub.a1", "boot.menu", "boot.grub-pc"}
"""The steps that need GRUB in the system."""


@cache
def plan(target: str = TARGET, text: str = LAYOUT) -> Plan:
    with NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        made, loaded = pipeline.plan(pipeline.check(file.name), target)
    assert made is not None, loaded.findings
    return made


def rescue(tmp_path: Path) -> tuple[Path, State]:
    """A rescue system on a machine with blank disks, and its files by their bytes."""
    state = machine(tmp_path)
    (tmp_path / "mnt").mkdir()
    return tmp_path, state


def own_files(root: Path) -> dict[str, bytes]:
    """The files of the rescue system itself, but for the journal."""
    files = (file for file in root.rglob("*") if file.is_file())
    return {
        str(name): file.read_bytes()
        for file in files
        if (name := file.relative_to(root)).parts[0] != "mnt" and not str(name).startswith(STATE.lstrip("/"))
    }


def decided(root: Path, state: State, target: str = TARGET) -> Decision:
    world = Simulated(plan(target), root, state)
    return decide(world.plan, world.read(world.plan), read_past(root / "var/lib/raidplan"), here=False)


def test_the_root_is_mounted_first_and_files_are_written_last() -> None:
    ids = [step.id for step in plan().steps]
    mounts = [ids.index(f"filesystem.{name}.mount") for name in ("root", "boot")]
    assert mounts == sorted(mounts) and mounts[0] > ids.index("filesystem.root.make")
    assert all(ids.index(step.id) > mounts[1] for step in plan().steps if step.phase == "configure")
    assert ids.index("filesystem.boot.mountpoint") > mounts[0], "it lies on the root file system"


def test_nothing_of_it_acts_on_the_rescue_system() -> None:
    commands = [step.action.argv for step in plan().steps if isinstance(step.action, Run)]
    assert not [argv for argv in commands if argv[0] == "swapon"]
    assert {argv[1] for argv in commands if argv[0] == "systemctl"} == {"--root=/mnt"}
    assert not [argv for argv in commands if argv[0] == "udevadm"]
    assert {argv[-1] for argv in commands if argv[0] in ("mount", "mkdir")} == {"/mnt", "/mnt/boot"}


def test_the_plan_says_its_target_in_a_file_as_well() -> None:
    assert plan_from_json(plan_to_json(plan())) == plan()
    assert '"target"' not in plan_to_json(plan(""))


def test_from_blank_disks_to_the_booted_system(tmp_path: Path) -> None:
    root, state = rescue(tmp_path)
    before = own_files(root)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    assert not [path for path in (root / "mnt").rglob("*") if path.is_file()], (
        "an installer finds folders only"
    )
    assert apply(plan(), Simulated(plan(), root, state)) == "nothing to do"
    assert {step.id for step in decided(root, state).postponed} >= {"config.fstab", "config.initramfs"}

    install(root)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    assert " / ext4 " in (root / "mnt/etc/fstab").read_text()
    assert "ARRAY /dev/md/root " in (root / "mnt/etc/mdadm/mdadm.conf").read_text()
    assert not decided(root, state).postponed
    told = _data(apply_command._with_waiting(Outcome(), decided(root, state)))
    assert (told["complete"], told["waiting"], told["missing"]) == (True, [], [])
    assert apply(plan(), Simulated(plan(), root, state)) == "nothing to do"
    assert own_files(root) == before

    state.objects["swap"] = {key: {**found, "active": True} for key, found in state.objects["swap"].items()}
    hand_over(root / "var/lib/raidplan", root / "mnt/var/lib/raidplan", Simulated(plan(), root, state))
    assert apply(plan(""), Simulated(plan(""), root / "mnt", state)) == "nothing to do", "as it was booted"


def test_a_system_that_was_out_of_sight_before_its_mounts_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after another boot of the rescue system."""
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    install(root)
    installed = root / "mnt"
    installed.rename(root / "disk")
    (root / "mnt").mkdir()
    state.objects["mount"].clear()
    before = decided(root, state)
    assert {step.id for step in before.left.steps} >= {"filesystem.root.mount"}
    assert apply_command.missing(before) == ("system",)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    (root / "mnt/boot").rmdir()
    (root / "mnt").rmdir()
    (root / "disk").rename(root / "mnt")
    world = Simulated(plan(), root, state)
    monkeypatch.setattr(apply_command, "decide", partial(decide, here=False))
    after = apply_command._decide_again(before, Journal(root / "var/lib/raidplan", world))
    assert {step.id for step in after.postponed} >= {"config.fstab", "config.initramfs"}
    assert apply_command.missing(after) == () and apply_command.is_installed(after)
    (words,) = apply_command.waiting(after)
    assert "/mnt" in words and "mmdebstrap" not in words
    assert apply_command._hand_over(after, root / "none", world) == STOPPED


def test_a_journal_in_a_folder_of_its_own_is_handed_over_without_what_else_lies_there(tmp_path: Path) -> None:
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    install(root)
    world = Simulated(plan(), root, state)
    assert apply(plan(), world) == "done"
    usb = tmp_path / "usb"
    (root / "var/lib/raidplan").rename(usb)
    (usb / "holiday.jpg").write_bytes(b"photo")
    (usb / "headers").mkdir()
    (usb / "headers/crypt").write_bytes(b"header")
    assert apply_command._hand_over(decided(root, state), usb, world) == OK
    below = world.path(STATE) / "fresh"
    assert {str(file.relative_to(below)) for file in below.rglob("*")} >= {
        "journal",
        "headers",
        "headers/crypt",
    }
    assert not (below / "holiday.jpg").exists() and (usb / "journal").exists()
    assert (usb / "handed-over").exists()

    # As after another boot of the rescue system, in which the target was not mounted when the journal was looked for.
    (below / "journal").write_text("of the server since\n")
    assert apply_command._hand_over(decided(root, state), usb, world) == OK
    assert (below / "journal").read_text() == "of the server since\n"
    assert [folder.name for folder in below.parent.iterdir()] == ["fresh"]
    assert apply_command._hand_over(decided(root, state), below / ".." / "fresh", world) == OK
    assert not (below / "handed-over").exists()


def test_a_journal_that_finds_no_room_below_the_target_stays_and_is_no_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    install(root)
    (root / "var/lib/raidplan").rename(tmp_path / "usb")

    class Full(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            if kind == "write":
                raise OSError(28, "No space left on device")
            return super().effect(kind, what, act)

    assert apply_command._hand_over(decided(root, state), tmp_path / "usb", Full(plan(), root, state)) == STOPPED  # fmt: skip
    assert "No space left on device; run `raidplan apply` again" in capsys.readouterr().err
    assert (tmp_path / "usb/journal").exists() and not (tmp_path / "usb/handed-over").exists()


def test_of_a_server_that_somebody_else_made_there_is_no_journal_to_hand_over(tmp_path: Path) -> None:
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    install(root)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    nowhere = Path(STATE) / "made-by-a-script"
    assert not nowhere.exists()
    assert apply_command._hand_over(decided(root, state), nowhere, Simulated(plan(), root, state)) == OK


def test_a_system_without_a_kernel_gets_all_but_the_initramfs(tmp_path: Path) -> None:
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    (root / "mnt/etc").mkdir()
    (root / "mnt/etc/os-release").touch()
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    assert (root / "mnt/etc/fstab").exists()
    without_kernel = decided(root, state)
    assert {step.id for step in without_kernel.postponed} == {"config.initramfs", *INSTALLED}
    assert any("has no kernel" in words for words in waiting(without_kernel))
    assert missing(without_kernel) == ("kernel",)
    (root / "mnt/boot/initramfs-6.1.img").touch()
    assert missing(decided(root, state)) == ("initramfs-tools",)
    (root / "mnt/boot/initramfs-6.1.img").unlink()
    told = json.loads(json.dumps(_data(apply_command._with_waiting(Outcome(), without_kernel))))
    assert (told["complete"], told["missing"]) == (False, ["kernel"])
    assert set(told["waiting"]) == {"config.initramfs", *INSTALLED}
    assert "steps are done" in apply_command._matches(without_kernel, "matches")

    boot(root / "mnt", "6.1")
    without_loader = decided(root, state)
    assert {step.id for step in without_loader.postponed} == INSTALLED
    assert any("debconf and grub2-common" in words for words in waiting(without_loader))
    assert missing(without_loader) == ("debconf", "grub2-common")


def test_systemd_boot_waits_for_its_package_and_stands_then(tmp_path: Path) -> None:
    made = plan(text=BY_SYSTEMD)
    root, state = rescue(tmp_path)
    assert apply(made, Simulated(made, root, state)) == "done"
    install(root)
    image = root / f"mnt{EFI_IMAGES['systemd-boot'].plain}"
    image.unlink()
    assert apply(made, Simulated(made, root, state)) == "done"
    world = Simulated(made, root, state)
    waits = decide(made, world.read(made), read_past(root / "var/lib/raidplan"), here=False)
    names = {step.id for step in waits.postponed}
    assert names >= {"boot.systemd-boot.a0.esp", "boot.systemd-boot.a1.esp"}
    assert any("systemd-boot-efi" in words for words in waiting(waits))
    image.touch()
    assert apply(made, Simulated(made, root, state)) == "done"
    assert apply(made, Simulated(made, root, state)) == "nothing to do"
    assert (root / f"mnt{HOOK}").stat().st_mode & 0o111 and (root / f"mnt{AFTER_INITRAMFS}").exists()


def test_systemd_boot_without_its_package_on_the_running_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = replace(EFI_IMAGES["systemd-boot"], plain=str(tmp_path / "systemd-bootx64.efi"))
    monkeypatch.setitem(EFI_IMAGES, "systemd-boot", image)

    def codes(made: Plan) -> list[tuple[str, str]]:
        found = checks.firmware_starts_it(Situation(made, Machine(()), {}, made))
        return [(refusal.code, refusal.place) for refusal in found]

    assert codes(plan("", BY_SYSTEMD)) == [("program-missing", image.plain)]
    assert codes(plan("", BY_UEFI)) == codes(plan(text=BY_SYSTEMD)) == []
    Path(image.plain).touch()
    assert codes(plan("", BY_SYSTEMD)) == []


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("text", "filled"),
    [
        pytest.param(LAYOUT, False, id="empty"),
        pytest.param(LAYOUT, True, id="filled"),
        pytest.param(BY_UEFI, False, id="empty-uefi", marks=pytest.mark.long),
        pytest.param(BY_UEFI, True, id="filled-uefi"),
        pytest.param(BY_SYSTEMD, True, id="filled-systemd-boot", marks=pytest.mark.long),
        pytest.param(ENCRYPTED, False, id="empty-encrypted-lvm", marks=pytest.mark.long),
        pytest.param(ENCRYPTED, True, id="filled-encrypted-lvm", marks=pytest.mark.long),
    ],
)
def test_killed_at_every_effect_and_gone_on(
    text: str,
    filled: bool,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    dice: Random | None,
) -> None:
    """The same end, and no file of the rescue system is another one."""
    root, state = rescue(tmp_path / "once")
    wanted_plan = plan(text=text)
    if filled:
        assert apply(wanted_plan, Simulated(wanted_plan, root, state)) == "done"
        install(root)
    once = Simulated(wanted_plan, root, state)
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(wanted_plan, once) == "done"
    wanted, own = end(once), own_files(root)
    assert kills.points > (50 if filled else 100)
    for point, left in kills.machines():
        assert end(gone_on(wanted_plan, left, point)) == wanted, point
        assert own_files(left.root) == own, point
    record_property("counted: kills below a target", len(kills.left) if dice else kills.points)


def situation(target: Path, mounts: dict[str, Properties], steps: tuple[Step, ...]) -> Situation:
    return Situation(Plan("fresh", "", "", (), steps, target=str(target)), Machine((), {"mount": mounts}), {})


def mount(point: str) -> Step:
    proof = Proof("mount", point, {"source": "array:1"})
    return Step(
        "filesystem.x.mount", "activate", "mount x", Run(("mount", "x")), "x", targets=(point,), proof=proof
    )


def test_files_are_written_below_a_folder_where_something_is_mounted(tmp_path: Path) -> None:
    """Else they would be the rescue system's own."""

    def codes(*given: object) -> list[str]:
        found = preflight(situation(*given))  # type: ignore[arg-type]
        return [refusal.code for refusal in found if refusal.code == "target-not-mounted"]

    assert codes(tmp_path, {}, (mount("/srv"),)) == ["target-not-mounted"]
    assert codes(tmp_path, {"/": {"source": "array:1"}}, (mount("/srv"),)) == []
    assert codes(tmp_path, {}, (mount("/"),)) == []
    assert codes(tmp_path / "none", {}, (mount("/"),)) == ["target-not-mounted"]
    assert not [
        *checks.target_is_mounted(replace(situation(tmp_path, {}, ()), plan=Plan("fresh", "", "", (), ())))
    ]


def test_a_journal_that_the_rescue_system_keeps_is_noted() -> None:
    (said,) = in_memory(Path("/var/lib/raidplan/fresh"), Machine(()), "/mnt")
    assert (said.code, said.figures) == ("journal-below-rescue", {"target": "/mnt"})
    assert not [*in_memory(Path("/mnt/var/lib/raidplan/fresh"), Machine(()), "/mnt")]


def test_a_folder_with_files_is_no_target(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    (refusal,) = checks.mount_points_empty(situation(tmp_path, {}, (mount("/"),)))
    assert (refusal.code, refusal.place) == ("mount-point", f"{tmp_path}")
    assert not [*checks.mount_points_empty(situation(tmp_path, {"/": {"source": "array:1"}}, (mount("/"),)))]


def test_without_a_target_another_root_is_refused_and_the_option_named(tmp_path: Path) -> None:
    root, state = rescue(tmp_path)
    state.objects["mount"] = {"/": {"source": "overlay", "type": "overlay", "flags": ["relatime"]}}
    found = decided(root, state, "").refusals
    assert ("differs", "root-elsewhere") in {(each.code, each.case) for each in found}
    assert "umount" not in apply(plan(""), Simulated(plan(""), root, state))


@pytest.mark.parametrize("target", ["mnt", "/", "/proc/x", "/mnt/", "//mnt", "/mnt/../mnt"])
def test_the_target_in_a_plan_that_is_read_is_held_to_the_same_rules(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read from a disk: nothing but the plan is there."""
    file = tmp_path / "plan.json"
    file.write_text(plan_to_json(replace(plan(), target=target)))
    monkeypatch.setattr(apply_command, "World", None)
    arguments = argparse.Namespace(layout=str(file), target=None, devices=None)
    with pytest.raises(Unable, match=f"^--target {re.escape(target)} "):
        apply_command.run(arguments)
    file.write_text(plan_to_json(plan()))
    assert apply_command.plan_of(arguments) == plan()


def test_a_target_that_is_called_as_a_mount_point_of_the_machine() -> None:
    assert World(target="/srv").path("/srv") == Path("/srv/srv")
    assert World(target="/boot").path("/boot/initrd.img") == Path("/boot/boot/initrd.img")
    assert World(target="/mnt").path("/mnt/data") == Path("/mnt/mnt/data")
    assert World(target="/run").path("/run/udev") == Path("/run/udev")
    shell = plan_shell(plan("/boot"))
    assert "/boot/etc/fstab" in shell and "renew_initramfs /boot/boot " in shell


@pytest.mark.parametrize("named", ["", "mnt", "/", "/proc/x", "/run/x", "/link"])
def test_what_is_no_folder_of_a_rescue_system(named: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(Unable, match="--target"):
        target_of(str(tmp_path / "link") if named == "/link" else named)
    assert target_of(f"/{tmp_path}/") == target_of(f"{tmp_path}/") == str(tmp_path) and target_of(None) == ""


@pytest.mark.parametrize(
    ("firmware", "text", "planned"),
    [
        ("uefi", LAYOUT, "bios"),
        ("bios", BY_UEFI, "uefi"),
        ("bios", LAYOUT, ""),
        ("uefi", BY_UEFI, ""),
        ("bios", BY_SYSTEMD, "uefi"),
        ("", LAYOUT, ""),
        ("uefi", LAYOUT.replace("boot: {loader: grub}\n", ""), ""),
    ],
)
def test_a_loader_that_this_firmware_would_not_start_is_refused(
    firmware: str, text: str, planned: str, tmp_path: Path
) -> None:
    steps = plan(text=text).steps
    whole = Plan("fresh", "", "", (), steps, target=str(tmp_path))
    before = Situation(replace(whole, steps=steps[:1]), Machine((), {}, firmware=firmware), {}, whole)
    found = [*checks.firmware_starts_it(before)]
    assert [(refusal.code, dict(refusal.figures)) for refusal in found] == (
        [("firmware-differs", {"planned": planned, "found": firmware})] if planned else []
    )


def test_with_secure_boot_a_system_without_a_signed_loader_is_refused(tmp_path: Path) -> None:
    def lacking(*, on: bool = True, installed: bool = True, text: str = BY_UEFI) -> list[object]:
        objects = {
            "firmware": {"uefi": {"secure_boot": on}},
            "system": {"target": {"installed": installed}},
        }
        whole = Plan("fresh", "", "", (), plan(text=text).steps, target=str(tmp_path))
        found = [*checks.firmware_starts_it(Situation(whole, Machine((), objects), {}, whole))]
        assert {refusal.code for refusal in found} <= {"loader-unsigned"}
        return [refusal.figures["missing"] for refusal in found]

    assert lacking() == [("grub-efi-amd64-signed", "shim-signed")]
    assert lacking(on=False) == lacking(installed=False) == lacking(text=LAYOUT) == []
    assert lacking(text=BY_SYSTEMD) == [("systemd-boot-efi-amd64-signed", "shim-signed")]
    for number, file in enumerate((SHIM, EFI_IMAGES["grub"].signed), 1):
        (tmp_path / file.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file.lstrip("/")).touch()
        assert [len(missing) for missing in lacking()] == [2 - number] * (number < 2)


@pytest.mark.parametrize(
    ("xfsprogs", "system", "here", "case"),
    [
        ("6.13.0", "", "", "unknown"),
        ("6.13.0", "", "2.06", ""),
        ("6.13.0", "", "2.12", None),
        ("6.13.0", "2.12", "2.06", None),
        ("7.2.0", "2.12", "2.14", ""),
        ("7.2.0", "2.14", "2.12", None),
        ("6.1.0", "", "", None),
    ],
)
def test_what_grub_could_not_read_is_refused_before_it_is_made(
    xfsprogs: str, system: str, here: str, case: str | None
) -> None:
    tools = {"mkfs.xfs": {"path": "/sbin/mkfs.xfs", "version": xfsprogs}}
    if here:
        tools["grub-install"] = {"path": "/sbin/grub-install", "version": here}
    machine = Machine((), {"tool": tools, "system": {"target": {"grub": system}}}, kernel="6.1")
    on_xfs = LAYOUT.replace("device: boot, type: ext4", "device: boot, type: xfs")
    for text, wanted in (
        (on_xfs, case),
        (LAYOUT, None),
        (on_xfs.replace("boot: {loader: grub}\n", ""), None),
    ):
        made = plan(text=text)
        found = [*checks.firmware_starts_it(Situation(made, machine, {}, made))]
        assert [(each.code, each.case) for each in found] == [("loader-cannot-read", wanted)] * (
            wanted is not None
        )
    others = LAYOUT.replace("device: root, type: ext4", "device: root, type: xfs")
    made = plan(text=others)
    assert not [*checks.firmware_starts_it(Situation(made, machine, {}, made))], "GRUB reads /boot alone"


@pytest.mark.parametrize(
    ("text", "there", "removed"),
    [
        ("boot: {loader: grub}\n", True, False),
        ("", True, True),
        ("", False, False),
    ],
)
def test_without_a_loader_in_the_layout_the_script_for_dpkg_is_removed(
    text: str, there: bool, removed: bool
) -> None:
    """One with another first line is somebody else's."""
    written = {
        step.action.file: step.action.content for step in plan().steps if isinstance(step.action, WriteFile)
    }
    ours = {file: written[file] for file in (HOOK, DPKG)}
    files = {file: {"content": content if there else f"# mine\n{content}"} for file, content in ours.items()}
    without = plan(text=LAYOUT.replace("boot: {loader: grub}\n", text))
    back = [
        step
        for step in removals(without, Machine((), {"file": files}), Past())
        if step.action in (WriteFile(HOOK, ""), WriteFile(DPKG, ""))
    ]
    assert [step.action for step in back] == ([WriteFile(DPKG, ""), WriteFile(HOOK, "")] if removed else [])


def test_no_file_is_written_through_a_link_that_leads_out_of_the_target(tmp_path: Path) -> None:
    own, target = tmp_path / "own", tmp_path / "target"
    own.mkdir()
    (target / "usr/etc").mkdir(parents=True)
    (target / "usr/etc/fstab").write_text("inside\n")
    (target / "etc").symlink_to("usr/etc")
    write_fstab = replace(mount("/srv"), action=WriteFile("/etc/fstab", "ours\n"))

    def refused() -> list[object]:
        found = [*checks.files_can_be_written(situation(target, {}, (write_fstab,)))]
        return [dict(each.figures)["target"] for each in found if each.case == "out-of-target"]

    assert refused() == []
    assert write(WriteFile("/etc/fstab", "ours\n"), World(target=str(target)))
    assert (target / "usr/etc/fstab").read_text() == "ours\n"
    (target / "usr/etc/fstab").unlink()
    (target / "usr/etc/fstab").symlink_to(own / "fstab")
    assert refused() == [str(own / "fstab")]
    with pytest.raises(NotWritten, match=r"^leads-out "):
        write(WriteFile("/etc/fstab", "ours\n"), World(target=str(target)))
    (target / "etc").unlink()
    (target / "etc").symlink_to(own)
    (target / "var").symlink_to(own)
    assert refused() == [str(own / "fstab"), str(own / "lib/raidplan")]
    with pytest.raises(NotWritten, match=r"^leads-out "):
        hand_over(own, target / "var/lib/raidplan/h", World(target=str(target)))
    assert not [*own.iterdir()]


@needs_root
def test_no_key_is_copied_through_a_link_that_leads_out_of_the_target(tmp_path: Path) -> None:
    """As in a restored backup, whose /etc/keys is an absolute link: the key lay in the rescue system, and was taken for proof."""
    own, target = tmp_path / "own", tmp_path / "target"
    (own / "keys").mkdir(parents=True)
    (own / "keys/k").write_bytes(b"key")
    (own / "keys/k").chmod(0o400)
    (target / "etc").mkdir(parents=True)
    (target / "etc/keys").symlink_to(own / "keys")
    run = Run(("install", "-D", "/etc/keys/k", f"{target}/etc/keys/k"))
    copies = replace(mount("/srv"), action=run, proof=Proof("key_file", "/etc/keys/k", {"secret": True}))
    assert read_key_files(target, ["/etc/keys/k"], tmp_path) == {}
    (refused,) = checks.files_can_be_written(situation(target, {}, (copies,)))
    assert (refused.code, refused.case) == ("file-not-writable", "out-of-target")
    assert dict(refused.figures)["target"] == str(own / "keys/k")
    made = replace(copies, action=Run(("true",)), needs=(), guard=(), awaits=())
    one = Plan("h", "", "", (), (made,), target=str(target))
    outcome = execute(one, {}, lambda event: None, Silent(), World(target=str(target)))
    assert {each.kind for each in uses_of(outcome)[made.id]} == {"leads-out"}
    (target / "etc/keys").unlink()
    (target / "srv").mkdir()
    (target / "etc/keys").symlink_to("../srv")
    (target / "srv/k").write_bytes(b"key")
    (target / "srv/k").chmod(0o400)
    assert read_key_files(target, ["/etc/keys/k"], tmp_path) == {"/etc/keys/k": {"secret": True}}
    assert not [*checks.files_can_be_written(situation(target, {}, (copies,)))]


def test_a_journal_that_came_with_a_backup_is_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rescue system's own counts until it is handed over, and the one that was there is kept."""
    own, target = tmp_path / "own", tmp_path / "target"
    monkeypatch.setattr("raidplan.cli.state.STATE", str(own))
    monkeypatch.setattr("os.path.ismount", lambda path: True)
    below = Path(f"{target}{own}") / "h"
    for folder, text in ((own / "h", "new"), (below, "old")):
        folder.mkdir(parents=True)
        (folder / "journal").write_text(text)
    assert state_folder(None, "h", str(target)) == own / "h"
    for number in (1, 2):
        kept = hand_over(own / "h", below, World(target=str(target)))
        assert kept and (kept.name, (below / "journal").read_text()) == (f"h.before-{number}", "new")
        assert state_folder(None, "h", str(target)) == below
    assert (below.with_name("h.before-1") / "journal").read_text() == "old"
    assert not (below / "handed-over").exists() and (own / "h/handed-over").exists()


@needs_root
def test_another_key_below_the_target_is_not_taken_for_the_copy_nor_written_over(tmp_path: Path) -> None:
    own, target = tmp_path / "own", tmp_path / "target"
    for folder, key in ((own, b"new"), (target, b"old")):
        folder.mkdir()
        (folder / "key").write_bytes(key)
        (folder / "key").chmod(0o400)
    found = {"key_file": read_key_files(target, ["/key"], own)}
    assert found["key_file"]["/key"] == {"secret": False, "other": True}
    copies = replace(mount("/srv"), proof=Proof("key_file", "/key", {"secret": True}))
    asked = Situation(Plan("h", "", "", (), (copies,), target=str(target)), Machine((), found), {})
    (refused,) = checks.keys_are_secret(asked)
    assert (refused.code, refused.case, refused.place) == ("key-file", "other", f"{target}/key")
    (target / "key").chmod(0o600)
    (target / "key").write_bytes(b"new")
    assert (
        read_key_files(target, ["/key"], own)
        == read_key_files(target, ["/key"])
        == {"/key": {"secret": True}}
    )


@pytest.mark.parametrize(
    ("example", "wanted"),
    [
        ("root-raid1-bios", {"mdadm", "grub-pc", "grub2-common", "debconf"}),
        ("root-raid1-uefi", {"mdadm", "grub-efi-amd64", "grub2-common", "efibootmgr"}),
        ("root-raid6-lvm", {"mdadm", "grub-pc", "grub2-common", "debconf", "lvm2"}),
        ("encrypted-root", {"mdadm", "grub-pc", "grub2-common", "debconf", "cryptsetup-initramfs"}),
    ],
)
def test_the_first_run_names_the_packages_of_the_system(example: str, wanted: set[str]) -> None:
    made, _ = pipeline.plan(pipeline.check(f"examples/{example}.yaml"), "/mnt")
    assert made is not None
    named = set(packages_for([step for step in made.steps if step.phase == "configure"]))
    assert named == wanted | {"linux-image-amd64", "systemd-sysv"}
    if example == "root-raid1-uefi":  # GRUB's own package has the common one with it
        (line,) = [each for each in Path("README.md").read_text().splitlines() if "mmdebstrap" in each]
        included = line.partition("--include=")[2].partition(" ")[0].split(",")
        assert named - {"grub2-common"} == set(included)


def test_adopted_below_a_target_where_the_journal_was_lost(tmp_path: Path) -> None:
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    (root / "var/lib/raidplan/journal").unlink()
    world, before = Simulated(plan(), root, state), own_files(root)
    journal = open_journal(root / "var/lib/raidplan", world)
    named = world.read(plan()).named({f"/dev/{disk.name}": disk.name for disk in plan().disks})
    found = [*look(plan(), named, journal.past, lambda argv: Result(tuple(argv), 0, "", ""))]
    assert {each.step.proof.kind for each in found if each.step.proof} >= {"array", "filesystem", "swap"}
    for each in found:
        assert not each.reasons
        journal.record_adoption(each.step.id, each.made)
    assert apply(plan(), Simulated(plan(), root, state)) == "nothing to do"
    install(root)
    assert apply(plan(), Simulated(plan(), root, state)) == "done" and own_files(root) == before


@pytest.mark.parametrize(("point", "timer"), [("mkinitramfs", "disabled"), ("/mnt/etc/fstab", "enabled")])
def test_undone_below_a_target(point: str, timer: str, tmp_path: Path) -> None:
    """The second run was killed: the target's files are as the installer left them, and those of the rescue system too."""
    root, state = rescue(tmp_path)
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    install(root)

    def files() -> dict[str, bytes]:
        etc = [file for file in (root / "mnt/etc").rglob("*") if file.is_file()]
        return {
            str(file): file.read_bytes() for file in etc if not file.name.endswith((".raidplan-old", "-new"))
        }

    before, own = files(), own_files(root)
    killed_before(plan(), root, state, lambda kind, what: point in what)
    world = Simulated(plan(), root, state)
    assert files() != before and world.unit("mdcheck_start.timer") == timer
    assert undone_on(world) == OK
    assert files() == before and own_files(root) == own and world.unit("mdcheck_start.timer") == "disabled"
    assert "systemctl --root=/mnt disable mdcheck_start.timer" in world.executed or timer == "disabled"
    assert apply(plan(), Simulated(plan(), root, state)) == "done"
    assert " / ext4 " in (root / "mnt/etc/fstab").read_text()
