"""The script clears what `apply` would, on real loop devices, and only after the same yes."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.devices import zero
from raidplan.facts.host import HOLD
from raidplan.plan.codec import plan_digest
from raidplan.plan.step import Plan, Zero
from raidplan.render.plan_shell import plan_shell
from tests.apply.loop_devices import LAYOUT as SMALL
from tests.apply.loop_devices import Loops, nothing_left
from tests.apply.loop_devices import decided as on_loops
from tests.apply.stacks import LAYOUT, decided, old_pair, plan_of
from tests.images import MIB, member, tool
from tests.render.scripts import FUNCTIONS, SHELLS, own_path

pytestmark = pytest.mark.in_turn(9)

CLEARING = files("raidplan.render").joinpath("clearing.sh").read_text("utf-8")
ROOT = pytest.mark.root
NO_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices")


def script(lines: str, *arguments: str, shell: str = "sh") -> subprocess.CompletedProcess[str]:
    text = f"set -eu\n{FUNCTIONS}\n{CLEARING}\n{lines}\ncomplete=yes\n"
    return subprocess.run([shell, "-c", text, "sh", *arguments], capture_output=True, text=True, timeout=120)


CONSENT = "consent pair sha256:0 {} \"$@\" <<'END'\n  ! the array 'old'\nEND\necho agreed"


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "busybox"])
def test_the_digest_is_a_yes_and_nothing_else_is(shell: str) -> None:
    yes = script(CONSENT.format("listed"), "--destroy", "sha256:0", shell=shell)
    assert (yes.returncode, yes.stdout) == (0, "agreed\n") and "  ! the array 'old'" in yes.stderr
    for arguments in ([], ["--destroy"], ["--destroy", "sha256:1"], ["--confirm", "pair"], ["pair"]):
        done = typed(CONSENT.format("listed"), None, shell, *arguments)
        assert done[0] == 4 and "agreed" not in done[1], arguments


def typed(lines: str, answer: str | None, shell: str, *arguments: str) -> tuple[int, str]:
    """Runs it in a session of its own, with a terminal that somebody types at, or without one."""
    text = f"set -eu\n{FUNCTIONS}\n{CLEARING}\n{lines}\ncomplete=yes\n"
    argv = [shell, "-c", text, "sh", *arguments]
    if answer is None:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, start_new_session=True, stdin=subprocess.DEVNULL)  # fmt: skip
        return done.returncode, done.stdout + done.stderr
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    os.write(terminal, f"{answer}\n".encode())
    said = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()


@pytest.mark.parametrize(("answer", "code"), [("pair", 0), ("", 4), ("yes", 4), ("PAIR", 4)])
def test_the_host_name_is_typed_at_the_terminal(answer: str, code: int) -> None:
    done = typed(CONSENT.format("listed"), answer, "sh")
    assert done[0] == code, done[1]
    assert ("agreed" in done[1]) == (code == 0)


def test_what_the_layout_made_is_not_given_up_by_typing() -> None:
    code, said = typed(CONSENT.format("own"), "pair", "sh")
    assert code == 4 and "confirm with --destroy sha256:0" in said


def test_the_script_asks_before_it_writes(tmp_path: Path) -> None:
    left = decided(plan_of(LAYOUT, tmp_path), old_pair()).left
    text = plan_shell(left)
    assert text.index(f"consent pair {plan_digest(left)} listed") < text.index("begun=yes")
    assert text.index("require_found /dev/md127") < text.index("consent pair")


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[Loops]:
    made = Loops(tmp_path)
    yield made
    assert made.hash(2) == made.before, "the decoy was written to"
    made.close()


@ROOT
@NO_ROOT
@pytest.mark.parametrize(
    "content", ["nothing", "gpt", "ext4", "xfs", "swap", "btrfs", "lvm", "member", "hostile"]
)
def test_both_find_the_same(loops: Loops, content: str) -> None:
    node, file = loops.nodes[0], loops.files[0]
    match content:
        case "gpt":
            tool("sfdisk", "--quiet", "--no-reread", node, stdin="label: gpt\nsize=100MiB\nsize=64MiB\n")
            loops.parts(0)
            tool("mke2fs", "-q", f"{node}p2")
        case "ext4" | "xfs" | "btrfs":
            tool(f"mkfs.{content}", "-q", node)
        case "swap":
            tool("mkswap", "-q", node)
        case "lvm":
            tool("pvcreate", "--yes", "--quiet", node)
        case "member":
            member(file, "1.0")
            member(file, "1.2")
        case "hostile":
            tool("mke2fs", "-q", "-L", "a,b\n$(id)", node)
    done = script(f"found_on {node} 0\nfor p in $(partitions_of {node}); do found_on $p \"$(cat \"$(sysfs_of $p)/partition\")\"; done")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [*map(str, zero.found_on(node))]


@ROOT
@NO_ROOT
def test_what_came_later_is_refused(loops: Loops) -> None:
    node = loops.nodes[0]
    assert script(f"require_found {node}").returncode == 0
    tool("mke2fs", "-q", node)
    (line,) = zero.found_on(node)
    assert script(f"require_found {node} '{line}' '0 0x0 xfs'").returncode == 0
    done = script(f"require_found {node} '0 0x438 ext2 another'")
    assert done.returncode == 4 and f"carries what it did not when the plan was made: {line}" in done.stderr


@pytest.fixture
def alike(tmp_path: Path) -> Iterator[list[tuple[Path, str]]]:
    """Two files of 12 MiB without a zero byte, and the loop devices over them."""
    made = []
    for name in ("one", "two"):
        file = tmp_path / name
        file.write_bytes(b"x" * 12 * MIB)
        made.append((file, tool("losetup", "--find", "--show", file).strip()))
    yield made
    for _, node in made:
        tool("losetup", "--detach", node)


@ROOT
@NO_ROOT
@pytest.mark.parametrize("ranges", [((0, MIB), (-MIB, MIB)), ((5 * MIB + 512, 4096),), ((11 * MIB, 5 * MIB),), ((-(2**40), 2**40 + MIB),)])  # fmt: skip
def test_both_clear_the_same(alike: list[tuple[Path, str]], ranges: tuple[tuple[int, int], ...]) -> None:
    (one, node), (two, other) = alike
    zero.zero(node, Zero("", ranges))
    done = script(f"zero_ranges {other} " + " ".join(f"{start}:{size}" for start, size in ranges))
    assert done.returncode == 0, done.stderr
    assert b"\0" in one.read_bytes() and one.read_bytes() == two.read_bytes()


@ROOT
@NO_ROOT
def test_what_is_mounted_is_not_cleared(loops: Loops, tmp_path: Path) -> None:
    tool("mke2fs", "-q", loops.nodes[0])
    (tmp_path / "point").mkdir()
    tool("mount", loops.nodes[0], tmp_path / "point")
    done = script(f"zero_ranges {loops.nodes[0]} 0:1048576")
    assert done.returncode == 4 and "is mounted" in done.stderr


def own_tools(folder: Path) -> str:
    """A PATH on which udevadm does nothing, since this machine's udev is none of our business."""
    (folder / "bin").mkdir()
    (folder / "bin/udevadm").write_text('#!/bin/sh\necho "$*" >>"$(dirname "$0")/asked"\n')
    (folder / "bin/udevadm").chmod(0o755)
    return f"{folder}/bin:{os.environ['PATH']}"


def teardown_only(plan: Plan) -> Plan:
    steps = [step for step in plan.steps if step.phase == "teardown" or step.id.startswith("release.")]
    known = {step.id for step in steps}
    return Plan(plan.host, "", "", plan.disks, tuple(step.among(known) for step in steps))


@ROOT
@NO_ROOT
def test_the_whole_teardown_as_a_script(loops: Loops, tmp_path: Path) -> None:
    from raidplan.apply.decision import with_devices

    if Path(HOLD).exists():
        pytest.skip(f"{HOLD} is there already")
    for number in (0, 1):
        tool("sfdisk", "--quiet", "--no-reread", loops.nodes[number], stdin="label: gpt\nsize=100MiB\n")
        loops.parts(number)
        for version in ("0.90", "1.0", "1.1", "1.2"):
            member(loops.files[number], version, start=MIB, size=100 * MIB, slot=number)
    plan = with_devices(plan_of(SMALL, tmp_path), {"d0": loops.nodes[0], "d1": loops.nodes[1]})
    only = teardown_only(on_loops(plan).left)
    file = tmp_path / "script"
    file.write_text(own_path(plan_shell(only)))

    def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", str(file), *arguments], capture_output=True, text=True, timeout=300, start_new_session=True, **more)  # fmt: skip

    environment = {"PATH": own_tools(tmp_path)}
    before = loops.hash(0)
    refused = run("--destroy", "sha256:1", env=environment)
    assert refused.returncode == 4 and "nothing was written" in refused.stderr and loops.hash(0) == before
    done = run("--destroy", plan_digest(only), env=environment)
    assert done.returncode == 0, done.stderr
    assert "a member of the array" in done.stderr and not Path(HOLD).exists()
    nothing_left(loops)


@ROOT
@NO_ROOT
def test_a_script_that_fails_ends_its_hold(tmp_path: Path) -> None:
    rule = tmp_path / "rule"
    done = script(f"PATH={own_tools(tmp_path)}\nbegun=yes\ntemporary={rule}\n: >{rule}\nfalse")
    assert done.returncode == 3 and not rule.exists()
    assert (tmp_path / "bin/asked").read_text() == "control --reload\n"
