"""Which files are layouts, by what stands in them and who names them."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from raidplan.cli import run
from raidplan.layout.files import layouts_among, to_check, yaml_files

LAYOUT = "version: 1\nhost: h\nhardware: %s\narrays: {a: {level: raid1, members: [d0, d1]}}\n"
HARDWARE = "disks: {d<0-1>: {serial: S<1>, size: 3TB}}\n"
WHOLE = LAYOUT % ("{" + HARDWARE.strip() + "}")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with layouts, and with what is none."""
    files = {
        "layouts/o.yaml": LAYOUT % "hw/a.yaml",
        "layouts/hw/a.yaml": HARDWARE,
        "layouts/sub/w.yml": WHOLE,
        "layouts/jbod.hardware.yaml": HARDWARE,
        "layouts/.hidden/x.yaml": WHOLE,
        "layouts/.x.yaml": WHOLE,
        "layouts/notes.txt": "disks\n",
        "README.yaml": "words: about a.yaml\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "layouts" / "link.yaml").symlink_to("o.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def among(*texts: tuple[str, str]) -> list[str]:
    """The layouts among files that are not on the disk."""
    files = dict(texts)
    return [each.file for each in layouts_among(files, lambda name: (files.get(name), ""))]


def test_a_folder_stands_for_the_layouts_in_it(site: Path) -> None:
    assert to_check(["layouts"]) == ["layouts/o.yaml", "layouts/sub/w.yml"]
    assert to_check(["layouts/sub", "layouts/", "./layouts/o.yaml"]) == [
        "layouts/sub/w.yml",
        "layouts/o.yaml",
    ]


@pytest.mark.parametrize("named", ["layouts/hw/a.yaml", "./layouts/hw/a.yaml", "layouts/hw"])
def test_a_hardware_file_stands_for_the_layouts_that_name_it(named: str, site: Path) -> None:
    (site / "layouts" / "p.yaml").write_text(LAYOUT % "./hw/a.yaml")
    assert to_check([named]) == ["layouts/o.yaml", "layouts/p.yaml"]
    assert to_check(["layouts/p.yaml", named]) == ["layouts/p.yaml", "layouts/o.yaml"]


def test_a_hardware_file_outside_of_the_working_directory(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site / "layouts" / "sub")
    assert to_check(["../hw/a.yaml"]) == ["../hw/a.yaml"]
    assert to_check(["../hw/a.yaml", "../o.yaml"]) == ["../o.yaml"]


def test_a_hardware_file_that_breaks_its_layout_is_told(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "layouts/hw/a.yaml"]) == 0
    (site / "layouts/hw/a.yaml").write_text(HARDWARE.replace("d<0-1>", "e<0-1>"))
    assert run(["check", "layouts/hw/a.yaml"]) == 2
    (site / "layouts/hw/a.yaml").write_text("disks: {\n")
    assert run(["check", "layouts/hw/a.yaml"]) == 2
    assert "layouts/hw/a.yaml:2" in capsys.readouterr().out


def test_one_that_nobody_names_is_told_once(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "layouts/jbod.hardware.yaml"]) == 2
    out = capsys.readouterr().out
    assert (
        "error[invalid-layout] this is the hardware section of a layout" in out
        and "1 error, 0 warnings" in out
    )


def test_a_folder_without_layouts_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "empty").mkdir()
    assert run(["check", "empty"]) == 2
    assert "empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "layout"),
    {
        HARDWARE: False, "": False, "disks: {\n": False, "- a\n": False, "verzion: 1\ndisks: {}\n": False,
        WHOLE: True, "host: h\n": True, "verzion: 1\narrays: {}\n": True, "hardware: {}\n": True,
    }.items(),
)  # fmt: skip
def test_what_is_named_as_hardware_is_that_unless_it_says_what_only_a_layout_does(
    text: str, layout: bool
) -> None:
    """What is left out here is read with the layout that names it, and its mistakes are told there."""
    assert among(("o.yaml", LAYOUT % "x.yaml"), ("x.yaml", text)) == [
        "o.yaml",
        *(["x.yaml"] if layout else []),
    ]


@pytest.mark.parametrize("text", [HARDWARE, "", "disks: {\n", "verzion: 1\n", WHOLE])
def test_what_nobody_names_is_a_layout(text: str) -> None:
    assert among(("x.yaml", text)) == ["x.yaml"]


@pytest.mark.parametrize(
    ("text", "layout"), [(HARDWARE, False), (WHOLE, True), ("disks: {\n", True), ("arrays: {}\n", True)]
)
def test_a_name_alone_hides_no_layout(text: str, layout: bool) -> None:
    assert bool(among(("a.hardware.yaml", text))) is layout


def test_the_list_for_scripts(site: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    odd = site / "layouts" / "a\nb\udcff.yaml"
    odd.write_text(LAYOUT % "hw/a.yaml")
    changed = site / "changed"
    changed.write_bytes(b"layouts/hw/a.yaml\0README.yaml\0")
    assert run(["layouts", "--null", "--changed", str(changed), "--", *yaml_files("layouts")]) == 0
    assert capfdbinary.readouterr().out == b"layouts/a\nb\xff.yaml\0layouts/o.yaml\0"
    assert run(["layouts", "layouts"]) == 0
    lines = capfdbinary.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[1:] == [b"layouts/o.yaml", b"layouts/sub/w.yml"]
    assert run(["layouts", "--changed", "nothing", "layouts"]) == 2


OTHERS = {
    "compose.yaml": "version: '3'\nservices: {web: {image: x}}\n",
    "action.yml": "name: x\nruns: {using: node}\n",
    "inventory.yaml": "all:\n  hosts: {a: {}}\n",
    "port.yaml": "version: 1\nname: y\n",
    "clean/lib/python3.11/site-packages/x/y.yaml": WHOLE,
    "node_modules/x.yaml": WHOLE,
    "ignored/x.yaml": WHOLE,
    "built.yaml": WHOLE,
    "kept/built.yaml": WHOLE,
    "env/pyvenv.cfg": "home = /usr/bin\n",
    "env/x.yaml": WHOLE,
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (OTHERS | {"a.yaml": WHOLE, "b/broken.yml": "host: h\narrays: {a: [\n"}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".gitignore").write_text("ignored/\n/built.yaml\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_repository_has_the_layouts_that_look_so_and_are_not_ignored(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["layouts", "."]) == 0
    assert capsys.readouterr().out.split() == ["./a.yaml", "./b/broken.yml", "./kept/built.yaml"]
    assert run(["check", "."]) == 2, "one that is broken is told"
    assert "b/broken.yml:3" in capsys.readouterr().out
    assert run(["check", "port.yaml"]) == 2, "a file that is given is checked"


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ('exclude = ["b"]', ["./a.yaml", "./kept/built.yaml"]),
        ('exclude = ["**/*.yml", "kept/**"]', ["./a.yaml"]),
        ('include = ["?.yaml"]', ["./a.yaml"]),
        ('include = ["port.yaml"]', ["./port.yaml"]),
        ('include = ["kept", "b/*"]\nexclude = ["b/broken.yml"]', ["./kept/built.yaml"]),
    ],
)
def test_settings_say_which_files_of_a_folder_count(
    settings: str, found: list[str], repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / ".raidplan.toml").write_text(settings + "\n")
    assert run(["layouts", "."]) == 0
    assert capsys.readouterr().out.split() == found
    (repository / ".raidplan.toml").write_text("include = 1\n")
    assert run(["check", "."]) == 2
    assert "include: a list of texts is expected" in capsys.readouterr().err


def test_an_unsaved_buffer_stands_for_its_file(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def check(text: str, *words: str) -> int:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return run(["check", "--stdin-filename", *words])

    good, bad = LAYOUT % "hw/a.yaml", LAYOUT.replace("d1]", "d9]") % "hw/a.yaml"
    assert check(good, "layouts/o.yaml", "-q", "-") == 0
    capsys.readouterr()
    assert check(bad, "layouts/o.yaml", "-") == 2
    assert "--> layouts/o.yaml:4" in capsys.readouterr().out
    (site / "layouts" / ".raidplan.toml").write_text('fail-on = "note"\n')
    assert check(good, "layouts/o.yaml", "-") == 1, "settings are those of the file"
    (site / "outside.yaml").write_text(HARDWARE)
    (site / "layouts" / "hw" / "b.yaml").symlink_to(site / "outside.yaml")
    capsys.readouterr()
    assert check(LAYOUT % "hw/b.yaml", "layouts/o.yaml", "-") == 2
    assert "a link that leads out of the layout's folder" in capsys.readouterr().out
    assert check(good, "layouts/o.yaml", "layouts/o.yaml") == 2


def test_a_file_of_others_in_another_encoding_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_bytes(b"services: {}  # caf\xe9\n")
    (tmp_path / "box.yaml").write_bytes(b"version: 1\nhost: caf\xe9\narrays: {}\n")
    found = [Path(each).name for each in to_check([str(tmp_path)])]
    assert found == ["box.yaml"], "one of ours, whose encoding is told"
