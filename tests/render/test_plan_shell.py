"""The exported script does what the plan says, in its order, and no text of a user is ever run."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.loss import said_before
from raidplan.plan.step import (
    Action,
    Plan,
    RenewInitramfs,
    Run,
    SetAttribute,
    Step,
    WriteBlock,
    WriteFile,
    Zero,
)
from raidplan.render.plan_shell import plan_shell, refusal_shell
from raidplan.render.shell_steps import stdin_of
from tests.render.planned import EXAMPLE, HOSTILE, of_layout
from tests.render.scripts import SHELLS, Bench, own_path


def step(action: Action, say: str = "do it", **more: Any) -> Step:
    return replace(Step("a", "prepare", say, action, "arrays", 1), **more)


def plan(*steps: Step, disks: tuple[DiskIdentity, ...] = ()) -> Plan:
    return Plan("jbod", "sha256:0", "", disks, steps)


@pytest.mark.parametrize("shell", SHELLS)
def test_hostile_words_reach_the_tools_as_they_are(tmp_path: Path, shell: str) -> None:
    bench = Bench(tmp_path, ["mke2fs"])
    script = plan_shell(plan(*(step(Run(("mke2fs", "-L", word, "/dev/x")), say=word) for word in HOSTILE)))
    result = bench.run(own_path(script), shell)
    assert result.returncode == 0, result.stderr
    assert bench.calls == [("mke2fs", "-L", word, "/dev/x") for word in HOSTILE]
    assert not list(Path.cwd().glob("BAD")) and not list(tmp_path.glob("BAD"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30))
def test_any_text_is_inert(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    bench = Bench(tmp_path_factory.mktemp("text"), ["tool"])
    file = bench.folder / "file"
    script = plan_shell(
        plan(
            step(Run(("tool", text), stdin=text + "\n"), say=text, destroys=(said_before(text),)),
            step(WriteFile(str(file), text + "\n"), say=text),
        )
    )
    result = bench.run(own_path(script))
    assert result.returncode == 0, result.stderr
    assert bench.calls == [("tool", text)]
    assert bench.stdin("tool") == text + "\n" == file.read_bytes().decode()


@pytest.mark.parametrize("shell", SHELLS)
def test_no_byte_is_lost_where_a_line_begins_as_the_mark_does(tmp_path: Path, shell: str) -> None:
    content = "Eé\nENé\nEND\naé\n"
    bench = Bench(tmp_path, ["tool"])
    bench.run(own_path(plan_shell(plan(step(Run(("tool",), stdin=content), say="x")))), shell)
    assert bench.stdin("tool") == content


def test_paths_and_marks_are_inert(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    for number, word in enumerate(w for w in HOSTILE if w):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = folder / word.replace("/", "_")
        attribute = folder / "attribute"
        attribute.touch()
        result = bench.run(
            own_path(
                plan_shell(
                    plan(
                        step(WriteFile(str(file), "x\n")),
                        step(WriteBlock(str(folder / "block"), f"{word}\n", "jbod")),
                        step(SetAttribute(str(attribute), word)),
                    )
                )
            )
        )
        assert result.returncode == 0, result.stderr
        assert file.read_text() == "x\n" and attribute.read_text() == word + "\n"
        assert (folder / "block").read_text() == f"# >>> raidplan jbod\n{word}\n# <<< raidplan jbod\n"


def test_the_mark_of_a_here_document_is_not_in_it() -> None:
    assert stdin_of("END\nEND_\nx\n") == (" <<'END__'", "END\nEND_\nx\nEND__")


PROBES = """
require_blank() { printf '%s\\0' 1 require_blank "$1" >>"$LOG"; }
await_node() { printf '%s\\0' "$#" await_node "$@" >>"$LOG"; }
require_room_for_initramfs() { :; }
renew_initramfs() { mkinitramfs "$2"; }
"""
OTHERS = ("cpio", "unmkinitramfs", "update-initramfs")
"""What unpacks an initramfs, where such an image is made."""


def test_the_whole_machine(tmp_path: Path) -> None:
    made = of_layout(EXAMPLE)
    nodes = {disk.name: f"/dev/sd{number:02}" for number, disk in enumerate(made.disks)}
    rows = [
        f'NAME="{nodes[disk.name]}" TYPE="disk" SIZE="{disk.size}" LOG-SEC="512" SERIAL="{disk.serial}" WWN="" MODEL="x y"'
        for disk in made.disks
    ]
    bench = Bench(tmp_path, [*made.tools, *OTHERS], "\n".join(reversed(rows)) + "\n")
    steps = tuple(replace(each, action=_below(tmp_path, each.action)) for each in made.steps)
    script = own_path(plan_shell(replace(made, steps=steps)))
    head, brace, body = script.partition("# In braces,")
    result = bench.run(head + PROBES + brace + body)
    assert result.returncode == 0, result.stderr
    calls = bench.calls
    assert calls[: len(nodes)] == [("require_blank", node) for node in nodes.values()]
    expected: list[tuple[str, ...]] = []
    for each in made.steps:
        expected += [("require_blank", _resolved(guard, nodes)) for guard in each.guard]
        if isinstance(each.action, Run):
            expected += [tuple(_resolved(word, nodes) for word in each.action.argv)]
        if isinstance(each.action, RenewInitramfs):
            expected += [("mkinitramfs", " ".join(each.action.arrays))]
        formatted = [_resolved(guard, nodes) for guard in each.behind_links]
        expected += [("await_node", node, *formatted) for node in each.awaits]
    assert calls[len(nodes) :] == expected
    written = {
        each.action.file: each.action for each in steps if not isinstance(each.action, Run | RenewInitramfs)
    }
    for file, action in written.items():
        text = Path(file).read_text()
        assert (
            action.content in text
            if isinstance(action, WriteBlock)
            else text.rstrip() == action.content.rstrip()
        )
    assert result.stdout.splitlines()[0].startswith(f"1/{len(steps)} ")


def _below(folder: Path, action: Action) -> Action:
    if isinstance(action, Run | RenewInitramfs):
        return action
    assert not isinstance(action, Zero)
    file = folder / "root" / action.file.lstrip("/").replace("{/dev/md/", "").replace("}", "")
    if isinstance(action, SetAttribute):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return action._replace(file=str(file))


def _resolved(word: str, nodes: dict[str, str]) -> str:
    return nodes.get(word.strip("{}"), word) if word.startswith("{") else word


def test_a_missing_disk_stops_before_anything(tmp_path: Path) -> None:
    made = of_layout(EXAMPLE)
    bench = Bench(
        tmp_path,
        [*made.tools, *OTHERS],
        'NAME="/dev/sda" TYPE="disk" SIZE="1" LOG-SEC="512" SERIAL="x" WWN="" MODEL=""\n',
    )
    result = bench.run(own_path(plan_shell(made)))
    assert result.returncode == 4 and bench.calls == []
    assert "d00: no disk has serial JBOD-00" in result.stderr and "nothing was written" in result.stderr


def test_a_plan_that_makes_the_root_of_a_server_is_for_a_rescue_system(tmp_path: Path) -> None:
    made = of_layout("examples/root-raid1-bios.yaml")
    bench = Bench(tmp_path, [*made.tools])
    # The boot loader's script has a line of its own that sets the PATH.
    result = bench.run(plan_shell(made).replace("\nPATH=", "\n# PATH=", 1))
    assert result.returncode == 4 and "raidplan plan --target /mnt" in result.stderr and not bench.calls
    assert "this script makes /" not in plan_shell(replace(made, target="/mnt"))


def test_a_missing_tool_stops_before_anything(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["first"])
    result = bench.run(own_path(plan_shell(plan(step(Run(("first",))), step(Run(("no-such-tool",)))))))
    assert result.returncode == 4 and bench.calls == []
    assert "the program no-such-tool is missing" in result.stderr


def test_a_failure_half_way_is_told_from_a_refusal(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["first", "later"])
    bench.tool("fails", "#!/bin/sh\nexit 7\n")
    steps = [step(Run((tool,)), say=tool) for tool in ("first", "fails", "later")]
    result = bench.run(own_path(plan_shell(plan(*steps))))
    assert result.returncode == 3
    assert bench.calls == [("first",)]
    assert "stopped in step 2/3" in result.stderr


def test_tools_get_no_input_but_their_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["greedy", "later"])
    script = own_path(plan_shell(plan(step(Run(("greedy",))), step(Run(("later",))))))
    environment = {"PATH": f"{bench.bin}:/usr/bin:/bin", "LOG": str(bench.log), "DISKS": "/dev/null"}
    # The script by standard input, where a tool that reads would eat the rest of it.
    result = subprocess.run(["sh"], input=script, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert bench.calls == [("greedy",), ("later",)] and bench.stdin("greedy") == ""


@pytest.mark.parametrize("lines", range(0, 60, 7))
def test_a_script_that_arrives_in_part_does_nothing(tmp_path: Path, lines: int) -> None:
    bench = Bench(tmp_path, ["first", "later"])
    script = own_path(plan_shell(plan(step(Run(("first",))), step(Run(("later",)))))).splitlines(
        keepends=True
    )
    result = bench.run("".join(script[: len(script) - 1 - lines]))
    assert result.returncode != 0 and bench.calls == []


def test_devices_that_were_named_are_taken(tmp_path: Path) -> None:
    named = DiskIdentity("d-0", 1, device="/dev/loop$(x)")
    script = plan_shell(
        plan(step(Run(("tool", "{d-0}"))), disks=(named, DiskIdentity("d_0", 1, serial="S1")))
    )
    assert "disk_d_0=$(use_device d-0 1 512 '/dev/loop$(x)')" in script
    assert "disk_d_0_2=$(find_disk d_0 1 512 S1 '' '' '')" in script
    assert 'tool "$disk_d_0"' in script


def test_without_a_plan_the_script_only_fails(tmp_path: Path) -> None:
    result = Bench(tmp_path, []).run(refusal_shell(["error: \n touch BAD", "`touch BAD`"]))
    assert result.returncode == 2 and "no plan" in result.stderr


def test_it_can_be_checked(tmp_path: Path) -> None:
    everything = [
        step(
            Run(("tool", *HOSTILE)),
            say="\n".join(HOSTILE),
            guard=("{d00}", "/swapfile"),
            awaits=("/dev/x y",),
        ),
        step(WriteFile("/etc/x", "a\n")),
        step(WriteBlock("/etc/x", "a\n", "jbod", at_top=True)),
        step(SetAttribute("/sys/x", "1")),
    ]
    for name, made in {
        "all": plan(*everything, disks=(DiskIdentity("d00", 1, serial="x"),)),
        "none": plan(),
    }.items():
        file = tmp_path / f"{name}.sh"
        file.write_text(plan_shell(made))
    checked = subprocess.run(
        ["shellcheck", "-s", "sh", *tmp_path.glob("*.sh")], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
