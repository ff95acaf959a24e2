"""`raidplan loops`: what it says, its exit codes, and the files for the next command."""

import json
from pathlib import Path

import pytest

from raidplan.cli import run
from raidplan.review.pipeline import load

LAYOUT = """\
version: 1
host: box
hardware:
  disks:
    d<0-1>: {serial: S<1>, size: 10GiB, logical_block: 4096}
    unused: {serial: X, size: 1TB}
arrays: {s0: {level: raid1, members: [d<0-1>]}}
filesystems: {data: {device: s0, type: xfs, mount: /data}}
"""


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place.path)
    Path("box.yaml").write_text(LAYOUT)
    return place


@pytest.mark.root
def test_up_and_down(here, capsys):
    assert run(["loops", "up", "box.yaml", "--scale", "10"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        f"make 2 sparse files of 2 GiB in all in {here.path}/box.loops",
        "attach 2 loop devices",
        f"2 loop devices stand ready, by name in {here.path}/box.loops/devices.json",
        "next: raidplan plan box.loops/scaled.yaml --devices box.loops/devices.json",
    ]
    devices = json.loads(Path("box.loops/devices.json").read_text())
    assert devices["host"] == "box" and list(devices["devices"]) == ["d0", "d1"]
    smaller = load("box.loops/scaled.yaml")
    assert smaller.valid and smaller.layout.hardware.disks["d0"].size == 1024**3
    assert run(["loops", "up", "box.yaml", "--scale", "10"]) == 0
    assert "all 2 loop devices are there already" in capsys.readouterr().err
    assert run(["loops", "down", "box.yaml"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "detach 2 loop devices",
        "delete 2 files",
        f"detached 2 loop devices, deleted 2 files; {here.path}/box.loops is gone",
    ]
    assert run(["loops", "down", "box.yaml"]) == 0
    assert "box.loops: nothing is there any more" in capsys.readouterr().err


@pytest.mark.root
def test_without_a_scale_the_layout_serves_itself(here, capsys):
    assert run(["loops", "up", "box.yaml", "--directory", "my disks"]) == 0
    assert capsys.readouterr().err.endswith(
        "next: raidplan plan box.yaml --devices 'my disks/devices.json'\n"
    )
    assert not Path("my disks/scaled.yaml").exists()
    assert run(["loops", "down", "box.yaml", "--directory", "my disks"]) == 0


@pytest.mark.root
def test_down_without_a_layout_that_can_be_read(here, capsys):
    assert run(["loops", "up", "box.yaml"]) == 0
    Path("box.yaml").write_text("host: [")
    assert run(["loops", "down", "box.yaml"]) == 2
    assert "give --directory" in capsys.readouterr().err
    assert run(["loops", "down", "box.yaml", "--directory", "box.loops"]) == 0
    assert not here.loops()


@pytest.mark.root
def test_refused(here, capsys):
    Path("box.loops").mkdir()
    Path("box.loops/letters").write_text("x")
    assert run(["loops", "up", "box.yaml"]) == 4
    assert capsys.readouterr().err.splitlines() == [
        f"refused: {here.path}/box.loops exists and is not ours: take another --directory",
        "nothing was touched",
    ]


@pytest.mark.root
def test_failing(here, capsys, monkeypatch):
    def attach(file, sector):
        raise RuntimeError("no loop device left")

    monkeypatch.setattr("raidplan.twin.loops.making.attach", attach)
    assert run(["loops", "up", "box.yaml"]) == 2
    assert capsys.readouterr().err.endswith("stopped: no loop device left\nwhat was begun has been removed\n")
    assert not Path("box.loops").exists()


@pytest.mark.root
def test_stopping_part_way(here, capsys, monkeypatch):
    monkeypatch.setattr("raidplan.twin.loops.removing.DETACH_SECONDS", 0.1)
    assert run(["loops", "up", "box.yaml"]) == 0
    with open(here.loops()["d0.img"].node, "rb"):
        assert run(["loops", "down", "box.yaml"]) == 3
    assert capsys.readouterr().err.endswith("`raidplan loops down` removes what is left\n")
    assert run(["loops", "down", "box.yaml"]) == 0


def test_an_invalid_layout(here, capsys):
    Path("box.yaml").write_text(LAYOUT.replace("raid1", "raid7"))
    assert run(["loops", "up", "box.yaml"]) == 2
    assert "raid7" in capsys.readouterr().err
    Path("box.yaml").write_text(LAYOUT.replace("size: 10GiB, ", ""))
    assert run(["loops", "up", "box.yaml"]) == 2
    assert "has no size" in capsys.readouterr().err


def test_a_scale_that_is_too_large(here, capsys):
    assert run(["loops", "up", "box.yaml", "--scale", "100"]) == 2
    assert "XFS needs" in capsys.readouterr().err
    assert not Path("box.loops").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["up"], ["sideways", "box.yaml"], ["up", "box.yaml", "--scale", "0"], ["up", "box.yaml", "--scale", "1.5"],
        ["up", "box.yaml", "--scale", "-3"], ["up", "box.yaml", "--scale", "٣"], ["up", "missing.yaml"],
        ["down", "missing.yaml"],
    ],
)  # fmt: skip
def test_usage(here, capsys, words):
    assert run(["loops", *words]) == 2
    assert capsys.readouterr().out == ""
    assert not here.loops()


def test_a_host_that_is_no_name(here, capsys):
    Path("box.yaml").write_text(LAYOUT.replace("host: box", "host: ../box"))
    assert run(["loops", "down", "box.yaml"]) == 2
    assert "is no name for a folder" in capsys.readouterr().err


def test_not_root(here, capsys, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run(["loops", "up", "box.yaml"]) == 4
    assert "refused: not root" in capsys.readouterr().err
