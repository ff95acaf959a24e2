"""Rights, udev, tools, files: what is missing of them is said before the first write, not after half of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.configuration.files import write
from raidplan.apply.decision import decide
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight import configuration, running_system, surroundings
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.preflight.surroundings import (
    cannot_administer,
    changed_by_others,
    systemd_is_absent,
    udev_is_absent,
    unwritable,
)
from raidplan.apply.preflight.versions import too_old
from raidplan.apply.refusal import refusal
from raidplan.apply.world import World
from raidplan.base.figures import Figure
from raidplan.facts import Machine
from raidplan.facts.host import parse_version
from raidplan.plan.step import Plan, Proof, Run, Step, WriteBlock, WriteFile
from raidplan.render.refusals import refusal_text
from tests.apply.sentences import sentences
from tests.apply.stacks import LAYOUT, Box, plan_of
from tests.images import tool

ROOT = Path(__file__).parents[2]
root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
FIRST = "pid:[4026531836]"
"""The namespace of processes that Linux begins with."""
BLOCK = "UUID=2 /srv ext4 defaults 0 2\n"


def situation(*actions: Run | WriteBlock | WriteFile, machine: Machine | None = None) -> Situation:
    steps = tuple(
        Step(str(n), "configure", str(n), action, "x", awaits=("/dev/md/x",)) for n, action in enumerate(actions)
    )  # fmt: skip
    return Situation(Plan("h", "", "", (), steps), machine or Machine(is_root=True), {})


def test_every_check_is_made() -> None:
    mine = {running_system.root_may_administer, running_system.udev_runs, running_system.systemd_runs, running_system.tools_are_roots}  # fmt: skip
    assert mine <= set(running_system.OF_THIS_MACHINE)
    assert configuration.files_can_be_written in configuration.OF_THIS_MACHINE


@pytest.mark.parametrize(
    ("capabilities", "users", "processes", "said"),
    [
        ("000001ffffffffff", "0 0 4294967295", FIRST, []),
        ("00000000a80425fb", "0 0 4294967295", FIRST, ["no-capability", "no-trace"]),
        ("000001fffff7ffff", "0 0 4294967295", FIRST, ["no-trace"]),
        ("000001ffffffffff", "0 100000 65536", FIRST, ["user-namespace"]),
        ("000001ffffffffff", "0 0 4294967295", "pid:[4026532176]", ["process-namespace"]),
        ("000001ffffffffff", "0 0 4294967295", "", []),
    ],
)
def test_f43_root_of_a_container(
    capabilities: str, users: str, processes: str, said: list[str], tmp_path: Path
) -> None:
    """The second is what Docker gives; the last a kernel that has no namespaces of processes."""
    (tmp_path / "status").write_text(f"Name:\tx\nCapPrm:\t0\nCapEff:\t{capabilities}\nCapBnd:\t0\n")
    (tmp_path / "uid_map").write_text(f"         {users}\n")
    if processes:
        (tmp_path / "ns").mkdir()
        (tmp_path / "ns/pid").symlink_to(processes)
    assert [each.case for each in cannot_administer(tmp_path)] == said
    assert len({*sentences(cannot_administer(tmp_path))}) == len(said)


@root
def test_f43_root_without_its_capability_is_told_so() -> None:
    code = (
        "from raidplan.apply.preflight.surroundings import cannot_administer\n"
        "print(*(each.case for each in cannot_administer()))"
    )
    words = [sys.executable, "-c", code]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    for before, said in (
        ([], "" if os.readlink("/proc/self/ns/pid") == FIRST else "process-namespace"),
        (["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"], "no-trace"),
        (["unshare", "--pid", "--fork", "--mount-proc"], "process-namespace"),
        (["unshare", "--mount"], "" if os.readlink("/proc/self/ns/pid") == FIRST else "process-namespace"),
        (["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"], "no-capability"),
        (["unshare", "--user", "--map-root-user"], "user-namespace"),
    ):
        done = subprocess.run([*before, *words], env=here, capture_output=True, text=True, check=False)
        if done.returncode and before:
            continue  # not to be had here
        assert done.stdout.startswith(said) and bool(done.stdout.strip()) == bool(said), done


def test_f43_whoever_is_not_root_is_refused() -> None:
    assert [*running_system.is_root(situation(machine=Machine(is_root=False)))] == [refusal("not-root")]
    assert [*running_system.is_root(situation(machine=Machine(is_root=True)))] == []


def test_f36_without_udev_nothing_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udev_is_absent, "__defaults__", (tmp_path / "control",))
    absent = refusal("udev-absent", place=str(tmp_path / "control"))
    assert [*running_system.udev_runs(situation(Run(("true",))))] == [absent]
    (tmp_path / "control").touch()
    assert not [*running_system.udev_runs(situation(Run(("true",))))]


def test_f36_what_awaits_no_device_needs_no_udev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udev_is_absent, "__defaults__", (tmp_path / "control",))
    assert not [refusal_text(each) for each in running_system.udev_runs(situation())]


def test_without_systemd_nothing_is_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a chroot, systemctl ends with 0 and starts nothing."""
    monkeypatch.setattr(systemd_is_absent, "__defaults__", (tmp_path / "system",))
    step = replace(situation(Run(("true",))).plan.steps[0], proof=Proof("mount", "/srv", {}))
    mount = replace(situation(), plan=Plan("h", "", "", (), (step,)))
    assert [*running_system.systemd_runs(mount)] == [refusal("systemd-absent", place=f"{tmp_path}/system")]
    assert not [*running_system.systemd_runs(situation(Run(("true",))))]
    (tmp_path / "system").mkdir()
    assert not [*running_system.systemd_runs(mount)]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program in a folder of its own."""
    folder = tmp_path / "bin"
    folder.mkdir(mode=0o755)
    file = folder / "mdadm"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@root
@pytest.mark.parametrize(
    ("file", "folder", "owner", "why"),
    [
        (0o755, 0o755, 0, ()),
        (0o775, 0o755, 0, ("mdadm", "mode", "775")),
        (0o757, 0o755, 0, ("mdadm", "mode", "757")),
        (0o755, 0o777, 0, ("bin", "mode", "777")),
        (0o755, 0o755, 1000, ("mdadm", "owner", 1000)),
    ],
)
def test_f69_a_tool_that_others_may_change_is_refused(
    program: Path,
    file: int,
    folder: int,
    owner: int,
    why: tuple[Figure, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program.chmod(file)
    os.chown(program, owner, 0)
    program.parent.chmod(folder)
    link = program.parent.parent / "link"
    link.symlink_to(program)
    monkeypatch.setattr(running_system, "find_tool", lambda name: str(link))
    refused = [*running_system.tools_are_roots(situation(Run(("mdadm",))))]
    found = [(Path(each.place).name, each.case, *each.figures.values()) for each in refused]
    assert found == ([why] if why else []) and {each.code for each in refused} <= {"program-not-roots"}


@root
def test_f69_the_tools_of_this_machine_are_roots() -> None:
    assert not [*changed_by_others("/bin/sh")]


@pytest.mark.parametrize("says", ["", "unknown", "BusyBox multi-call binary"])
def test_f39_a_program_that_tells_no_version_is_another_one(says: str, tmp_path: Path) -> None:
    """A script around it, a box of many programs: what it would do with our arguments is not known."""
    plan = plan_of(LAYOUT, tmp_path)
    tools = {"mdadm": {"path": "/usr/sbin/mdadm", "version": parse_version(says)}}
    unknown = refusal("version", "unknown", place="mdadm")
    assert [*too_old(plan, Machine(objects={"tool": tools}))] == [unknown]
    tools["mdadm"]["version"] = parse_version("mdadm - v4.3 - 2024-02-15")
    assert not [*too_old(plan, Machine(objects={"tool": tools}))]


@root
def test_f39_f69_a_tool_in_path_is_not_asked(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from raidplan.facts.run import find_tool, run

    program.rename(program.parent / "echo")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert find_tool("echo") in ("/bin/echo", "/usr/bin/echo") and run(["echo", "real"]).stdout == "real\n"


@pytest.fixture
def etc(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own for /etc: 1 MiB, 16 inodes."""
    folder = tmp_path / "etc"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=16", "x", folder], check=False).returncode:  # fmt: skip
        pytest.skip("no file system can be mounted here")
    (folder / "fstab").write_text("# mine\n")
    yield folder
    subprocess.run(["umount", folder], check=True)


def full(etc: Path) -> None:
    (etc / "big").write_bytes(bytes(1000 * 1024))


def without_inodes(etc: Path) -> None:
    for number in range(12):
        (etc / f"f{number}").touch()


def read_only(etc: Path) -> None:
    tool("mount", "-o", "remount,ro", etc)


def a_folder(etc: Path) -> None:
    (etc / "fstab").unlink()
    (etc / "fstab").mkdir()


@pytest.mark.root
@root
@pytest.mark.parametrize(
    ("harm", "case"),
    [
        (None, ""),
        (full, "room"),
        (without_inodes, "inodes"),
        (read_only, "folder"),
        (a_folder, "not-regular"),
    ],
)
def test_f53_f54_an_etc_that_takes_no_file_is_known_before_the_first_write(etc: Path, harm, case: str) -> None:  # type: ignore[no-untyped-def]  # fmt: skip
    block = WriteBlock(str(etc / "fstab"), BLOCK, "pair")
    if harm:
        harm(etc)
    found = [
        (each.code, each.case, each.place) for each in configuration.files_can_be_written(situation(block))
    ]
    assert found == ([("file-not-writable", case, block.file)] if case else [])
    if not case:
        assert write(block, World())


@pytest.mark.root
@root
def test_f53_an_immutable_file_or_folder(tmp_path: Path) -> None:
    file, image = tmp_path / "etc/fstab", tmp_path / "image"
    with image.open("wb") as made:
        made.truncate(8 * 2**20)
    tool("mke2fs", "-q", "-t", "ext4", image)
    (tmp_path / "etc").mkdir()
    tool("mount", "-o", "loop", image, tmp_path / "etc")
    try:
        file.write_text("# mine\n")
        for each in (file, file.parent):
            assert not [*unwritable(str(file), 100)]
            tool("chattr", "+i", each)
            fixed = refusal("file-not-writable", "immutable", place=str(each))
            assert [*unwritable(str(file), 100)] == [fixed]
            tool("chattr", "-i", each)
    finally:
        tool("umount", tmp_path / "etc")


@pytest.mark.root
@root
def test_f53_a_file_that_is_a_mount_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "a fstab"
    file.write_text("# mine\n")
    assert not [*unwritable(str(file), 100)]
    tool("mount", "--bind", file, file)
    try:
        (found,) = unwritable(str(file), 100)
    finally:
        tool("umount", file)
    assert found == refusal("file-not-writable", "mount", place=str(file), target=str(file))


def test_f53_nothing_is_said_to_whoever_is_not_root_anyway(tmp_path: Path) -> None:
    block = WriteBlock("/proc/nothing/fstab", BLOCK, "pair")
    assert not [*configuration.files_can_be_written(situation(block, machine=Machine()))]


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"",
        b"UUID=1 / ext4 defaults 0 1",
        b"UUID=1 / ext4 defaults 0 1\r\nUUID=3 /x ext4 defaults 0 1\r\n",
        b"UUID=1 /\0 ext4\n\0",
        b"# line\n" * 10_000,
        b"\xef\xbb\xbf# with a mark\n",
    ],
    ids=["missing", "empty", "no-end", "crlf", "nul", "10000-lines", "byte-order-mark"],
)
def test_f53_every_state_of_fstab_keeps_its_bytes(before: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "etc/fstab"
    file.parent.mkdir()
    if before is not None:
        file.write_bytes(before)
    block = WriteBlock(str(file), BLOCK, "pair")
    assert not [*unwritable(str(file), 100)]
    assert write(block, World()) and not write(block, World())
    after = file.read_bytes()
    kept = before or b""
    gap = b"" if not kept or kept.endswith(b"\n") else b"\n"
    assert after == kept + gap + b"# >>> raidplan pair\n" + BLOCK.encode() + b"# <<< raidplan pair\n"
    old = file.with_name("fstab.raidplan-old")
    assert old.read_bytes() == before if before is not None else not old.exists()


def test_f53_a_linked_fstab_is_written_where_it_is(tmp_path: Path) -> None:
    """Also one that leads to nothing yet."""
    for name in ("real", "none"):
        link, target = tmp_path / f"{name}-link", tmp_path / name / "fstab"
        target.parent.mkdir()
        if name == "real":
            target.write_text("# mine\n")
        link.symlink_to(target)
        assert write(WriteBlock(str(link), BLOCK, "pair"), World())
        assert link.is_symlink() and BLOCK in target.read_text()


def test_flags_of_a_file_system_without_any() -> None:
    assert surroundings._flags(Path("/proc/self/status")) == 0


@pytest.mark.parametrize("module", ["md_mod", "raid1"])
@pytest.mark.parametrize("found", [None, {"loaded": False, "loadable": False}])
def test_f40_f42_without_its_personality_no_array_is_begun(
    module: str, found: dict[str, bool] | None, tmp_path: Path
) -> None:
    """mdadm would have overwritten the superblocks of all members before it fails."""
    plan = plan_of(LAYOUT, tmp_path)
    machine = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").machine()
    modules = {name: dict(each) for name, each in machine.objects["module"].items() if name != module}
    modules |= {module: found} if found else {}
    without = replace(machine, objects={**machine.objects, "module": modules}, kernel="6.1")
    missing = refusal("module-missing", place=module, kernel="6.1")
    assert missing in decide(plan, without, Past(), here=False).refusals
    assert not decide(plan, machine, Past(), here=False).refusals
