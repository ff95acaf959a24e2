"""The functions of the exported script: disks are found or refused, files keep what is not ours."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidplan.apply.configuration.blocks import BrokenBlock, wanted_text
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.step import WriteBlock
from raidplan.render.shell_checks import _identity, lsblk_form
from tests.render.scripts import SHELLS, Bench

TB = 3_000_592_982_016


def disk(
    node: str,
    serial: str = "",
    model: str = "",
    wwn: str = "",
    size: int = TB,
    sector: int = 512,
    kind: str = "disk",
) -> str:
    forms = [lsblk_form(text) for text in (serial, wwn, model)]
    return f'NAME="{node}" TYPE="{kind}" SIZE="{size}" LOG-SEC="{sector}" SERIAL="{forms[0]}" WWN="{forms[1]}" MODEL="{forms[2]}"\n'


DISKS = "".join([
    disk("/dev/sda", "WD1", "WDC WD30EFRX-68E", "0x5000c500a0000000"),
    disk("/dev/sdb", "WD12", "WDC WD30EFRX-68E", "0x5000c500a0000001"),
    disk("/dev/sdc", "1000", "ST3000DM001"),
    disk("/dev/sdd", "1e3", "ST3000DM001"),
    disk("/dev/sde", "SAME", "One"),
    disk("/dev/sdf", "SAME", "Two"),
    disk("/dev/sdg", 'a" $(x) `y` \\', "q"),
    disk("/dev/sdh", "SMALL", size=TB - 512),
    disk("/dev/sdi", "LARGE", size=TB + TB // 100 + 512),
    disk("/dev/sdj", "MOST", size=TB + TB // 100),
    disk("/dev/sdk", "4KN", sector=4096),
    disk("/dev/sr0", "ROM", kind="rom"),
])  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, (), DISKS)


def found(bench: Bench, shell: str = "dash", **given: Any) -> subprocess.CompletedProcess[str]:
    words = shlex.join(
        ["find_disk", "d00", str(TB), "512", *_identity(replace(DiskIdentity("d00", TB), **given))]
    )
    return bench.functions(f"disks=$(list_disks)\nnode=$({words})\nprintf '%s' \"$node\"", shell)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("given", "node"),
    [
        ({"serial": "WD1"}, "/dev/sda"),
        ({"serial": "WD12"}, "/dev/sdb"),
        ({"wwn": "5000C500A0000001"}, "/dev/sdb"),
        ({"wwn": "0x5000c500a0000000", "model": "WDC_WD30EFRX-68E"}, "/dev/sda"),
        ({"serial": "1000"}, "/dev/sdc"),
        ({"serial": "1e3"}, "/dev/sdd"),
        ({"serial": "SAME", "model": "Two"}, "/dev/sdf"),
        ({"serial": 'a" $(x) `y` \\'}, "/dev/sdg"),
        ({"serial": "MOST"}, "/dev/sdj"),
    ],
)
def test_finds_the_one_disk_that_everything_fits(
    bench: Bench, given: dict[str, str], node: str, shell: str
) -> None:
    result = found(bench, shell, **given)
    assert (result.stdout, result.stderr, result.returncode) == (node, "", 0)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "nothing tells which disk it is"),
        ({"serial": "00000000"}, "nothing tells which disk it is"),
        ({"serial": "WD"}, "no disk has serial WD"),
        ({"serial": "WD1", "model": "ST3000DM001"}, "no disk has serial WD1 model ST3000DM001"),
        ({"serial": "SAME"}, "more than one disk fits"),
        ({"serial": "SMALL"}, "has 3000592981504 bytes"),
        ({"serial": "LARGE"}, "and 3000592982016 to 1 % more are expected"),
        ({"serial": "4KN"}, "logical sectors of 4096 bytes, not 512"),
        ({"serial": "ROM"}, "no disk has serial ROM"),
        ({"path": "pci-0000:ff:1f.9-nothing"}, "no disk is at the path"),
    ],
)
def test_refuses_a_disk_that_is_in_doubt(bench: Bench, given: dict[str, str], reason: str) -> None:
    result = found(bench, **given)
    assert result.returncode == 4
    assert reason in result.stderr and "nothing was written" in result.stderr
    assert result.stdout == ""


def test_one_disk_is_never_two(bench: Bench) -> None:
    result = bench.functions("require_distinct /dev/sda /dev/sdb /dev/sda")
    assert result.returncode == 4 and "/dev/sda" in result.stderr
    assert bench.functions("require_distinct /dev/sda /dev/sdb").returncode == 0


def test_a_file_that_would_be_written_over_is_refused(bench: Bench) -> None:
    there, link = bench.folder / "there", bench.folder / "link"
    there.write_text("precious")
    link.symlink_to("/nowhere")
    for path in (there, link):
        result = bench.functions(f"require_blank {path}")
        assert result.returncode == 4 and "exists already" in result.stderr
    assert bench.functions(f"require_blank {bench.folder}/new").returncode == 0


def test_what_is_no_device_is_refused(bench: Bench) -> None:
    result = bench.functions("require_blank /dev/null")
    assert result.returncode == 4 and "not a block device" in result.stderr


@pytest.mark.parametrize(
    ("tool", "refused"), [("exit 2", False), ("echo TYPE=ext2", True), ("exit 8", True), ("exit 1", True)]
)
def test_an_old_superblock_where_a_partition_will_be_is_refused(
    bench: Bench, tool: str, refused: bool
) -> None:
    bench.tool("blkid", f"#!/bin/sh\n{tool}\n")
    result = bench.functions("require_blank_range /dev/sda 1048576 4096")
    assert (result.returncode == 4) is refused, result.stderr


def test_attributes_are_never_created(bench: Bench) -> None:
    file = bench.folder / "sync_action"
    assert bench.functions(f"set_attribute {file} idle").returncode == 4
    assert not file.exists()
    file.write_text("frozen\n")
    assert bench.functions(f"set_attribute {file} idle").returncode == 0
    assert file.read_text() == "idle\n"


def test_an_attribute_of_a_node_is_that_of_what_it_leads_to(bench: Bench) -> None:
    node, file = bench.folder / "s0", bench.folder / "md127" / "sync_action"
    asked = f"set_attribute '{bench.folder}/{{{node}}}/sync_action' idle"
    assert bench.functions(asked).returncode == 4
    file.parent.mkdir()
    file.touch()
    node.symlink_to(file.parent)
    assert bench.functions(asked).returncode == 0 and file.read_text() == "idle\n"


def test_a_node_is_awaited(bench: Bench) -> None:
    result = bench.functions(f"(sleep 0.4; : >{bench.folder}/node) &\nawait_node {bench.folder}/node")
    assert result.returncode == 0


def test_udev_is_asked_to_look_again_at_a_device(bench: Bench) -> None:
    node = bench.folder / "node"
    stands_in = f'sleep() {{ :; }}; udevadm() {{ [ "$*" != "trigger --action=change --name-match=/dev/md/x" ] || : >{node}; }}'
    assert bench.functions(f"{stands_in}\nawait_node {node} /dev/md/x").returncode == 0
    node.unlink()
    refused = bench.functions(f"{stands_in}\nawait_node {node}")
    assert refused.returncode == 4 and "did not appear within 60 s" in refused.stderr


def test_a_file_of_our_own_is_written_whole(bench: Bench) -> None:
    file = bench.folder / "new" / "rules"
    assert bench.functions(f"write_file {file} 0640 <<'END'\n$x `y`\nEND").returncode == 0
    assert file.read_text() == "$x `y`\n" and file.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in file.parent.iterdir()] == ["rules"]


def test_the_mode_and_the_earlier_version_are_kept(bench: Bench) -> None:
    file = bench.folder / "fstab"
    file.write_text("old\n")
    file.chmod(0o600)
    assert bench.functions(f"write_block {file} jbod bottom 0644 <<'END'\nnew\nEND").returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert (bench.folder / "fstab.raidplan-old").read_text() == "old\n"
    assert not list(bench.folder.glob(".*"))


def test_a_link_stays_a_link(bench: Bench) -> None:
    (bench.folder / "real").write_text("x\n")
    (bench.folder / "link").symlink_to("real")
    bench.functions(f"write_file {bench.folder}/link 0644 <<'END'\ny\nEND")
    assert (bench.folder / "link").is_symlink() and (bench.folder / "real").read_text() == "y\n"


OURS = ["# >>> raidplan jbod", "# <<< raidplan jbod"]
LINE = st.one_of(
    st.sampled_from([*OURS, f" {OURS[0]}\t", "# >>> raidplan other"]),
    st.text("ab #\\$`'\"%\r\té\x81", max_size=8),
)


def texts() -> Iterator[st.SearchStrategy[str]]:
    ending = st.sampled_from(["", "\n"])
    yield st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINE, max_size=5), ending)
    block = "\n".join([OURS[0], "old", OURS[1]])
    outside = st.lists(st.text("ab #\\$\té", max_size=8), max_size=3)
    yield st.builds(lambda a, b, end: "\n".join([*a, block, *b]) + end, outside, outside, ending)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(*texts()), st.booleans())
def test_blocks_are_written_as_apply_writes_them(bench: Bench, text: str, at_top: bool) -> None:
    file = bench.folder / "fstab"
    # Only what both take for a line: Python splits at \r as well.
    text = text.replace("\r", "")
    file.write_bytes(text.encode())
    try:
        wanted = wanted_text(WriteBlock(str(file), "new $x\n", "jbod", at_top), text)
    except BrokenBlock:
        wanted = ""
    place = "top" if at_top else "bottom"
    result = bench.functions(f"write_block {file} jbod {place} 0644 <<'END'\nnew $x\nEND")
    if wanted:
        assert file.read_bytes() == wanted.encode(), result.stderr
    else:
        assert result.returncode == 4 and "restore them" in result.stderr
        assert file.read_bytes() == text.encode()


def test_a_block_and_a_file_that_go(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    file, rules = tmp_path / "fstab", tmp_path / "rules"
    file.write_text("a\n# >>> raidplan jbod\nx\n# <<< raidplan jbod\nb")
    rules.write_text("rule\n")
    script = f"write_block {file} jbod nowhere 0644 </dev/null\nremove_file {rules}\n"
    for _ in range(2):  # a second time changes nothing
        assert bench.functions(script).returncode == 0
        assert file.read_text() == "a\nb" and not rules.exists()
    assert (tmp_path / "rules.raidplan-old").read_text() == "rule\n"
