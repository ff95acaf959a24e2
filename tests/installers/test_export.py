"""Storage configurations for curtin and MAAS: what is made is in their grammar, and what they cannot make is refused."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidplan.cli import run
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import Trace
from raidplan.render.installers.maas import decimal
from tests.examples import EXAMPLES
from tests.installers import curtin
from tests.installers.grammar import OF_CURTIN, OF_MAAS, problems_of_curtin, problems_of_maas

TIB = 2**40
LAYOUT = """\
version: 1
host: {host}
hardware:
  disks:
    a: {{serial: {host}-A, size: 500GB, partitions: {{bios: {{size: 1MiB, type: bios-boot}}, os: {{size: 20GiB}}, swap: {{size: 2GiB}}, data: {{size: rest}}}}}}
    b: {{serial: {host}-B, size: 500GB, partitions: {{bios: {{size: 1MiB, type: bios-boot}}, os: {{size: 20GiB}}, swap: {{size: 2GiB}}, data: {{size: rest}}}}}}
arrays:
  os: {{level: raid1, members: [a.os, b.os]}}
  swap: {{level: raid1, members: [a.swap, b.swap], stripe: no}}
  data: {{level: raid1, members: [a.data, b.data]}}
volume_groups:
  vg: {{devices: [data], volumes: {{home: {{size: 100GiB}}, srv: {{size: 100%free}}}}}}
filesystems:
  os: {{device: os, type: ext4, mount: /}}
  home: {{device: vg.home, type: xfs, mount: /home, options: [noatime]}}
swap:
  swap: {{device: swap, priority: 10}}
""".replace(", stripe: no", "")


def machine(*hosts: str, content: bool = False) -> Machine:
    disks = [
        DiskFact(f"/dev/sd{'abcdef'[n]}", f"sd{'abcdef'[n]}", 500 * 10**9, serial=f"{host}-{each}")
        for n, (host, each) in enumerate((host, each) for host in hosts for each in "AB")
    ]
    if content:
        disks[1] = replace(disks[1], traces=(Trace(0, "ext4", 0, TIB, "", "5e81d7a1-0000-4000-8000-000000000001"),))  # fmt: skip
    return Machine(tuple(disks))


@dataclass(frozen=True)
class Done:
    """The command's end."""

    returncode: int
    stdout: str
    stderr: str


def export(folder: Path, *words: str, seen: Machine | None = None) -> Done:
    """The command, in this process; `seen` is the machine that it looks at."""
    facts = folder / "facts.json"
    if seen:
        facts.write_text(json.dumps(seen.to_data()))
    look = ["--machine", str(facts)] if seen else []
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["export", *look, *words])
    return Done(code, out.getvalue(), err.getvalue())


def layouts(folder: Path, *hosts: str) -> Path:
    place = folder / "layouts"
    place.mkdir()
    for host in hosts:
        (place / f"{host}.yaml").write_text(LAYOUT.format(host=host))
    return place


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_is_in_curtins_grammar_or_refused(example: Path, tmp_path: Path) -> None:
    done = export(tmp_path, "--offline", "--format", "curtin", str(example))
    if done.returncode:
        assert not done.stdout
        refused = "refused: " in done.stderr and "(line " in done.stderr
        assert refused if done.returncode == 4 else done.returncode == 1 and "error[" in done.stderr
        return
    storage = yaml.safe_load(done.stdout)["storage"]
    assert [*problems_of_curtin(storage)] == []


@pytest.mark.long
def test_as_many_examples_are_handed_over_as_the_page_says(tmp_path: Path) -> None:
    """`make curtin` prints the same, with the number of problems."""
    page = " ".join(Path("docs/howto/bare-metal.md").read_text().split())
    made = [
        not export(tmp_path, "--offline", "--format", "curtin", str(each)).returncode for each in EXAMPLES
    ]
    assert f"reads the {sum(made)} of {len(EXAMPLES)} examples" in page


def test_everything_is_handed_over_to_curtin(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1")
    done = export(tmp_path, "--offline", "--format", "curtin", str(place / "s1.yaml"))
    entries: list[dict[str, Any]] = yaml.safe_load(done.stdout)["storage"]["config"]
    by_id = {entry["id"]: entry for entry in entries}
    assert {entry["type"] for entry in entries} == set(OF_CURTIN)
    assert by_id["disk-a"]["serial"] == "s1-A" and by_id["disk-a"]["grub_device"] is True
    assert (
        by_id["partition-a.os"] | {"size": 20 * 2**30, "flag": "raid", "number": 2} == by_id["partition-a.os"]
    )
    assert by_id["raid-data"]["devices"] == ["partition-a.data", "partition-b.data"]
    assert by_id["raid-data"]["metadata"] == "1.2"
    assert by_id["volume-vg.home"]["size"] == 100 * 2**30
    assert by_id["mount-home"]["options"] == "noatime" and by_id["mount-os"]["path"] == "/"
    assert by_id["mount-swap-swap"]["options"] == "sw,pri=10"


def test_everything_is_handed_over_to_maas(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1")
    done = export(tmp_path, str(place / "s1.yaml"), "--format", "maas", seen=machine("s1"))
    made = json.loads(done.stdout)
    assert [*problems_of_maas(made)] == []
    assert {entry["type"] for entry in made["layout"].values()} | {"partition", "mount"} == set(OF_MAAS)
    first = made["layout"]["sda"]
    assert first["boot"] is True and "boot" not in made["layout"]["sdb"]
    assert [part["name"] for part in first["partitions"]] == [f"sda-part{n}" for n in range(1, 5)]
    assert made["layout"]["data"] == {"type": "raid", "level": 1, "members": ["sda-part4", "sdb-part4"]}
    assert made["layout"]["vg"]["volumes"][0]["fs"] == "xfs"
    assert made["mounts"] == {"/": {"device": "os"}, "/home": {"device": "home", "options": "noatime"}}
    assert "swap.swap.priority (line " in done.stderr and "leaves this out" in done.stderr


@pytest.mark.parametrize(
    "size", [2**20, 2**30 * 20, 3000457232384, 500 * 10**9, 479096471552, 12_000_138_625_024]
)
def test_maas_reads_the_same_number_of_bytes(size: int) -> None:
    text = decimal(size)
    assert text.endswith("M") and int(float(text[:-1]) * 1000**2) == size  # `_get_size` in storage_custom.py


CANNOT = {
    "chunk: 64KiB": ("arrays.data.chunk", {"curtin", "maas"}),
    "layout: f2": ("arrays.data.layout", {"curtin", "maas"}),
    "metadata: '1.0'": ("arrays.data.metadata", {"maas"}),
}


@pytest.mark.parametrize("installer", ["curtin", "maas"])
@pytest.mark.parametrize("key", CANNOT)
def test_what_would_be_something_else_is_refused(key: str, installer: str, tmp_path: Path) -> None:
    path, refusing = CANNOT[key]
    place = layouts(tmp_path, "s1")
    text = LAYOUT.format(host="s1").replace("data: {level: raid1,", f"data: {{level: raid10, {key},")
    (place / "s1.yaml").write_text(text)
    done = export(tmp_path, str(place), "--format", installer, "--output", str(tmp_path / "made"), seen=machine("s1"))  # fmt: skip
    assert (done.returncode == 4) == (installer in refusing), done.stderr
    assert (f"refused: {path} (line " in done.stderr) == (installer in refusing)
    assert (tmp_path / "made").exists() == (installer not in refusing)


def test_inodes_are_for_curtin_alone(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1")
    text = LAYOUT.format(host="s1").replace("type: ext4,", "type: ext4, inodes: 4000000, label: root,")
    (place / "s1.yaml").write_text(text)
    curtin = export(tmp_path, str(place), "--format", "curtin", seen=machine("s1"))
    (made,) = [
        each for each in yaml.safe_load(curtin.stdout)["storage"]["config"] if each["id"] == "format-os"
    ]
    assert made["extra_options"] == ["-N", "4000000"] and made["label"] == "root"
    maas = export(tmp_path, str(place), "--format", "maas", seen=machine("s1"))
    assert maas.returncode == 4 and "refused: filesystems.os.inodes" in maas.stderr
    assert "note: filesystems.os.label" in maas.stderr


@pytest.mark.parametrize(
    ("hosts", "seen", "said"),
    [
        (("s1", "s2"), ("s2",), ""),
        (
            ("s1", "s2"),
            ("s3",),
            "none of 2 layouts has the disks of this machine; the nearest: {place}/s1.yaml has 0 of 2 disks here: a: no disk has serial s1-A; the nearest is /dev/sda",
        ),
        (("s1", "s2"), ("s1", "s2"), "2 layouts fit this machine"),
    ],
)
def test_the_layout_of_the_machine_is_picked(hosts: tuple[str, ...], seen: tuple[str, ...], said: str, tmp_path: Path) -> None:  # fmt: skip
    done = export(tmp_path, str(layouts(tmp_path, *hosts)), "--format", "curtin", seen=machine(*seen))
    assert done.returncode == (4 if said else 0), done.stderr
    assert said.format(place=tmp_path / "layouts") in done.stderr
    assert ("s2-A" in done.stdout) == (not said)


def test_a_single_layout_that_does_not_fit_says_each_disk(tmp_path: Path) -> None:
    done = export(tmp_path, str(layouts(tmp_path, "s1") / "s1.yaml"), "--format", "maas", seen=machine("s2"))
    assert done.returncode == 4 and "refused: b: no disk has serial s1-B" in done.stderr


def test_the_nearest_layout_is_named_with_its_first_problem(tmp_path: Path) -> None:
    seen = machine("s1", "s2")
    swapped = replace(seen, disks=(*seen.disks[:1], *seen.disks[2:3]))
    place = layouts(tmp_path, "s1", "s2", "s3")
    (place / "s2.yaml").write_text(LAYOUT.format(host="s2").replace("size: 500GB", "size: 400GB"))
    done = export(tmp_path, str(place), "--format", "maas", seen=swapped)
    assert (
        done.returncode == 4
        and f"the nearest: {place}/s1.yaml has 1 of 2 disks here: b: no disk has serial s1-B" in done.stderr
    )


@pytest.mark.parametrize(
    "text", ["version: 1\nhost: [\n", "version: 1\nhost: s2\narrays: {a: {level: raid9}}\n"]
)
def test_a_layout_that_cannot_be_read_is_named_as_what_holds_up_all(text: str, tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1", "s3")
    (place / "s2.yaml").write_text(text)
    done = export(tmp_path, str(place), "--format", "maas", seen=machine("s1"))
    assert done.returncode == 2 and not done.stdout
    assert f"refused: {place}/s2.yaml cannot be planned, but may be the layout of this machine: correct or remove it" in done.stderr  # fmt: skip


def test_disks_that_are_not_blank_are_refused_unless_they_may_be_wiped(tmp_path: Path) -> None:
    place, seen = layouts(tmp_path, "s1"), machine("s1", content=True)
    done = export(tmp_path, str(place), "--format", "maas", seen=seen)
    assert (
        done.returncode == 4 and "refused: b (/dev/sdb) is not blank: ext4" in done.stderr and not done.stdout
    )
    text = LAYOUT.format(host="s1").replace("b: {serial: s1-B,", "b: {serial: s1-B, wipe: true,")
    (place / "s1.yaml").write_text(text)
    assert export(tmp_path, str(place), "--format", "maas", seen=seen).returncode == 0


def test_a_disk_that_could_be_any_is_refused(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1") / "s1.yaml"
    place.write_text(LAYOUT.format(host="s1").replace("serial: s1-A, ", ""))
    done = export(tmp_path, "--offline", "--format", "curtin", str(place))
    assert done.returncode == 4 and not done.stdout
    assert "refused: hardware.disks.a (line 5): curtin cannot make this: a disk without serial" in done.stderr


def test_a_layout_with_errors_is_not_handed_over(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1") / "s1.yaml"
    twice = "  srv: {device: vg.srv, type: ext4, mount: /home}\nswap:\n  swap: {device"
    place.write_text(LAYOUT.format(host="s1").replace("swap:\n  swap: {device", twice))
    done = export(tmp_path, "--format", "curtin", str(place), seen=machine("s1"))
    assert done.returncode == 1 and "error[duplicate-mount]" in done.stderr and not done.stdout


def test_a_machine_is_needed_to_choose(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1")
    for words in ((str(place), "--format", "curtin"), (str(place / "s1.yaml"), "--format", "maas")):
        done = export(tmp_path, "--offline", *words)
        assert done.returncode == 2 and "--offline knows no machine" in done.stderr


def test_the_section_of_an_autoinstall_file_is_replaced(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1")
    file = tmp_path / "autoinstall.yaml"
    file.write_text(Path("examples/bare-metal/autoinstall.yaml").read_text())
    before = yaml.safe_load(file.read_text())["autoinstall"]
    done = export(tmp_path, str(place), "--format", "curtin", "--into", str(file), seen=machine("s1"))
    after = yaml.safe_load(file.read_text())["autoinstall"]
    assert done.returncode == 0 and [*problems_of_curtin(after.pop("storage"))] == []
    assert after == {key: value for key, value in before.items() if key != "storage"}
    assert "interactive-sections" not in before, "the installation would wait at the storage screen"
    (disk,) = before["storage"]["config"]
    assert [*problems_of_curtin(before["storage"])] == [] and disk["serial"] == "put-here-by-raidplan"
    file.write_text("- a\n")
    done = export(tmp_path, str(place), "--format", "curtin", "--into", str(file), seen=machine("s1"))
    assert done.returncode == 2 and "is no autoinstall file" in done.stderr and file.read_text() == "- a\n"


@pytest.mark.parametrize("curl", ["exit 22", "head -c 100 /dev/urandom"])
def test_an_early_command_without_the_archive_fails(curl: str, tmp_path: Path) -> None:
    """So that subiquity ends there: of a pipe the last program counts."""
    (tmp_path / "curl").write_text(f"#!/bin/sh\n{curl}\n")
    (tmp_path / "curl").chmod(0o755)
    first = yaml.safe_load(Path("examples/bare-metal/autoinstall.yaml").read_text())["autoinstall"]["early-commands"][0]  # fmt: skip
    argv = ["sh", "-c", first.replace("/run", str(tmp_path))]
    done = subprocess.run(argv, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=False)
    assert done.returncode != 0


def test_the_commissioning_script_writes_the_file_of_maas(tmp_path: Path) -> None:
    place = tmp_path / "raidplan"
    place.mkdir()
    layouts(place, "s1", "s2")
    (tmp_path / "facts.json").write_text(json.dumps(machine("s1").to_data()))
    stub = f"import sys; sys.argv[1:2] = ['export', '--machine', {str(tmp_path / 'facts.json')!r}]\n"
    (place / "raidplan.pyz").write_text(f"{stub}from raidplan.__main__ import main\nmain()\n")
    made = tmp_path / "storage.json"
    known = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "DOWNLOAD_PATH": str(tmp_path), "MAAS_STORAGE_CONFIG_FILE": str(made)}  # fmt: skip
    script = Path("examples/bare-metal/41-raidplan")
    done = subprocess.run([str(script)], env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [*problems_of_maas(json.loads(made.read_text()))] == []
    named = script.read_text().partition("End MAAS")[0]
    assert "script_type: commissioning" in named and "name: 41-" in named


def test_a_kept_disk_is_given_to_no_installer(tmp_path: Path) -> None:
    place = layouts(tmp_path, "s1")
    text = LAYOUT.format(host="s1").replace("size: 500GB", "size: 500GB, keep: true")
    assert "keep: true" in text
    (place / "s1.yaml").write_text(text)
    done = export(tmp_path, "--offline", str(place / "s1.yaml"), "--format", "curtin", "--output", str(tmp_path / "made"))  # fmt: skip
    assert done.returncode == 4 and not (tmp_path / "made").exists()
    assert "is kept, and an installer writes over every disk" in done.stderr


def test_a_folder_without_curtin_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert curtin.main([str(tmp_path)]) == 2 == curtin.main([""])
    assert f"no sources of curtin lie in the folder '{tmp_path}'" in capsys.readouterr().out
